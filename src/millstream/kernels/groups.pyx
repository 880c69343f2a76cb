"""Groups of rows by key columns, and their output rows.

A group's number is its *slot*; accumulators keep what they know of it in arrays by slot. Its record:

    key | rows: the sum of weights | stamp of the change that touched it last | shown | results, as shown last

A batch goes through in three steps, so that each loop does one thing:

    enter        rows to slots. An *event* is a group touched by a change: the change's number of rows ends at `row_end`, its
                 events at `event_end`, and `event_rows` says how many rows the group has then.
    accumulate   each accumulator takes the rows change by change and writes its result at every event
    emit         events to output: the row shown before with weight -1, the new one with 1, unless they are equal

Invariants
- Slots are given again only after `emit`, so that within a batch a slot is one group, however often that dies and revives.
- A group without rows leaves all accumulators in their initial state: they are exact, and nothing has to be told to forget.
- Without key columns there is one group, shown from `enter_nothing` on, whatever rows it has.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from millstream.kernels.dictionary_values cimport TYPED, kind_of
from millstream.kernels.growing cimport growing_close, growing_room
from millstream.kernels.keyed cimport (
    keyed_at, keyed_bytes, keyed_close, keyed_drop, keyed_get, keyed_hash, keyed_open,
)

cnp.import_array()

cdef enum:
    # Places of words behind the key.
    ROWS = 0
    STAMP = 1
    SHOWN = 2
    RESULTS = 3


@cython.final
cdef class GroupTable:
    """Groups of rows of `width` columns by those at `keys`, each with so many results."""

    def __cinit__(self, int width, keys, int results):
        if width < 0 or results < 0 or not all(0 <= place < width for place in keys):
            raise ValueError(f"keys {keys} are not places among {width} columns")
        self.width = width
        self.results_width = results
        self.stamp = 1
        keyed_open(&self.groups, len(keys), RESULTS + results)
        growing_room(&self.places, len(keys), sizeof(int64_t))
        growing_room(&self.key, len(keys), sizeof(int64_t))
        for i, place in enumerate(keys):
            (<int64_t*>self.places.data)[<int64_t>i] = place
        self.make_room(1)

    def __dealloc__(self):
        keyed_close(&self.groups)
        growing_close(&self.places)
        growing_close(&self.key)
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

    cdef int check(self, int place, const int64_t[:, :] columns, int operand, const int64_t[:] weight) except -1:
        """That the arguments of an accumulator fit the batch entered; operand -1 stands for none."""
        if not 0 <= place < self.results_width:
            raise ValueError(f"there is no result {place} among {self.results_width}")
        if columns.shape[0] != self.row_count or weight.shape[0] != self.row_count:
            raise ValueError(f"{self.row_count} rows were entered, not {columns.shape[0]}")
        if not -1 <= operand < columns.shape[1]:
            raise ValueError(f"there is no column {operand} among {columns.shape[1]}")
        return 0

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

    cdef int64_t group_of(self, const int64_t[:, :] columns, int64_t row) noexcept nogil:
        cdef int64_t* key = <int64_t*>self.key.data
        cdef int64_t* places = <int64_t*>self.places.data
        cdef int i
        for i in range(self.groups.width):
            key[i] = columns[row, places[i]]
        return keyed_get(&self.groups, key, keyed_hash(&self.groups, key))

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

    def enter(self, const int64_t[:, :] columns, const int64_t[:] tick, const int64_t[:] change, const int64_t[:] weight):
        """Takes the rows of a batch into their groups."""
        cdef int64_t n = columns.shape[0], i, slot
        cdef bint sound = True
        if columns.shape[1] != self.width or not (tick.shape[0] == change.shape[0] == weight.shape[0] == n):
            raise ValueError(f"expected {self.width} columns of one length")
        self.make_room(n)
        with nogil:
            for i in range(n):
                slot = self.group_of(columns, i)
                self.slots[i] = slot
                keyed_at(&self.groups, slot)[self.groups.width + ROWS] += weight[i]
                self.touch(slot)
                if i + 1 == n or tick[i] != tick[i + 1] or change[i] != change[i + 1]:
                    sound &= self.close_change(i + 1, tick[i], change[i])
            self.row_count = n
        if not sound:
            raise ValueError("more rows of a group left than had entered")

    def enter_nothing(self, int64_t tick, int64_t change):
        """A change without rows, that touches the one group there is without keys."""
        if self.groups.width:
            raise ValueError("only a group without keys has an output row over nothing")
        self.make_room(1)
        self.touch(keyed_get(&self.groups, <int64_t*>self.key.data, keyed_hash(&self.groups, <int64_t*>self.key.data)))
        self.close_change(0, tick, change)

    # Emitting.

    cdef void drop_empty(self) noexcept nogil:
        cdef int64_t i
        cdef int64_t* group
        if self.groups.width == 0:
            return
        for i in range(self.event_count):
            group = keyed_at(&self.groups, self.event_slots[i]) + self.groups.width
            if group[ROWS] == 0:
                group[ROWS] = -1            # not again
                keyed_drop(&self.groups, <int32_t>self.event_slots[i])

    def emit(self):
        """The output of a batch after all accumulators: columns, tick, change, weight, and the ids of results outside of
        inlined values that appeared and that went, None if there are none."""
        cdef int64_t m = self.event_count, n = 0, at = 0, event, slot
        cdef int width = self.groups.width, place, side
        cdef int64_t appeared = 0, went = 0, made
        cdef int64_t* group
        cdef Change* change
        cdef bint before, after, differs
        column_array = np.empty((width + self.results_width, 2 * m), np.int64)
        tick_array, change_array, weight_array = np.empty((3, 2 * m), np.int64)
        held_array = np.empty((2, 2 * m * self.results_width), np.int64)
        cdef int64_t[:, ::1] columns = column_array, held = held_array
        cdef int64_t[::1] ticks = tick_array, changes = change_array, weights = weight_array
        cdef int64_t* results = <int64_t*>self.results_block.data
        with nogil:
            for event in range(m):
                while self.changes[at].event_end <= event:
                    at += 1
                change = self.changes + at
                group = keyed_at(&self.groups, self.event_slots[event])
                before = group[width + SHOWN] != 0
                after = width == 0 or self.event_rows[event] > 0
                differs = before != after
                for place in range(self.results_width):
                    differs |= group[width + RESULTS + place] != results[place * m + event]
                if not differs or not (before or after):
                    continue
                for side in range(2):
                    if not (after if side else before):
                        continue
                    for place in range(width):
                        columns[place, n] = group[place]
                    for place in range(self.results_width):
                        made = results[place * m + event] if side else group[width + RESULTS + place]
                        columns[width + place, n] = made
                        if 0 <= kind_of(made) <= TYPED:
                            if side:
                                held[0, appeared] = made
                                appeared += 1
                            else:
                                held[1, went] = made
                                went += 1
                    ticks[n] = change.tick
                    changes[n] = change.number
                    weights[n] = 1 if side else -1
                    n += 1
                for place in range(self.results_width):
                    group[width + RESULTS + place] = results[place * m + event]
                group[width + SHOWN] = after
            self.drop_empty()
            self.make_room(0)
        return (
            column_array[:, :n].T, tick_array[:n], change_array[:n], weight_array[:n],
            held_array[0, :appeared] if appeared else None, held_array[1, :went] if went else None,
        )

    def shown(self):
        """The ids of results outside of inlined values in all rows shown now."""
        cdef int64_t slot
        cdef int64_t* group
        cdef int place
        found = []
        for slot in range(self.groups.records.size):
            group = keyed_at(&self.groups, slot) + self.groups.width
            if group[ROWS] >= 0 and group[SHOWN]:
                for place in range(self.results_width):
                    if 0 <= kind_of(group[RESULTS + place]) <= TYPED:
                        found.append(group[RESULTS + place])
        return np.array(found, np.int64)

    @property
    def stats(self):
        return {"groups": int(self.groups.records.live), "bytes": int(keyed_bytes(&self.groups))}
