"""What is emitted (relation-to-stream): rows that an output operator selects from deltas, on every change or when windows
close.

Emitted rows have weight 1 or -1: a row that changed by n is there n times. They tell time as deltas do, by ticks.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cimport numpy as cnp

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.emission.answer_set cimport AnswerSet
from millstream.kernels.emission.pending cimport PendingRows
from millstream.kernels.flow.change_rows cimport (
    MORE_COLUMNS, TICK, WEIGHT, ChangeRows, Written, change_close, change_open, change_row, change_write,
)
from millstream.kernels.flow.deltas cimport Deltas

cnp.import_array()

APPEARS, DISAPPEARS, BOTH = 1, -1, 0

cdef enum:
    GRID_PHASE = 2
    MANY = 1 << 22              # rows for which memory is asked before it is taken
    MOST_WAITING = 2000         # rows that may wait for a window to close without being summed up: with a few columns, less
                                # memory than malloc maps anew every time

cdef int64_t MOST_ROWS = <int64_t>1 << 48   # more than any memory holds
cdef int64_t NO_TICK = -(<int64_t>1 << 62)
cdef int64_t FIRST_OF_ALL = NO_TICK + 1     # the tick of what happens before anything else has come


cdef int reserve(Deltas rows, int64_t more) except -1:
    """Room for so many rows more; MemoryError, where growing would end the process."""
    cdef void* block
    if more > MANY:
        block = NULL
        if more < MOST_ROWS:
            block = malloc((rows.rows.size + more) * (rows.rows.width + MORE_COLUMNS) * sizeof(int64_t))
        if block == NULL:
            raise MemoryError(f"no memory for {more} rows")
        free(block)
    rows.room(more)
    return 0


cdef int select(Deltas into, const Written* rows, int64_t first, int64_t last, int sign, int64_t tick) except -1:
    """Adds what a direction selects of some rows, each as often as it changed; `tick` says when, unless it is NO_TICK."""
    cdef const int64_t* weights = rows.columns[rows.width + WEIGHT]
    cdef const int64_t* column
    cdef int64_t* from_row
    cdef int64_t* to
    cdef int64_t i, j, times, size = into.rows.size, count = 0
    cdef int place
    for i in range(first, last):
        if weights[i] * sign >= 0:
            # A sum that would not be what is written below must not be trusted.
            if not -MOST_ROWS < weights[i] < MOST_ROWS or count >= MOST_ROWS:
                raise MemoryError(f"no memory for {abs(<object>weights[i])} rows")
            count += abs(weights[i])
    if count == 0:
        return 0
    reserve(into, count)
    # Column by column: meanwhile the number of the change is that of the row.
    from_row = into.changes() + size
    to = into.weights() + size
    j = 0
    for i in range(first, last):
        if weights[i] * sign >= 0:
            for times in range(abs(weights[i])):
                from_row[j] = i
                to[j] = 1 if weights[i] > 0 or sign else -1
                j += 1
    for place in range(into.rows.width + 1):
        column = rows.columns[place] if place < into.rows.width else rows.columns[rows.width + TICK]
        to = into.rows.columns[place] + size
        for j in range(count):
            to[j] = column[from_row[j]]
    for j in range(count):
        from_row[j] = 0
        if tick != NO_TICK:
            into.ticks()[size + j] = tick
    into.rows.size += count
    return 0


cdef bint is_selected(const Written* rows, int sign) noexcept nogil:
    """Whether all rows are emitted as they are."""
    cdef const int64_t* weights = rows.columns[rows.width + WEIGHT]
    cdef int64_t i
    for i in range(rows.size):
        if weights[i] != 1 and (sign or weights[i] != -1):
            return False
    return sign >= 0


cdef class Reporter:
    """The end of one query: decides when of its solutions' deltas something is emitted, and what."""

    cdef int take(self, Deltas deltas, int64_t upto) except -1:
        """What has become of the solutions up to a tick."""
        self.report(deltas, upto)
        return 0

    cdef int give(self, Deltas rows) except -1:
        if self.receiver is None:
            self.emit(rows)
            return 0
        return self.receiver.receive(rows)

    def hold_waiting(self):
        """Keeps the terms of what waits to be reported, if anything does."""

    def close(self):
        """Lets go of all terms."""

    def dump(self):
        """What it keeps in plain values: nothing, where all that it needs is found anew."""

    def load(self, state, int width, Dictionary dictionary):
        """Takes what an equal one dumped."""


cdef class Selection(Reporter):
    """ISTREAM, DSTREAM or both, after every change: what has appeared, disappeared, or either."""

    cdef Deltas out
    cdef Deltas one
    cdef ChangeRows group
    cdef int sign
    cdef bint on_grids
    cdef int64_t t0_tick

    def __cinit__(self, *args, **kwargs):
        self.out = self.one = Deltas()

    def __init__(self, int sign, int seen, emit, int64_t t0_tick, bint on_grids):
        """`seen` columns of rows count, `on_grids` says that what happens on a grid at one tick is one change."""
        self.sign, self.t0_tick, self.on_grids, self.emit = sign, t0_tick, on_grids, emit
        self.out, self.one = Deltas(width=seen), Deltas(width=seen)
        change_close(&self.group)
        change_open(&self.group, seen)

    def __dealloc__(self):
        change_close(&self.group)

    def report(self, Deltas deltas not None, int64_t upto):
        """Emits what is selected of deltas; at t0, if they happen before anything else."""
        self.take(deltas, upto)

    cdef int take(self, Deltas deltas, int64_t upto) except -1:
        cdef const Written* rows = &deltas.rows
        cdef int64_t i = 0, first, tick = self.t0_tick if upto <= FIRST_OF_ALL else NO_TICK
        cdef bint trims = rows.width > self.out.rows.width
        if rows.size == 0:
            return 0
        if rows.width < self.out.rows.width:
            raise ValueError(f"expected {self.out.rows.width} columns, got {rows.width}")
        if self.answers is not None:
            self.answers.take(deltas, 1)
        if not trims and not self.on_grids and is_selected(rows, self.sign):
            if tick == NO_TICK:
                return self.give(deltas)
            if self.receiver is not None and self.receiver.is_plain and deltas.ticks()[0] == deltas.ticks()[rows.size - 1]:
                return self.give_at(deltas, tick)
        self.out.clear()
        while i < rows.size:
            if trims or (self.on_grids and deltas.ticks()[i] & 3 == GRID_PHASE):
                i = self.sum_up(deltas, i)
                select(self.out, &self.one.rows, 0, self.one.rows.size, self.sign, tick)
            else:
                first = i
                while i < rows.size and not (self.on_grids and deltas.ticks()[i] & 3 == GRID_PHASE):
                    i += 1
                select(self.out, rows, first, i, self.sign, tick)
        if self.out.rows.size:
            try:
                self.give(self.out)
            finally:
                self.out.clear()
        return 0

    cdef int give_at(self, Deltas deltas, int64_t tick) except -1:
        """Hands on rows of one tick as those of another, which they have until they are copied."""
        cdef int64_t* ticks = deltas.ticks()
        cdef int64_t was = ticks[0], i
        for i in range(deltas.rows.size):
            ticks[i] = tick
        try:
            return self.give(deltas)
        finally:
            for i in range(deltas.rows.size):
                deltas.ticks()[i] = was

    cdef int64_t sum_up(self, Deltas deltas, int64_t i) noexcept nogil:
        """Consolidates the change that begins at a row; gives the row behind it."""
        cdef int64_t tick = deltas.ticks()[i], change = deltas.changes()[i]
        cdef bint whole = self.on_grids and tick & 3 == GRID_PHASE
        cdef int64_t* values
        cdef int column
        self.one.clear()
        while i < deltas.rows.size and deltas.ticks()[i] == tick and (whole or deltas.changes()[i] == change):
            values = change_row(&self.group)
            for column in range(self.group.width):
                values[column] = deltas.rows.columns[column][i]
            values[self.group.width] = deltas.weights()[i]
            i += 1
        change_write(&self.group, &self.one.rows, tick, change)
        return i


cdef class Closing(Reporter):
    """What is emitted when windows close: deltas wait for the next instant."""

    def __cinit__(self, *args, **kwargs):
        self.waiting = PendingRows()
        self.closes_at = NO_TICK
        self.most_waiting = MOST_WAITING

    cdef int take(self, Deltas deltas, int64_t upto) except -1:
        if deltas.rows.size:
            self.waiting.add(deltas)
        if self.closes_at != NO_TICK and self.closes_at <= upto:
            self.close_until(upto)
            self.most_waiting = MOST_WAITING
        if self.waiting.rows.size > self.most_waiting:
            self.sum_up()
            self.most_waiting = max(MOST_WAITING, 4 * self.waiting.rows.size)
        return 0

    def report(self, Deltas deltas not None, int64_t upto):
        """Takes deltas, and emits what instants up to a tick see."""
        self.take(deltas, upto)


def selected(Deltas rows not None, int sign):
    """What an output operator emits of consolidated changes; the same object, if that is all of them as they are."""
    cdef Deltas found
    if is_selected(&rows.rows, sign):
        return rows
    found = Deltas(width=rows.rows.width)
    select(found, &rows.rows, 0, rows.rows.size, sign, NO_TICK)
    return found


def parted(Deltas rows not None):
    """The rows by their first column, which they lose: parts with what it was, in its order."""
    cdef dict found = {}
    cdef Deltas part
    cdef int64_t i
    cdef int column
    if rows.rows.width == 0:
        raise ValueError("rows without columns have no first one")
    for i in range(rows.rows.size):
        part = found.get(rows.rows.columns[0][i])
        if part is None:
            part = found[rows.rows.columns[0][i]] = Deltas(width=rows.rows.width - 1)
        part.room(1)
        for column in range(1, rows.rows.width + MORE_COLUMNS):
            part.rows.columns[column - 1][part.rows.size] = rows.rows.columns[column][i]
        part.rows.size += 1
    return sorted(found.items()) if len(found) > 1 else list(found.items())
