"""Which triples some pattern can match, decided on bytes, before anything is encoded.

Constants of all patterns are numbered from 1, 0 meaning any; the patterns are a set of number triples. `forms` says for each
p which lookups can succeed at all, one bit a form: 1 any s and o, 2 s given, 4 o given, 8 both. So the cost of a test
does not grow with the number of patterns, and a p nobody asks for costs one lookup.
"""

import os

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE

from millstream.kernels.dictionary.cells cimport hash_bytes
from millstream.kernels.scanning.grammar cimport Term

cdef enum:
    ANY = 1
    GIVEN_S = 2
    GIVEN_O = 4
    GIVEN_BOTH = 8


cdef inline uint64_t pack(uint64_t s, uint64_t p, uint64_t o) noexcept nogil:
    return 1ULL << 63 | s << 42 | p << 21 | o


cdef inline uint64_t spread(uint64_t key) noexcept nogil:
    key *= 0x9E3779B97F4A7C15ULL
    return key ^ key >> 32


cdef class Summary:
    """A set of patterns (s, p, o), each part canonical bytes or None for any."""

    def __cinit__(self, patterns):
        cdef uint64_t key, place
        cdef int64_t size
        cdef Constant *constant
        self.seed = int.from_bytes(os.urandom(8), "little")
        patterns = [tuple(pattern) for pattern in patterns]
        for pattern in patterns:
            if len(pattern) != 3 or not all(part is None or isinstance(part, bytes) for part in pattern):
                raise TypeError(f"a pattern is (s, p, o), each bytes or None, got {pattern!r}")
        numbers = {}
        for pattern in patterns:
            for part in pattern:
                if part is not None:
                    numbers.setdefault(part, len(numbers) + 1)
        if len(numbers) >= 1 << 21:
            raise ValueError("a summary takes at most two million constants")
        self.owner = numbers
        size = 1 << (2 * len(numbers) + 1).bit_length()
        self.constant_mask = size - 1
        self.constants = <Constant *>calloc(size, sizeof(Constant))
        self.forms = <uint8_t *>calloc(len(numbers) + 1, 1)
        size = 1 << (2 * len(patterns) + 1).bit_length()
        self.triple_mask = size - 1
        self.triples = <uint64_t *>calloc(size, sizeof(uint64_t))
        if self.constants == NULL or self.forms == NULL or self.triples == NULL:
            raise MemoryError
        for part, n in numbers.items():
            place = hash_bytes(<const uint8_t *>PyBytes_AS_STRING(part), PyBytes_GET_SIZE(part), self.seed)
            while self.constants[place & self.constant_mask].bytes != NULL:
                place += 1
            constant = &self.constants[place & self.constant_mask]
            constant.bytes = <const uint8_t *>PyBytes_AS_STRING(part)
            constant.length = PyBytes_GET_SIZE(part)
            constant.number = n
        for s, p, o in patterns:
            self.everything |= s is None and p is None and o is None
            self.forms[numbers.get(p, 0)] |= ANY << ((s is not None) + 2 * (o is not None))
            key = pack(numbers.get(s, 0), numbers.get(p, 0), numbers.get(o, 0))
            place = spread(key)
            while self.triples[place & self.triple_mask] != 0:
                place += 1
            self.triples[place & self.triple_mask] = key

    def __dealloc__(self):
        free(self.constants)
        free(self.triples)
        free(self.forms)

    cdef uint32_t number(self, const uint8_t *term, int64_t length) noexcept nogil:
        """The number of a constant, 0 for what is none."""
        cdef uint64_t place = hash_bytes(term, length, self.seed)
        cdef Constant *constant = &self.constants[place & self.constant_mask]
        while constant.bytes != NULL:
            if constant.length == length and memcmp(constant.bytes, term, length) == 0:
                return constant.number
            place += 1
            constant = &self.constants[place & self.constant_mask]
        return 0

    cdef bint holds(self, uint64_t s, uint64_t p, uint64_t o) noexcept nogil:
        cdef uint64_t key = pack(s, p, o), place = spread(key)
        while self.triples[place & self.triple_mask] != 0:
            if self.triples[place & self.triple_mask] == key:
                return True
            place += 1
        return False

    cdef bint matches(self, const Term *s, uint32_t p, const Term *o) noexcept nogil:
        """Whether a pattern can match; p by its number, 0 for one that is no constant."""
        cdef uint8_t forms = self.forms[p] | self.forms[0]
        cdef uint32_t s_number = 0, o_number = 0
        if forms == 0 or forms & ANY:
            return forms != 0
        if forms & (GIVEN_O | GIVEN_BOTH):
            o_number = self.number(o.bytes, o.length)
        if o_number and forms & GIVEN_O and (self.holds(0, p, o_number) or self.holds(0, 0, o_number)):
            return True
        if not forms & GIVEN_S and not o_number:
            return False
        s_number = self.number(s.bytes, s.length)
        if s_number == 0:
            return False
        if forms & GIVEN_S and (self.holds(s_number, p, 0) or self.holds(s_number, 0, 0)):
            return True
        return o_number != 0 and (self.holds(s_number, p, o_number) or self.holds(s_number, 0, o_number))
