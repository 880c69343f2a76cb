"""The time merge, for kernels that hand it rows where they are and let it write where others read."""

from libc.stdint cimport int32_t, int64_t, uint32_t

from millstream.kernels.containers.agenda cimport Agenda, Note
from millstream.kernels.containers.keyed cimport Keyed
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


# The end of a pending record: which falls due after it without a note of its own, and how much later.
cdef struct Link:
    uint32_t later
    int32_t next                # -1: none; the free list of records is here as well


cdef class TimeMerge:
    """Turns rows with intervals into consolidated deltas in time order."""

    cdef readonly int width
    cdef Records plain          # pending: columns, weight, link
    cdef Keyed taken_back       # pending, found by their columns and tick: these, then weight, link
    cdef int32_t last           # the record that no lane took last, while it is pending; or -1
    cdef int last_kind
    cdef int64_t last_tick
    cdef Agenda agenda
    cdef ChangeRows group            # rows of the change being collected
    cdef bint open
    cdef int64_t open_change
    cdef int64_t open_tick
    cdef Written out

    cdef int64_t* record(self, int kind, int32_t number) noexcept nogil
    cdef Link* link(self, int kind, int32_t number) noexcept nogil
    cdef int64_t pending(self) noexcept nogil
    cdef void pend(self, int64_t* row, int64_t tick, int64_t weight, int kind) noexcept nogil
    cdef void note(self, int64_t tick, int kind, int32_t number) noexcept nogil
    cdef void copy_out(self, Note due, int64_t* row, int64_t* tick) noexcept nogil
    cdef void release(self, int64_t upto) noexcept nogil
    cdef void close(self) noexcept nogil
    cdef void begin(self, int64_t change, int64_t now) noexcept nogil
    cdef void take(self, Rows* rows, const int* projection) noexcept nogil
    cdef void take_row(self, Rows* rows, const int* projection, int64_t i) noexcept nogil
    cdef void take_change(self, Rows* rows, const int* projection, int64_t first, int64_t last) noexcept nogil
    cdef void pass_time(self, int64_t upto) noexcept nogil
    cdef void give(self, Written* taken) noexcept nogil
