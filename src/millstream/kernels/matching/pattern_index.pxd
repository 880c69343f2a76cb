"""Which patterns a triple matches, in C."""

from libc.stdint cimport int32_t, int64_t, uint64_t

cdef enum:
    PLAIN = 1                   # patterns with the predicate alone
    BY_S = 2
    BY_O = 4


cdef struct Slot:
    int64_t predicate           # -1: empty
    int64_t constant            # -1 in the entry of the predicate
    int32_t kind                # PLAIN, BY_S or BY_O: what `constant` is
    int32_t more                # in the entry of the predicate: the kinds it has
    int32_t first               # pattern, -1 for none
    int32_t unused


cdef class PatternIndex:
    cdef Slot* slots
    cdef uint64_t mask
    cdef int32_t* following     # the next pattern of a chain, in rising order
    cdef int32_t* shape         # 0: (s, o), 1: s alone, 2: o alone, 3: both ends the same
    cdef int64_t patterns
    cdef int64_t* out[4]
    cdef int64_t size
    cdef int64_t capacity

    cdef Slot* find(self, int64_t predicate, int64_t constant, int kind) noexcept nogil
    cdef Slot* slot(self, int64_t predicate, int64_t constant, int kind) noexcept nogil
    cdef void chain(self, Slot* slot, int32_t pattern) noexcept nogil
    cdef void reserve(self, int64_t more) noexcept nogil
    cdef void write(self, int64_t row, int32_t pattern, int64_t s, int64_t o) noexcept nogil
    cdef void matched(self, int64_t row, Slot* slot, int64_t s, int64_t o) noexcept nogil
    cdef void match_one(self, int64_t row, int64_t s, int64_t p, int64_t o) noexcept nogil
