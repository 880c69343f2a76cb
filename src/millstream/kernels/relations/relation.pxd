"""Multisets of rows, for kernels that count (layout in relation.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.containers.multiset cimport Multiset


cdef class RowCounter:
    cdef Multiset rows
    cdef int64_t* row

    cdef int add(self, int64_t weight) noexcept nogil
