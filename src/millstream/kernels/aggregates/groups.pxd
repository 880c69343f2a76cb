"""What accumulators are, and what they see of a table of groups: the batch that is being applied (layout in groups.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.aggregates.distinct cimport DistinctTuples
from millstream.kernels.aggregates.term_references cimport TermReferences
from millstream.kernels.containers.growing cimport Growing
from millstream.kernels.containers.keyed cimport Keyed, LookAhead
from millstream.kernels.flow.change_rows cimport Written
from millstream.kernels.flow.deltas cimport Deltas, Operator


cdef struct Change:
    int64_t row_end
    int64_t event_end
    int64_t tick
    int64_t number


cdef class Accumulator:
    cdef readonly int operand
    cdef DistinctTuples distinct

    cdef int64_t* weights(self, GroupTable table) noexcept
    cdef int accumulate(self, GroupTable table, int place) except -1
    cdef int check(self, int width) except -1


cdef class GroupTable(Operator):
    cdef Keyed groups
    cdef Deltas given
    cdef TermReferences references
    cdef tuple accumulators
    cdef int results_width
    cdef Growing places
    cdef Growing row            # the key of a row that comes, and a row that is written
    cdef LookAhead ahead
    cdef int64_t stamp
    # The batch.
    cdef int64_t row_count
    cdef int64_t event_count
    cdef int64_t change_count
    cdef Growing slots_block
    cdef Growing changes_block
    cdef Growing event_slots_block
    cdef Growing event_rows_block
    cdef Growing results_block
    # The same, as accumulators read them.
    cdef const Written* rows
    cdef int64_t* slots
    cdef Change* changes
    cdef int64_t* event_slots
    cdef int64_t* event_rows

    cdef int64_t* results(self, int place) noexcept nogil
    cdef int64_t slot_count(self) noexcept nogil
    cdef void make_room(self, int64_t rows) noexcept nogil
    cdef void read_key(self, int64_t row) noexcept nogil
    cdef void show_ahead(self, int64_t row) noexcept nogil
    cdef int64_t group_of(self, int64_t row) noexcept nogil
    cdef bint enter_rows(self) noexcept nogil
    cdef void touch(self, int64_t slot) noexcept nogil
    cdef bint close_change(self, int64_t rows, int64_t tick, int64_t number) noexcept nogil
    cdef int finish(self) except -1
    cdef bint differs(self, int64_t event) noexcept nogil
    cdef int show(self, int64_t event, const Change* at, int weight) except -1
    cdef int show_events(self) except -1
    cdef void drop_empty(self) noexcept nogil
