"""The time merge: rows with intervals in, deltas in time order out.

A row of weight w on [start, until) is +w at `start` and -w at `until`. What lies ahead is pending: a record of columns and
weight, row by row, and a note of its tick on an agenda of four lanes and a heap (agenda.pxd), for ends mostly come in
order. Output is one sequence: before a change at tick t, everything pending at ticks <= t, each such tick as one change
(number -1); then the change itself. Rows with equal change and tick are one change, consolidated (change_rows.pxd): so the
output depends neither on the order in which matches were found nor on how the input was cut.

The last change pushed stays open, since the next push may go on with it; `drain` closes it.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from millstream.kernels.containers.agenda cimport (
    CHUNK_NOTES, FOREVER, Chunk, Note, agenda_bytes, agenda_close, agenda_open, agenda_pop, agenda_put,
)
from millstream.kernels.containers.memory cimport block_free
from millstream.kernels.containers.records cimport record_free, record_new
from millstream.kernels.flow.change_rows cimport (
    Written, change_close, change_open, change_row, change_write, written_close, written_open, written_take,
)

cnp.import_array()

cdef enum:
    RUNS = 4                    # lanes of the agenda

NO_CHANGE = -1


@cython.final
cdef class TimeMerge:
    """Turns rows with intervals into consolidated deltas in time order."""

    def __cinit__(self, int width):
        if width < 0:
            raise ValueError(f"width must be at least 0, got {width}")
        self.width = width
        self.stride = width + 2
        self.pending_rows.free = -1
        agenda_open(&self.agenda, RUNS)
        change_open(&self.group, width)
        written_open(&self.out, width)

    def __dealloc__(self):
        agenda_close(&self.agenda)
        block_free(self.pending_rows.data, self.pending_rows.capacity * self.stride * sizeof(int64_t))
        change_close(&self.group)
        written_close(&self.out)

    # Time

    cdef int64_t* pend(self, int64_t tick, int64_t weight) noexcept nogil:
        """A record due at a tick, its columns to be written by the caller."""
        cdef Note due
        cdef int lane = 0
        cdef int64_t* values
        due.tick = tick
        due.number = record_new(&self.pending_rows, self.stride * sizeof(int64_t))
        due.kind = 0
        while lane < RUNS and self.agenda.lanes[lane].head != NULL and self.agenda.lanes[lane].newest > tick:
            lane += 1
        agenda_put(&self.agenda, lane if lane < RUNS else -1, due)
        values = (<int64_t*>self.pending_rows.data) + due.number * self.stride
        values[self.width] = weight
        return values

    cdef void release(self, int64_t upto) noexcept nogil:
        """Writes what is pending at ticks up to this one, each tick as one change."""
        cdef int64_t tick
        cdef int32_t number
        while self.agenda.size and self.agenda.next_tick <= upto:
            tick = self.agenda.next_tick
            while self.agenda.size and self.agenda.next_tick == tick:
                number = agenda_pop(&self.agenda).number
                memcpy(change_row(&self.group), self.pending_rows.data + number * self.stride * <int64_t>sizeof(int64_t),
                       (self.width + 1) * sizeof(int64_t))
                record_free(&self.pending_rows, self.stride * sizeof(int64_t), number)
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
        cdef int64_t i, now, start, until, weight
        cdef int64_t* values
        cdef int column
        for i in range(rows.size):
            now = rows.now[i]
            start = rows.start[i]
            until = rows.until[i]
            weight = rows.weight[i]
            self.begin(rows.change[i], now)
            if start > now:
                values = self.pend(start, weight)
            else:
                values = change_row(&self.group)
                values[self.width] = weight
            for column in range(self.width):
                values[column] = rows.columns[projection[column]][i] if projection[column] >= 0 else -1
            if until < FOREVER:
                values = self.pend(until, -weight)
                for column in range(self.width):
                    values[column] = rows.columns[projection[column]][i] if projection[column] >= 0 else -1

    def push(self, const int64_t[:, :] columns, const int64_t[::1] change, const int64_t[::1] now, const int64_t[::1] start,
             const int64_t[::1] until, const int64_t[::1] weight):
        """Takes rows in order of change; `now` is the tick of a row's change, and no row starts before it."""
        cdef int64_t n = change.shape[0], i
        cdef int64_t* values
        cdef int column
        if columns.shape[1] != self.width:
            raise ValueError(f"expected {self.width} columns, got {columns.shape[1]}")
        if not (columns.shape[0] == now.shape[0] == start.shape[0] == until.shape[0] == weight.shape[0] == n):
            raise ValueError("columns differ in length")
        with nogil:
            for i in range(n):
                self.begin(change[i], now[i])
                if start[i] > now[i]:
                    values = self.pend(start[i], weight[i])
                else:
                    values = change_row(&self.group)
                    values[self.width] = weight[i]
                for column in range(self.width):
                    values[column] = columns[i, column]
                if until[i] < FOREVER:
                    values = self.pend(until[i], -weight[i])
                    for column in range(self.width):
                        values[column] = columns[i, column]

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
            "pending": int(self.agenda.size),
            "bytes": int(self.pending_rows.capacity * self.stride * <int64_t>sizeof(int64_t) + agenda_bytes(&self.agenda)),
        }

    def dump(self):
        """What is pending, as columns, tick, weight; only between changes, when everything was drained."""
        if self.open or self.out.size:
            raise ValueError("drain before dumping: a change is open or output was not taken")
        cdef int64_t n = self.agenda.size, at = 0, i
        cdef int lane
        cdef Chunk* chunk
        cdef int32_t first, last
        numbers = np.empty((2, n), np.int64)
        cdef int64_t[:, ::1] found = numbers
        for lane in range(RUNS):
            chunk = self.agenda.lanes[lane].head
            first = self.agenda.lanes[lane].first
            while chunk != NULL:
                last = <int32_t>(self.agenda.lanes[lane].last if chunk == self.agenda.lanes[lane].tail else CHUNK_NOTES)
                for i in range(first, last):
                    found[0, at] = chunk.notes[i].tick
                    found[1, at] = chunk.notes[i].number
                    at += 1
                first = 0
                chunk = chunk.next
        for i in range(self.agenda.heap_size):
            found[0, at] = self.agenda.heap[i].tick
            found[1, at] = self.agenda.heap[i].number
            at += 1
        rows = np.empty((n, self.width + 1), np.int64)
        cdef int64_t[:, ::1] into = rows
        for i in range(n):
            memcpy(&into[i, 0], (<int64_t*>self.pending_rows.data) + found[1, i] * self.stride,
                   (self.width + 1) * sizeof(int64_t))
        order = np.lexsort((*rows.T[::-1], numbers[0]))
        return rows[order, :self.width], numbers[0][order], rows[order, self.width]

    def load(self, const int64_t[:, :] columns, const int64_t[::1] tick, const int64_t[::1] weight):
        """Takes what was dumped."""
        cdef int64_t i
        cdef int64_t* values
        cdef int column
        if columns.shape[1] != self.width or not (columns.shape[0] == tick.shape[0] == weight.shape[0]):
            raise ValueError("columns differ in number or length")
        for i in range(tick.shape[0]):
            values = self.pend(tick[i], weight[i])
            for column in range(self.width):
                values[column] = columns[i, column]
