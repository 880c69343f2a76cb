"""Which patterns of a source triples match, in C."""

from libc.stdint cimport int32_t, int64_t

from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.pattern_index cimport PatternIndex


cdef struct Compared:
    int64_t number              # of the pattern
    int64_t constants[3]        # ids, -1 for a variable
    int equal                   # places that hold one variable: bit 0: s and p, bit 1: s and o, bit 2: p and o


cdef class Patterns:
    """Finds the patterns that triples match: places of triples and numbers of patterns, in order of both."""

    cdef PatternIndex index
    cdef int64_t* number_of     # of the patterns that the scan knows
    cdef Compared* compared
    cdef int64_t compared_count
    cdef readonly list tests
    cdef int64_t* known         # all numbers, in order
    cdef int64_t known_count
    cdef int64_t* row           # what was found last
    cdef int64_t* pattern
    cdef int64_t size
    cdef int64_t capacity

    cdef void put(self, int64_t row, int64_t number) noexcept nogil
    cdef void find(self, int64_t row, int64_t s, int64_t p, int64_t o) noexcept nogil
    cdef bint knows(self, int64_t number) noexcept nogil
    cdef int among(self, Elements batch) except -1
    cdef int among_columns(self, const int64_t* s, const int64_t* p, const int64_t* o, int64_t n) except -1
    cdef int among_triples(self, const int64_t* words, int64_t n) except -1
    cdef int sift(self, const int64_t* s, const int64_t* p, const int64_t* o) except -1
