"""Rows that are emitted and wait until they are taken: kept in order, counted, and handed to who receives them."""

from millstream.errors import PendingLimitError

from libc.stdint cimport int64_t
from libc.string cimport memcpy, memmove

cimport numpy as cnp

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.flow.change_rows cimport (
    MORE_COLUMNS, change_close, change_open, change_take, change_write, written_shrink,
)
from millstream.kernels.flow.deltas cimport Deltas

cnp.import_array()

cdef enum:
    SMALL = 16                  # rows for which room is kept while nothing waits
    SURPRISE = 4                # times what any call has brought so far may come with the next
    ALWAYS_POSSIBLE = 16
    CALLED_BACK = 1 << 20

cdef int64_t NO_TICK = -(<int64_t>1 << 62)


cdef class PendingRows(Deltas):
    """Rows that wait for somebody, in order. Their terms are kept from the first housekeeping that finds them waiting.

    So what is taken soon costs nothing, and what is never taken does not keep the dictionary from forgetting other terms.
    """

    def __dealloc__(self):
        change_close(&self.group)

    cpdef int add(self, Deltas rows) except -1:
        """Rows that come after all others."""
        if rows is None or rows.rows.width != self.rows.width:
            raise ValueError(f"expected {self.rows.width} columns, got {None if rows is None else rows.rows.width}")
        self.take(rows)
        return 0

    def count_until(self, int64_t tick):
        """How many of the first rows happen up to a tick; rows are in the order of time."""
        cdef int64_t low = 0, high = self.rows.size, middle
        while low < high:
            middle = (low + high) // 2
            if self.ticks()[middle] <= tick:
                low = middle + 1
            else:
                high = middle
        return low

    def first(self, int64_t count):
        """The first rows, in a buffer of their own."""
        cdef Deltas found = Deltas(width=self.rows.width)
        cdef int place
        count = max(0, min(count, self.rows.size))
        found.room(count)
        for place in range(self.rows.width + MORE_COLUMNS if count else 0):
            memcpy(found.rows.columns[place], self.rows.columns[place], count * sizeof(int64_t))
        found.rows.size = count
        return found

    def hold(self, Dictionary dictionary not None):
        """Keeps the terms of what came since the last call."""
        cdef int place
        for place in range(self.rows.width if self.held < self.rows.size else 0):
            dictionary.hold_all(self.rows.columns[place] + self.held, self.rows.size - self.held, 1)
        self.held = self.rows.size

    def sum_up(self, Dictionary dictionary not None):
        """Makes one change of all rows, at the time of the last, in memory that is there already: there may be many."""
        cdef int64_t tick, i
        if self.rows.size == 0:
            return
        tick = self.ticks()[self.rows.size - 1]
        if self.group.capacity == 0:
            change_open(&self.group, self.rows.width)
        for i in range(self.rows.size):
            change_take(&self.group, &self.rows, i)
        self.release(dictionary, self.rows.size)
        self.rows.size = 0
        change_write(&self.group, &self.rows, tick, 0)

    cdef int release(self, Dictionary dictionary, int64_t count) except -1:
        """Keeps the terms of the first rows no longer."""
        cdef int64_t released = min(count, self.held)
        cdef int place
        for place in range(self.rows.width if released else 0):
            dictionary.release_all(self.rows.columns[place], released, 1, NO_TICK)
        self.held -= released
        return 0

    def drop(self, Dictionary dictionary not None, int64_t count=-1):
        """Lets the first rows go, or all, and gives how many; terms can still be read until the next housekeeping."""
        cdef int place
        count = self.rows.size if count < 0 else min(count, self.rows.size)
        self.release(dictionary, count)
        self.rows.size -= count
        if self.rows.size == 0:
            change_close(&self.group)
            if self.rows.capacity > SMALL:
                written_shrink(&self.rows)
        elif count:
            for place in range(self.rows.width + MORE_COLUMNS):
                memmove(self.rows.columns[place], self.rows.columns[place] + count, self.rows.size * sizeof(int64_t))
        return count


cdef class Pending:
    """Counts what queries keep until it is taken, and tells when the next call might bring more than may wait.

    Trying a call out costs as much as the engine holds, so it is only done near the limit: where the call would bring too
    many if it brought several times what any call has brought so far.
    """

    def __init__(self, int64_t limit):
        self.limit = limit
        self.largest = ALWAYS_POSSIBLE

    def refuse(self):
        """From now on the answer that exceeds the limit raises, at once: on copies, which nobody needs then."""
        self.refuses = True
        self.brought = 0

    cpdef int keep(self, int64_t count) except -1:
        """Answers that wait until they are taken."""
        self.waiting += count
        self.brought += count
        if self.refuses:
            self.check(0)
        return 0

    def pass_on(self, int64_t count):
        """Answers for callbacks: they wait as well, but no longer than the call that brings them."""
        self.brought += count
        if self.refuses and self.brought > max(self.limit, <int64_t>CALLED_BACK):
            raise PendingLimitError(
                f"one call would bring more than {max(self.limit, <int64_t>CALLED_BACK)} answers; "
                "raise max_pending, or keep times far ahead out with max_jump_ms."
            )

    def release(self, int64_t count):
        self.waiting -= count

    cpdef bint may_overflow(self) noexcept:
        """Whether the next call might bring too many; asked before every call, so that it knows what each has brought."""
        self.largest = max(self.largest, self.brought)
        self.brought = 0
        return self.may_exceed(SURPRISE * self.largest)

    cpdef bint may_exceed(self, int64_t more) noexcept:
        """Whether so many more might be too many."""
        return more > self.limit - self.waiting

    def check(self, int64_t more):
        """Raises if so many more may not wait."""
        if self.may_exceed(more):
            raise PendingLimitError(
                f"{self.waiting + more} answers would wait to be taken, max_pending is {self.limit}; "
                "take those that wait, give register an on_answer, or raise max_pending."
            )


cdef class Receiver:
    """Who is handed what one query emits. Rows are overwritten later: what is kept is copied."""

    def __cinit__(self, *args, **kwargs):
        self.is_plain = False

    def receive_into(self, PendingRows untaken not None, Pending pending not None):
        """From now on rows are kept until they are taken."""
        self.untaken, self.pending = untaken, pending
        self.is_plain = True

    cdef int receive(self, Deltas rows) except -1:
        if not self.is_plain:
            self.emit(rows)
            return 0
        self.emitted += rows.rows.size
        self.untaken.add(rows)
        return self.pending.keep(rows.rows.size)
