"""Multisets of rows, for kernels that count (layout in relation.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.containers.keyed cimport Keyed


cdef class RowCounter:
    cdef Keyed rows             # with a count each
    cdef int64_t* row

    cdef int add(self, int64_t weight) noexcept nogil
