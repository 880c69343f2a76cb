"""The product of a conjunction's parts, and where its rows go."""

from libc.stdint cimport int32_t, int64_t, uint32_t

from millstream.kernels.conjunctions.time_merge cimport Rows
from millstream.kernels.containers.hash_index cimport Index
from millstream.kernels.flow.deltas cimport Bound


cdef class Sink:
    """Whoever takes solutions with intervals."""

    cdef int take(self, Rows* rows) except -1


# The solutions of a part that hold, row by row: their values, their end, how many they are.
cdef struct Side:
    int width
    int64_t* rows
    int64_t size
    int64_t capacity
    int64_t earliest            # no end is before this
    Index index


cdef class Product:
    """Combinations of the solutions of several parts."""

    cdef int count
    cdef Side* sides
    cdef int64_t* places        # of the combination that is being written, in each side
    cdef Rows out
    cdef int64_t capacity
    cdef Bound bound

    cdef void close_out(self) noexcept
    cdef void room(self) noexcept
    cdef int feed(self, list parts, Sink sink) except -1
    cdef int combine(self, int changed, Rows* rows, int64_t row, Sink sink) except -1
    cdef void write(self, int changed, Rows* rows, int64_t row, int64_t end, int64_t weight) noexcept
    cdef void keep(self, int part, Rows* rows, int64_t row) noexcept
    cdef void add(self, Side* side, Rows* rows, int64_t row, int64_t until, int64_t weight) noexcept
    cdef int flush(self, Sink sink) except -1
