"""Groups of rows by key columns, and their output rows.

A group's number is its *slot*; accumulators keep what they know of it in arrays by slot. Its record:

    key | rows: the sum of weights | stamp of the change that touched it last | shown | results, as shown last

A batch goes through in three steps, so that each loop does one thing:

    enter        rows to slots. An *event* is a group touched by a change: the change's number of rows ends at `row_end`, its
                 events at `event_end`, and `event_rows` says how many rows the group has then.
    accumulate   each accumulator takes the rows change by change and writes its result at every event
    show         events to output: the row shown before with weight -1, the new one with 1, unless they are equal

Invariants
- Slots are given again only after a batch, so that within it a slot is one group, however often that dies and revives.
- A group without rows leaves all accumulators in their initial state: they are exact, and nothing has to be told to forget.
- Without key columns there is one group, shown from `begin` on, whatever rows it has.
- The terms of results are held while their row is shown.
"""

import cython

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from millstream.kernels.aggregates.distinct cimport DistinctTuples
from millstream.kernels.aggregates.term_references cimport TermReferences
from millstream.kernels.containers.growing cimport growing_close, growing_room
from millstream.kernels.containers.hash_index cimport prefetch
from millstream.kernels.containers.keyed cimport (
    AHEAD, SOON, ahead_begin, ahead_fetch, ahead_hash, ahead_show, keyed_at, keyed_bytes, keyed_close, keyed_drop, keyed_get,
    keyed_hash, keyed_open,
)
from millstream.kernels.flow.change_rows cimport CHANGE, TICK, WEIGHT, write_row
from millstream.kernels.flow.deltas cimport Operator, check_widths

cdef enum:
    # Places of words behind the key.
    ROWS = 0
    STAMP = 1
    SHOWN = 2
    RESULTS = 3


cdef class Accumulator:
    """Takes the rows that a table of groups has entered, and writes the result at each of its events.

    `operand` is the column it reads, -1 for none; `distinct` are those whose repetitions within a group do not count.
    """

    def __cinit__(self, *args, int operand=-1, distinct=None, **kwargs):
        self.operand = operand
        self.distinct = None if distinct is None else DistinctTuples(distinct)

    cdef int64_t* weights(self, GroupTable table) noexcept:
        """The weights of the rows entered, or of what they have that is distinct."""
        if self.distinct is None:
            return table.rows.columns[table.rows.width + WEIGHT]
        return self.distinct.weigh(table.rows, table.slots, table.row_count)

    cdef int accumulate(self, GroupTable table, int place) except -1:
        raise NotImplementedError

    cdef int check(self, int width) except -1:
        """That the columns it reads are there."""
        if not -1 <= self.operand < width:
            raise ValueError(f"there is no column {self.operand} among {width}")
        if self.distinct is not None and self.distinct.last >= width:
            raise ValueError(f"there is no column {self.distinct.last} among {width}")
        return 0


@cython.final
cdef class GroupTable(Operator):
    """Groups rows by the columns at `keys`; gives the keys, then a column an accumulator, -1 without a value.

    After every change each group whose row is another than before takes that back and gives the new one.
    """

    def __cinit__(self, inputs, int width, keys, accumulators, TermReferences references not None):
        (self.given,) = self.inputs
        self.accumulators = tuple(accumulators)
        self.results_width = len(self.accumulators)
        check_widths([self.out], len(keys) + self.results_width)
        if not all(0 <= place < self.given.rows.width for place in keys):
            raise ValueError(f"keys {keys} are not places among {self.given.rows.width} columns")
        for accumulator in self.accumulators:
            if not isinstance(accumulator, Accumulator):
                raise TypeError(f"expected an Accumulator, got {accumulator!r}")
            (<Accumulator>accumulator).check(self.given.rows.width)
        self.references = references
        self.rows = &self.given.rows
        self.stamp = 1
        keyed_open(&self.groups, len(keys), RESULTS + self.results_width)
        growing_room(&self.places, len(keys), sizeof(int64_t))
        growing_room(&self.row, width, sizeof(int64_t))
        for i, place in enumerate(keys):
            (<int64_t*>self.places.data)[<int64_t>i] = place

    def __dealloc__(self):
        keyed_close(&self.groups)
        growing_close(&self.places)
        growing_close(&self.row)
        growing_close(&self.slots_block)
        growing_close(&self.changes_block)
        growing_close(&self.event_slots_block)
        growing_close(&self.event_rows_block)
        growing_close(&self.results_block)

    # For accumulators.

    cdef int64_t* results(self, int place) noexcept nogil:
        return (<int64_t*>self.results_block.data) + place * self.event_count

    cdef int64_t slot_count(self) noexcept nogil:
        return self.groups.records.size

    # Entering.

    cdef void make_room(self, int64_t rows) noexcept nogil:
        growing_room(&self.slots_block, rows, sizeof(int64_t))
        growing_room(&self.changes_block, rows, sizeof(Change))
        growing_room(&self.event_slots_block, rows, sizeof(int64_t))
        growing_room(&self.event_rows_block, rows, sizeof(int64_t))
        growing_room(&self.results_block, rows * self.results_width, sizeof(int64_t))
        self.slots = <int64_t*>self.slots_block.data
        self.changes = <Change*>self.changes_block.data
        self.event_slots = <int64_t*>self.event_slots_block.data
        self.event_rows = <int64_t*>self.event_rows_block.data
        self.row_count = 0
        self.event_count = 0
        self.change_count = 0

    cdef void read_key(self, int64_t row) noexcept nogil:
        cdef int64_t* key = <int64_t*>self.row.data
        cdef int64_t* places = <int64_t*>self.places.data
        cdef int i
        for i in range(self.groups.width):
            key[i] = self.rows.columns[places[i]][row]

    cdef void show_ahead(self, int64_t row) noexcept nogil:
        self.read_key(row)
        ahead_show(&self.ahead, &self.groups, <int64_t*>self.row.data, row)

    cdef int64_t group_of(self, int64_t row) noexcept nogil:
        """The slot of a row's group; rows are asked for in order."""
        cdef uint32_t hash
        if not self.ahead.on:
            self.read_key(row)
            return keyed_get(&self.groups, <int64_t*>self.row.data, keyed_hash(&self.groups, <int64_t*>self.row.data))
        hash = ahead_hash(&self.ahead, row)
        if row + AHEAD < self.rows.size:
            self.show_ahead(row + AHEAD)
        if row + SOON < self.rows.size:
            ahead_fetch(&self.ahead, &self.groups, row + SOON)
        self.read_key(row)
        return keyed_get(&self.groups, <int64_t*>self.row.data, hash)

    cdef void touch(self, int64_t slot) noexcept nogil:
        cdef int64_t* group = keyed_at(&self.groups, slot) + self.groups.width
        if group[STAMP] != self.stamp:
            group[STAMP] = self.stamp
            self.event_slots[self.event_count] = slot
            self.event_count += 1

    cdef bint close_change(self, int64_t rows, int64_t tick, int64_t number) noexcept nogil:
        """False if a group has fewer rows than none."""
        cdef Change* change = self.changes + self.change_count
        cdef int64_t i = self.changes[self.change_count - 1].event_end if self.change_count else 0
        cdef bint sound = True
        while i < self.event_count:
            self.event_rows[i] = keyed_at(&self.groups, self.event_slots[i])[self.groups.width + ROWS]
            sound = sound and self.event_rows[i] >= 0
            i += 1
        change.row_end = rows
        change.event_end = self.event_count
        change.tick = tick
        change.number = number
        self.change_count += 1
        self.stamp += 1
        return sound

    cdef bint enter_rows(self) noexcept nogil:
        cdef int64_t n = self.rows.size, i, slot
        cdef int64_t* ticks = self.rows.columns[self.rows.width + TICK]
        cdef int64_t* numbers = self.rows.columns[self.rows.width + CHANGE]
        cdef int64_t* weights = self.rows.columns[self.rows.width + WEIGHT]
        cdef bint sound = True
        self.make_room(n)
        ahead_begin(&self.ahead, &self.groups)
        for i in range(min(n, <int64_t>AHEAD) if self.ahead.on else 0):
            self.show_ahead(i)
        for i in range(n):
            slot = self.group_of(i)
            self.slots[i] = slot
            keyed_at(&self.groups, slot)[self.groups.width + ROWS] += weights[i]
            self.touch(slot)
            if i + 1 == n or ticks[i] != ticks[i + 1] or numbers[i] != numbers[i + 1]:
                sound &= self.close_change(i + 1, ticks[i], numbers[i])
        self.row_count = n
        return sound

    def begin(self, int64_t at_tick, int64_t change):
        """Without keys, the row of the one group there is: a change without rows touches it."""
        cdef int64_t* key = <int64_t*>self.row.data
        if self.groups.width == 0:
            self.make_room(1)
            self.touch(keyed_get(&self.groups, key, keyed_hash(&self.groups, key)))
            self.close_change(0, at_tick, change)
            self.finish()

    cdef int apply(self) except -1:
        if not self.enter_rows():
            raise ValueError("more rows of a group left than had entered")
        return self.finish()

    # Showing.

    cdef int finish(self) except -1:
        cdef int place
        for place in range(self.results_width):
            (<Accumulator>self.accumulators[place]).accumulate(self, place)
        self.show_events()
        self.drop_empty()
        return 0

    cdef void drop_empty(self) noexcept nogil:
        cdef int64_t i
        cdef int64_t* group
        if self.groups.width == 0:
            return
        for i in range(self.event_count):
            # One that has rows then and none in the end is touched again.
            if self.event_rows[i]:
                continue
            group = keyed_at(&self.groups, self.event_slots[i]) + self.groups.width
            if group[ROWS] == 0:
                group[ROWS] = -1            # not again
                keyed_drop(&self.groups, <int32_t>self.event_slots[i])

    cdef bint differs(self, int64_t event) noexcept nogil:
        cdef int64_t* shown = keyed_at(&self.groups, self.event_slots[event]) + self.groups.width + RESULTS
        cdef int64_t* results = <int64_t*>self.results_block.data
        cdef int place
        for place in range(self.results_width):
            if shown[place] != results[place * self.event_count + event]:
                return True
        return False

    cdef int show(self, int64_t event, const Change* at, int weight) except -1:
        """Writes the row that a group shows, which comes or goes."""
        cdef int64_t* group = keyed_at(&self.groups, self.event_slots[event])
        cdef int64_t* row = <int64_t*>self.row.data
        cdef int64_t* results = group + self.groups.width + RESULTS
        cdef int place
        memcpy(row, group, self.groups.width * sizeof(int64_t))
        memcpy(row + self.groups.width, results, self.results_width * sizeof(int64_t))
        for place in range(self.results_width):
            if weight > 0:
                self.references.hold_term(results[place])
            else:
                self.references.release_term(results[place], at.tick)
        write_row(&self.out.rows, row, at.tick, at.number, weight)
        return 0

    cdef int show_events(self) except -1:
        cdef int64_t event
        cdef int64_t* group
        cdef int64_t* results = <int64_t*>self.results_block.data
        cdef Change* at = self.changes
        cdef bint before, after
        cdef int place
        for event in range(self.event_count):
            while at.event_end <= event:
                at += 1
            if self.ahead.on and event + SOON < self.event_count:
                prefetch(keyed_at(&self.groups, self.event_slots[event + SOON]))
            group = keyed_at(&self.groups, self.event_slots[event]) + self.groups.width
            before, after = group[SHOWN] != 0, self.groups.width == 0 or self.event_rows[event] > 0
            if before == after and (not after or not self.differs(event)):
                continue
            if before:
                self.show(event, at, -1)
            for place in range(self.results_width):
                group[RESULTS + place] = results[place * self.event_count + event]
            group[SHOWN] = after
            if after:
                self.show(event, at, 1)
        return 0

    def close(self, int64_t at_tick):
        """Lets go of the terms in the rows shown."""
        cdef int64_t slot
        cdef int64_t* group
        cdef int place
        for slot in range(self.groups.records.size):
            group = keyed_at(&self.groups, slot) + self.groups.width
            if group[ROWS] >= 0 and group[SHOWN]:
                for place in range(self.results_width):
                    self.references.release_term(group[RESULTS + place], at_tick)

    @property
    def stats(self):
        return {"groups": int(self.groups.records.live), "bytes": int(keyed_bytes(&self.groups))}

    @property
    def stored(self):
        return int(self.groups.records.live)
