"""Weights of distinct tuples, for accumulators (layout in distinct.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.groups cimport GroupTable
from millstream.kernels.growing cimport Growing
from millstream.kernels.keyed cimport Keyed


cdef class Distinct:
    cdef Keyed tuples
    cdef Growing places
    cdef Growing key
    cdef Growing into
    cdef int64_t last           # place

    cdef int64_t take(self, int64_t weight) noexcept nogil
    cdef int64_t* weigh(self, GroupTable table) except NULL


cdef inline int64_t* weights_of(GroupTable table, Distinct distinct) except? NULL:
    """The weights of the rows entered, or of what they have that is distinct."""
    return table.weights if distinct is None else distinct.weigh(table)
