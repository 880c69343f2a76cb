"""Weights of distinct tuples, for accumulators (layout in distinct.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.containers.growing cimport Growing
from millstream.kernels.containers.keyed cimport Keyed
from millstream.kernels.flow.change_rows cimport Written


cdef class DistinctTuples:
    cdef Keyed tuples
    cdef Growing places
    cdef Growing key
    cdef Growing into
    cdef readonly int64_t last  # place

    cdef int64_t take(self, int64_t weight) noexcept nogil
    cdef int64_t* weigh(self, const Written* rows, const int64_t* slots, int64_t count) noexcept nogil
