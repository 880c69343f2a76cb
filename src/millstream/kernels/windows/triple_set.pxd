"""A set of triples of ids, in C."""

from libc.stdint cimport int64_t

from millstream.kernels.containers.keyed cimport Keyed
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.matching.elements cimport Intake


cdef class TripleSet:
    """Says which inserts and deletes really change it."""

    cdef Keyed rows             # s, p, o, and whether it is there: freed records are found no more
    cdef Dictionary dictionary

    cdef bint add(self, const int64_t* row) except -1
    cdef bint remove(self, const int64_t* row, int64_t at_tick) except -1
    cpdef Intake changed(self, Intake triples, int op, int64_t at_tick)
