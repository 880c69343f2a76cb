"""The time merge, for kernels that hand it rows where they are and let it write where others read."""

from libc.stdint cimport int64_t

from millstream.kernels.containers.agenda cimport Agenda
from millstream.kernels.containers.records cimport Records
from millstream.kernels.flow.change_rows cimport ChangeRows, Written


# Rows with intervals, column by column, in order of change.
cdef struct Rows:
    int64_t size
    int width
    int64_t** columns
    int64_t* change
    int64_t* now                # the tick of the change
    int64_t* start
    int64_t* until
    int64_t* weight


cdef class TimeMerge:
    """Turns rows with intervals into consolidated deltas in time order."""

    cdef readonly int width
    cdef int64_t stride         # values in a record: columns, weight, and one for the free list
    cdef Records pending_rows
    cdef Agenda agenda
    cdef ChangeRows group            # rows of the change being collected
    cdef bint open
    cdef int64_t open_change
    cdef int64_t open_tick
    cdef Written out

    cdef int64_t* pend(self, int64_t tick, int64_t weight) noexcept nogil
    cdef void release(self, int64_t upto) noexcept nogil
    cdef void close(self) noexcept nogil
    cdef void begin(self, int64_t change, int64_t now) noexcept nogil
    cdef void take(self, Rows* rows, const int* projection) noexcept nogil
    cdef void pass_time(self, int64_t upto) noexcept nogil
    cdef void give(self, Written* taken) noexcept nogil
