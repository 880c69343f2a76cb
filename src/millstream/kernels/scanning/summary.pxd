"""Which triples some pattern can match, for the scanner (layout in summary.pyx)."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from millstream.kernels.scanning.grammar cimport Term

cdef struct Constant:
    const uint8_t *bytes      # NULL: a vacant place
    int64_t length
    uint32_t number           # from 1

cdef class Summary:
    cdef readonly bint everything
    cdef object owner                 # keeps the bytes of the constants alive
    cdef Constant *constants          # open addressing by hash
    cdef uint64_t *triples            # open addressing: (s, p, o) as three times 21 bits, 0 where vacant
    cdef uint8_t *forms               # by the number of p, 0 for any p: which of s, o are constants in its patterns
    cdef int64_t constant_mask, triple_mask
    cdef uint64_t seed

    cdef uint32_t number(self, const uint8_t *term, int64_t length) noexcept nogil
    cdef bint holds(self, uint64_t s, uint64_t p, uint64_t o) noexcept nogil
    cdef bint matches(self, const Term *s, uint32_t p, const Term *o) noexcept nogil
