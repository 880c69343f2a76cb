"""A set of triples of ids, in C."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint32_t

from millstream.kernels.containers.keyed cimport Keyed
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.matching.intake cimport Intake


cdef struct Signs:
    const int64_t* op           # 1 adds, -1 takes away
    const int64_t* tick         # of a triple that is taken away
    int64_t step                # from those of a triple to those of the next: 0 where all have the same


cdef enum:
    RECENT = 64


cdef struct Links:
    # Where a triple stands among those of its predicate.
    int32_t next
    int32_t prev


cdef class TripleSet:
    """Says which inserts and deletes really change it."""

    cdef Keyed rows
    cdef Keyed predicates
    cdef int32_t recent[RECENT]     # predicates asked for lately by their last bits: a number plus one, 0 for none
    cdef Dictionary dictionary

    cdef Links* links(self, int64_t number) noexcept nogil
    cdef int64_t* predicate(self, int64_t p) noexcept nogil
    cdef void chain(self, int32_t number, int64_t p) noexcept nogil
    cdef void unchain(self, int32_t number, int64_t p) noexcept nogil

    cdef bint add(self, const int64_t* row, uint32_t hash) except -1
    cdef bint remove(self, const int64_t* row, uint32_t hash, int64_t at_tick) except -1
    cdef int64_t apply(self, int64_t n, const int64_t* ids, int64_t row_step, int64_t column_step, Signs signs,
                       int64_t* where) except -1
    cdef cnp.ndarray places(self, triples, Signs signs, int64_t expected)
    cpdef Intake changed(self, Intake triples, int op, int64_t at_tick)
