"""The time merge: rows with intervals in, deltas in time order out.

A row of weight w on [start, until) is +w at `start` and -w at `until`. What lies ahead is pending: a record of columns and
weight, row by row, and a note of its tick on an agenda of four lanes and a heap (agenda.pxd), for ends mostly come in
order. Those of an edit have an order of their own, from now to the end of a window: where no lane takes a row, it is linked
to the one before it, and gets a note when that one falls due.

A row that is taken back ends twice: as it would have, and now, with +w at `until` to make up for it. That record is found by
its columns and tick, so that a row which comes and goes often, while its end stays ahead, has two of them and not ever more.

Output is one sequence: before a change at tick t, everything
pending at ticks <= t, each such tick as one change (number -1); then the change itself. Rows with equal change and tick are
one change, consolidated (change_rows.pxd): so the output depends neither on the order in which matches were found nor on how
the input was cut.

The last change pushed stays open, since the next push may go on with it; `drain` closes it.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy

from millstream.kernels.containers.agenda cimport (
    CHUNK_NOTES, FOREVER, Chunk, Note, agenda_bytes, agenda_close, agenda_open, agenda_pop, agenda_put, agenda_soon,
)
from millstream.kernels.containers.hash_index cimport prefetch
from millstream.kernels.containers.keyed cimport (
    keyed_at, keyed_bytes, keyed_close, keyed_drop, keyed_enter, keyed_find, keyed_hash, keyed_open,
)
from millstream.kernels.containers.memory cimport block_free
from millstream.kernels.containers.records cimport record_free, record_new
from millstream.kernels.flow.change_rows cimport (
    Written, change_close, change_open, change_room, change_row, change_write, written_close, written_open, written_take,
)

cnp.import_array()

cdef enum:
    RUNS = 4                    # lanes of the agenda
    # Kinds of pending records; a record that is found has its tick between columns and weight.
    PLAIN = 0
    TAKEN_BACK = 1

cdef int64_t MOST_LATER = 0xFFFFFFFF

NO_CHANGE = -1


cdef inline void copy_values(int64_t* into, const int64_t* values, int count) noexcept nogil:
    """As memcpy, of so few that a call is worth avoiding."""
    cdef int i
    for i in range(count):
        into[i] = values[i]


@cython.final
cdef class TimeMerge:
    """Turns rows with intervals into consolidated deltas in time order."""

    def __cinit__(self, int width):
        if width < 0:
            raise ValueError(f"width must be at least 0, got {width}")
        self.width = width
        self.plain.free = self.last = -1
        keyed_open(&self.taken_back, width + 1, 2)
        agenda_open(&self.agenda, RUNS)
        change_open(&self.group, width)
        written_open(&self.out, width)

    def __dealloc__(self):
        agenda_close(&self.agenda)
        block_free(self.plain.data, self.plain.capacity * (self.width + 2) * sizeof(int64_t))
        keyed_close(&self.taken_back)
        change_close(&self.group)
        written_close(&self.out)

    # Time

    cdef int64_t* record(self, int kind, int32_t number) noexcept nogil:
        if kind == TAKEN_BACK:
            return keyed_at(&self.taken_back, number)
        return (<int64_t*>self.plain.data) + number * (self.width + 2)

    cdef Link* link(self, int kind, int32_t number) noexcept nogil:
        return <Link*>(self.record(kind, number) + self.width + 1 + kind)

    cdef int64_t pending(self) noexcept nogil:
        return self.plain.live + self.taken_back.records.live

    cdef void pend(self, int64_t* row, int64_t tick, int64_t weight, int kind) noexcept nogil:
        """Has a row fall due at a tick; the word behind its columns is written over."""
        cdef int32_t number = -1
        cdef uint32_t hash = 0
        cdef int64_t* values
        row[self.width] = tick
        if kind == TAKEN_BACK or self.taken_back.records.live:
            hash = keyed_hash(&self.taken_back, row)
            number = keyed_find(&self.taken_back, row, hash)
            if number >= 0:
                keyed_at(&self.taken_back, number)[self.width + 1] += weight
                return
        if kind == TAKEN_BACK:
            number = keyed_enter(&self.taken_back, row, hash)
            values = self.record(TAKEN_BACK, number)
        else:
            number = record_new(&self.plain, (self.width + 2) * sizeof(int64_t))
            values = self.record(PLAIN, number)
            copy_values(values, row, self.width)
        values[self.width + kind] = weight
        self.link(kind, number).next = -1
        self.note(tick, kind, number)

    cdef void note(self, int64_t tick, int kind, int32_t number) noexcept nogil:
        """Has a record found again when its tick falls due."""
        cdef Note due
        cdef int lane = 0
        due.tick = tick
        due.number = number
        due.kind = kind
        while lane < RUNS and self.agenda.lanes[lane].head != NULL and self.agenda.lanes[lane].newest > tick:
            lane += 1
        if lane < RUNS:
            agenda_put(&self.agenda, lane, due)
            return
        if self.last >= 0 and self.last_kind == kind and 0 <= tick - self.last_tick <= MOST_LATER:
            self.link(kind, self.last).later = <uint32_t>(tick - self.last_tick)
            self.link(kind, self.last).next = number
        else:
            agenda_put(&self.agenda, -1, due)
        self.last = number
        self.last_kind = kind
        self.last_tick = tick

    cdef void release(self, int64_t upto) noexcept nogil:
        """Writes what is pending at ticks up to this one, each tick as one change."""
        cdef int64_t tick
        cdef Note due
        cdef const Note* soon
        cdef Link link
        cdef int64_t* values
        cdef int64_t* row
        while self.agenda.size and self.agenda.next_tick <= upto:
            tick = self.agenda.next_tick
            self.last = -1
            while self.agenda.size and self.agenda.next_tick == tick:
                soon = agenda_soon(&self.agenda)
                if soon != NULL:
                    prefetch(self.record(soon.kind, soon.number))
                due = agenda_pop(&self.agenda)
                while True:
                    values = self.record(due.kind, due.number)
                    link = self.link(due.kind, due.number)[0]
                    if values[self.width + due.kind]:
                        row = change_row(&self.group)
                        copy_values(row, values, self.width)
                        row[self.width] = values[self.width + due.kind]
                    if due.kind == TAKEN_BACK:
                        keyed_drop(&self.taken_back, due.number)
                    else:
                        record_free(&self.plain, (self.width + 2) * sizeof(int64_t), due.number)
                    due.number = link.next
                    if link.next < 0:
                        break
                    if link.later:
                        due.tick = tick + link.later
                        agenda_put(&self.agenda, -1, due)
                        break
            change_write(&self.group, &self.out, tick, -1)

    cdef void close(self) noexcept nogil:
        if self.open and self.group.size:
            change_write(&self.group, &self.out, self.open_tick, self.open_change)
        self.open = False

    cdef void begin(self, int64_t change, int64_t now) noexcept nogil:
        """Rows of a change follow."""
        if not self.open or change != self.open_change or now != self.open_tick:
            self.close()
            self.release(now)
            self.open = True
            self.open_change = change
            self.open_tick = now

    cdef void take(self, Rows* rows, const int* projection) noexcept nogil:
        """As `push`, of rows of which some columns are taken, -1 for one that is never bound."""
        cdef int64_t first = 0, last
        while first < rows.size:
            last = first + 1
            while last < rows.size and rows.change[last] == rows.change[first] and rows.now[last] == rows.now[first]:
                last += 1
            self.begin(rows.change[first], rows.now[first])
            if last - first > 1 or rows.start[first] > rows.now[first]:
                self.take_change(rows, projection, first, last)
            else:
                self.take_row(rows, projection, first)
            first = last

    cdef void take_row(self, Rows* rows, const int* projection, int64_t i) noexcept nogil:
        """The only row of a change, as most elements have it; it starts now."""
        cdef int64_t* values = change_row(&self.group)
        cdef int column
        for column in range(self.width):
            values[column] = rows.columns[projection[column]][i] if projection[column] >= 0 else -1
        if rows.until[i] < FOREVER:
            self.pend(values, rows.until[i], -rows.weight[i], PLAIN if rows.weight[i] > 0 else TAKEN_BACK)
        values[self.width] = rows.weight[i]

    cdef void take_change(self, Rows* rows, const int* projection, int64_t first, int64_t last) noexcept nogil:
        """The rows of one change."""
        cdef int64_t stride = self.group.stride, i
        cdef int64_t* into = change_room(&self.group, last - first)
        cdef int64_t* values
        cdef const int64_t* given
        cdef int column, kind
        # Column by column, as they lie; what starts later only passes through.
        for column in range(self.width):
            values = into + column
            if projection[column] < 0:
                for i in range(last - first):
                    values[i * stride] = -1
                continue
            given = rows.columns[projection[column]] + first
            for i in range(last - first):
                values[i * stride] = given[i]
        values = into
        for i in range(first, last):
            kind = PLAIN if rows.weight[i] > 0 else TAKEN_BACK
            if rows.until[i] < FOREVER:
                self.pend(values, rows.until[i], -rows.weight[i], kind)
            if rows.start[i] > rows.now[i]:
                self.pend(values, rows.start[i], rows.weight[i], kind)
            else:
                if into != values:
                    copy_values(into, values, self.width)
                into[self.width] = rows.weight[i]
                into += stride
                self.group.size += 1
            values += stride

    def push(self, const int64_t[:, :] columns, const int64_t[::1] change, const int64_t[::1] now, const int64_t[::1] start,
             const int64_t[::1] until, const int64_t[::1] weight):
        """Takes rows in order of change; `now` is the tick of a row's change, and no row starts before it."""
        cdef int64_t n = change.shape[0], i
        cdef int64_t* values
        cdef int column, kind
        if columns.shape[1] != self.width:
            raise ValueError(f"expected {self.width} columns, got {columns.shape[1]}")
        if not (columns.shape[0] == now.shape[0] == start.shape[0] == until.shape[0] == weight.shape[0] == n):
            raise ValueError("columns differ in length")
        with nogil:
            for i in range(n):
                self.begin(change[i], now[i])
                values = change_row(&self.group)
                for column in range(self.width):
                    values[column] = columns[i, column]
                kind = PLAIN if weight[i] > 0 else TAKEN_BACK
                if until[i] < FOREVER:
                    self.pend(values, until[i], -weight[i], kind)
                if start[i] > now[i]:
                    self.pend(values, start[i], weight[i], kind)
                    self.group.size -= 1
                else:
                    values[self.width] = weight[i]

    def drain(self, int64_t upto):
        """Closes the open change unless its tick is later, lets time pass to `upto` (inclusive), and gives what was written:
        columns, tick, change (-1 for what fell due), weight."""
        with nogil:
            self.pass_time(upto)
        return written_take(&self.out)

    cdef void pass_time(self, int64_t upto) noexcept nogil:
        if not self.open or self.open_tick <= upto:
            self.close()
            self.release(upto)

    cdef void give(self, Written* taken) noexcept nogil:
        """Exchanges what was written for an empty buffer of the same width."""
        cdef Written given = taken[0]
        taken[0] = self.out
        self.out = given
        self.out.size = 0

    # Looking in

    @property
    def next_tick(self):
        """The earliest tick at which something falls due, None without any."""
        return int(self.agenda.next_tick) if self.agenda.size else None

    @property
    def stats(self):
        return {
            "pending": int(self.pending()),
            "bytes": int(self.plain.capacity * (self.width + 2) * <int64_t>sizeof(int64_t)
                         + keyed_bytes(&self.taken_back) + agenda_bytes(&self.agenda)),
        }

    def dump(self):
        """What is pending, as columns, tick, weight; only between changes, when everything was drained."""
        if self.open or self.out.size:
            raise ValueError("drain before dumping: a change is open or output was not taken")
        cdef int64_t n = self.pending(), at = 0, i, tick
        cdef int lane
        cdef Chunk* chunk
        cdef int32_t first, last
        cdef Note due
        rows = np.empty((n, self.width + 1), np.int64)
        ticks = np.empty(n, np.int64)
        cdef int64_t[:, ::1] into = rows
        cdef int64_t[::1] at_tick = ticks
        for lane in range(RUNS):
            chunk = self.agenda.lanes[lane].head
            first = self.agenda.lanes[lane].first
            while chunk != NULL:
                last = <int32_t>(self.agenda.lanes[lane].last if chunk == self.agenda.lanes[lane].tail else CHUNK_NOTES)
                for i in range(first, last):
                    self.copy_out(chunk.notes[i], &into[at, 0], &at_tick[at])
                    at += 1
                first = 0
                chunk = chunk.next
        for i in range(self.agenda.heap_size):
            due = self.agenda.heap[i]
            while due.number >= 0:
                self.copy_out(due, &into[at, 0], &at_tick[at])
                at += 1
                due.tick += self.link(due.kind, due.number).later
                due.number = self.link(due.kind, due.number).next
        left = rows[:, self.width] != 0
        rows, ticks = rows[left], ticks[left]
        order = np.lexsort((*rows.T[::-1], ticks))
        return rows[order, :self.width], ticks[order], rows[order, self.width]

    cdef void copy_out(self, Note due, int64_t* row, int64_t* tick) noexcept nogil:
        cdef int64_t* values = self.record(due.kind, due.number)
        memcpy(row, values, self.width * sizeof(int64_t))
        row[self.width] = values[self.width + due.kind]
        tick[0] = due.tick

    def load(self, const int64_t[:, :] columns, const int64_t[::1] tick, const int64_t[::1] weight):
        """Takes what was dumped."""
        cdef int64_t i
        cdef int64_t* values
        cdef int column
        if columns.shape[1] != self.width or not (columns.shape[0] == tick.shape[0] == weight.shape[0]):
            raise ValueError("columns differ in number or length")
        for i in range(tick.shape[0]):
            values = change_row(&self.group)
            for column in range(self.width):
                values[column] = columns[i, column]
            self.pend(values, tick[i], weight[i], TAKEN_BACK if weight[i] > 0 else PLAIN)
            self.group.size -= 1
