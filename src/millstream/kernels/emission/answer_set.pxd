"""A multiset of rows, for other kernels (layout in answer_set.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.flow.change_rows cimport ChangeRows
from millstream.kernels.flow.deltas cimport Deltas


cdef class AnswerSet:
    cdef ChangeRows fresh
    cdef int64_t* rows
    cdef int64_t* spare
    cdef int64_t size
    cdef int64_t capacity
    cdef int64_t spare_capacity

    cdef int take(self, Deltas rows, int64_t times) except -1
    cdef void settle(self) noexcept nogil
