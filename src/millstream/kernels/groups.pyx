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

from millstream.kernels.arrays cimport Strided, read_array, word_at
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
        growing_close(&self.weights_block)
        growing_close(&self.changes_block)
        growing_close(&self.event_slots_block)
        growing_close(&self.event_rows_block)
        growing_close(&self.results_block)

    # For accumulators.

    cdef int64_t* results(self, int place) noexcept nogil:
        return (<int64_t*>self.results_block.data) + place * self.event_count

    cdef int64_t slot_count(self) noexcept nogil:
        return self.groups.records.size

    cdef int check(self, int place, int operand) except -1:
        """That an accumulator's arguments fit; operand -1 stands for none."""
        if not 0 <= place < self.results_width:
            raise ValueError(f"there is no result {place} among {self.results_width}")
        if not -1 <= operand < self.width:
            raise ValueError(f"there is no column {operand} among {self.width}")
        return 0

    # Entering.

    cdef void make_room(self, int64_t rows) noexcept nogil:
        growing_room(&self.slots_block, rows, sizeof(int64_t))
        growing_room(&self.weights_block, rows, sizeof(int64_t))
        growing_room(&self.changes_block, rows, sizeof(Change))
        growing_room(&self.event_slots_block, rows, sizeof(int64_t))
        growing_room(&self.event_rows_block, rows, sizeof(int64_t))
        growing_room(&self.results_block, rows * self.results_width, sizeof(int64_t))
        self.slots = <int64_t*>self.slots_block.data
        self.weights = <int64_t*>self.weights_block.data
        self.changes = <Change*>self.changes_block.data
        self.event_slots = <int64_t*>self.event_slots_block.data
        self.event_rows = <int64_t*>self.event_rows_block.data
        self.row_count = 0
        self.event_count = 0
        self.change_count = 0

    cdef int64_t group_of(self, int64_t row) noexcept nogil:
        cdef int64_t* key = <int64_t*>self.key.data
        cdef int64_t* places = <int64_t*>self.places.data
        cdef int i
        for i in range(self.groups.width):
            key[i] = word_at(&self.columns, row, places[i])
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

    cdef bint enter_rows(self, Strided* tick, Strided* change, Strided* weight) noexcept nogil:
        cdef int64_t n = self.columns.rows, i, slot, at_tick, number
        cdef bint sound = True
        self.make_room(n)
        for i in range(n):
            slot = self.group_of(i)
            self.slots[i] = slot
            self.weights[i] = word_at(weight, i, 0)
            keyed_at(&self.groups, slot)[self.groups.width + ROWS] += self.weights[i]
            self.touch(slot)
            at_tick = word_at(tick, i, 0)
            number = word_at(change, i, 0)
            if i + 1 == n or at_tick != word_at(tick, i + 1, 0) or number != word_at(change, i + 1, 0):
                sound &= self.close_change(i + 1, at_tick, number)
        self.row_count = n
        return sound

    def enter(self, columns, tick, change, weight):
        """Takes the rows of a batch into their groups; the columns are read until `emit`."""
        cdef Strided ticks, changes, weights
        cdef bint sound
        self.make_room(0)
        read_array(columns, 2, &self.columns)
        read_array(tick, 1, &ticks)
        read_array(change, 1, &changes)
        read_array(weight, 1, &weights)
        if self.columns.width != self.width or not (ticks.rows == changes.rows == weights.rows == self.columns.rows):
            raise ValueError(f"expected {self.width} columns of one length")
        self.column_array = columns
        with nogil:
            sound = self.enter_rows(&ticks, &changes, &weights)
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

    cdef bint differs(self, int64_t event) noexcept nogil:
        cdef int64_t* shown = keyed_at(&self.groups, self.event_slots[event]) + self.groups.width + RESULTS
        cdef int64_t* results = <int64_t*>self.results_block.data
        cdef int place
        for place in range(self.results_width):
            if shown[place] != results[place * self.event_count + event]:
                return True
        return False

    cdef void show(self, Output* out, int64_t event, bint new) noexcept nogil:
        """Writes the row that a group shows; a new one after its results have been put into the record."""
        cdef int64_t* group = keyed_at(&self.groups, self.event_slots[event])
        cdef int64_t* into = out.words + out.rows
        cdef int64_t made
        cdef int place
        for place in range(self.groups.width):
            into[0] = group[place]
            into += out.stride
        for place in range(self.results_width):
            made = group[self.groups.width + RESULTS + place]
            into[0] = made
            into += out.stride
            if 0 <= kind_of(made) <= TYPED:
                out.appeared += new
                out.went += not new
        into[2 * out.stride] = 1 if new else -1
        out.rows += 1

    cdef void show_events(self, Output* out) noexcept nogil:
        cdef int64_t event, at = 0, was
        cdef int64_t* group
        cdef int64_t* ticks = out.words + (self.groups.width + self.results_width) * out.stride
        cdef int64_t* results = <int64_t*>self.results_block.data
        cdef bint before, after
        cdef int place
        for event in range(self.event_count):
            while self.changes[at].event_end <= event:
                at += 1
            group = keyed_at(&self.groups, self.event_slots[event]) + self.groups.width
            before, after = group[SHOWN] != 0, self.groups.width == 0 or self.event_rows[event] > 0
            if before == after and (not after or not self.differs(event)):
                continue
            was = out.rows
            if before:
                self.show(out, event, False)
            for place in range(self.results_width):
                group[RESULTS + place] = results[place * self.event_count + event]
            group[SHOWN] = after
            if after:
                self.show(out, event, True)
            while was < out.rows:
                ticks[was] = self.changes[at].tick
                ticks[out.stride + was] = self.changes[at].number
                was += 1

    cdef object outside(self, Output* out, int64_t weight, int64_t count):
        """The ids outside of inlined values in the results of output rows of one weight, None without any."""
        cdef int64_t* results = out.words + self.groups.width * out.stride
        cdef int64_t* weights = results + (self.results_width + 2) * out.stride
        cdef int64_t* into
        cdef int64_t row, made
        cdef cnp.npy_intp length = count
        cdef int place
        if count == 0:
            return None
        array = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INT64, 0)
        into = <int64_t*>cnp.PyArray_DATA(array)
        for place in range(self.results_width):
            for row in range(out.rows):
                made = results[place * out.stride + row]
                if weights[row] == weight and 0 <= kind_of(made) <= TYPED:
                    into[0] = made
                    into += 1
        return array

    def emit(self):
        """The output of a batch after all accumulators: columns, tick, change, weight, and the ids of results outside of
        inlined values that appeared and that went, None if there are none."""
        cdef int width = self.groups.width + self.results_width
        cdef cnp.npy_intp shape[2]
        cdef Output out
        shape[0], shape[1] = width + 3, 2 * self.event_count
        array = cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT64, 0)
        out.words, out.stride = <int64_t*>cnp.PyArray_DATA(array), shape[1]
        out.rows = out.appeared = out.went = 0
        with nogil:
            self.show_events(&out)
            self.drop_empty()
            self.make_room(0)
        self.column_array = None
        rows = slice(out.rows)
        return (
            array[:width, rows].T, array[width, rows], array[width + 1, rows], array[width + 2, rows],
            self.outside(&out, 1, out.appeared), self.outside(&out, -1, out.went),
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
