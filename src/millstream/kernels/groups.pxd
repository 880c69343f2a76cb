"""What accumulators see of a table of groups: the batch that is being applied (layout in groups.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.arrays cimport Strided
from millstream.kernels.growing cimport Growing
from millstream.kernels.keyed cimport Keyed


cdef struct Change:
    int64_t row_end
    int64_t event_end
    int64_t tick
    int64_t number


cdef struct Output:
    int64_t* words              # columns, then tick, change and weight, each `stride` long
    int64_t stride
    int64_t rows
    int64_t appeared            # ids outside of inlined values that appear, and that go
    int64_t went


cdef class GroupTable:
    cdef Keyed groups
    cdef int width
    cdef int results_width
    cdef Growing places
    cdef Growing key
    cdef int64_t stamp
    # The batch.
    cdef object column_array    # kept while `columns` points into it
    cdef Strided columns
    cdef int64_t row_count
    cdef int64_t event_count
    cdef int64_t change_count
    cdef Growing slots_block
    cdef Growing weights_block
    cdef Growing changes_block
    cdef Growing event_slots_block
    cdef Growing event_rows_block
    cdef Growing results_block
    # The same, as accumulators read them.
    cdef int64_t* slots
    cdef int64_t* weights
    cdef Change* changes
    cdef int64_t* event_slots
    cdef int64_t* event_rows

    cdef int64_t* results(self, int place) noexcept nogil
    cdef int64_t slot_count(self) noexcept nogil
    cdef int check(self, int place, int operand) except -1
    cdef void make_room(self, int64_t rows) noexcept nogil
    cdef int64_t group_of(self, int64_t row) noexcept nogil
    cdef bint enter_rows(self, Strided* tick, Strided* change, Strided* weight) noexcept nogil
    cdef void touch(self, int64_t slot) noexcept nogil
    cdef bint close_change(self, int64_t rows, int64_t tick, int64_t number) noexcept nogil
    cdef bint differs(self, int64_t event) noexcept nogil
    cdef void show(self, Output* out, int64_t event, bint new) noexcept nogil
    cdef void show_events(self, Output* out) noexcept nogil
    cdef object outside(self, Output* out, int64_t weight, int64_t count)
    cdef void drop_empty(self) noexcept nogil
