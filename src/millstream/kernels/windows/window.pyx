"""Window operators (stream-to-relation): how a window of one query turns a stream's elements into changes of what it shows.

An operator keeps the terms of what it holds in the dictionary, from their arrival on. It writes entries: rows that enter (op
1) or leave (-1) the content, with their tick and, within it, their order: an element has order 2k + 1, what leaves just
before it 2k; what time brings has a tick of its own. What ends at a time known when it enters needs no entry that leaves.

One element takes the same way as a million, so answers cannot depend on how a stream was cut.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memmove

cnp.import_array()

cdef int64_t FOREVER = <int64_t>1 << 62
cdef int64_t NEVER = -FOREVER
cdef int64_t UNTOLD = <int64_t>1 << 60

cdef enum:
    COMPACTED = 1024


cdef int moment_open(Moment* moment, given) except -1:
    """A moment of `millstream.windows`. Times so late cannot be told: they never come."""
    moment.never = given is None
    if given is not None:
        moment.after = min(given.after_ms, UNTOLD)
        moment.grid = 0 if given.grid_ms is None else min(given.grid_ms, UNTOLD)
        moment.then = min(given.then_ms, UNTOLD)
        if moment.after < 0 or moment.grid < 0 or moment.then < 0:
            raise ValueError(f"a moment lies ahead, got {given}")
    return 0


cdef int64_t moment_of(const Moment* moment, int64_t at_ms, int64_t t0_ms) noexcept nogil:
    """As `Moment.of` has it."""
    cdef int64_t passed
    if moment.never:
        return UNTOLD
    at_ms += moment.after
    if moment.grid:
        passed = (at_ms - t0_ms) % moment.grid
        if passed < 0:
            passed += moment.grid
        if passed:
            at_ms += moment.grid - passed
    return at_ms + moment.then


cdef class WindowOperator:
    """One window of one query. What is not said otherwise is for one whose content time does not change."""

    def __cinit__(self, *args, **kwargs):
        self.due = FOREVER

    cdef int arrive(self, Elements batch, Entries* out) except -1:
        """Writes what elements of its stream change at once."""
        raise NotImplementedError

    cdef int pass_time(self, int64_t before, Entries* out) except -1:
        """Writes what enters or leaves by itself at ticks before this one; all elements before it must have come."""
        return 0

    @property
    def next_tick(self):
        """When something next enters or leaves by itself."""
        return None if self.due == FOREVER else self.due

    def end_of(self, int64_t at_ms):
        """The tick at which what comes at a time ends: FOREVER if not by time, NEVER if it is never seen."""
        return FOREVER

    def see(self, int64_t at_ms):
        """An element with triples came, none of which may matter."""

    def last_end(self):
        """The latest finite tick at which anything ends that time goes on for, or less than any time."""
        return NEVER

    def close(self, int64_t at_tick):
        """Lets go of the terms it holds."""

    def check(self, int64_t triples, int64_t elements):
        """Raises if it holds what cannot be, of a stream of so many triples and elements."""

    cdef int touch(self, const int64_t* row, int64_t until) except -1:
        self.dictionary.touch_slot(row[1], until)
        self.dictionary.touch_slot(row[2], until)
        self.dictionary.touch_slot(row[3], until)
        return 0

    cdef int hold(self, const int64_t* row) except -1:
        self.dictionary.hold_one(row[1])
        self.dictionary.hold_one(row[2])
        self.dictionary.hold_one(row[3])
        return 0

    cdef int release(self, const int64_t* row, int64_t at_tick) except -1:
        self.dictionary.release_one(row[1], at_tick)
        self.dictionary.release_one(row[2], at_tick)
        self.dictionary.release_one(row[3], at_tick)
        return 0


cdef class TimedWindow(WindowOperator):
    """The end is known on arrival. With a grid, arrivals wait for the instant at which they are first seen."""

    def __cinit__(self, window, Patterns patterns, Dictionary dictionary, int64_t t0_ms):
        moment_open(&self.begins, window.begins)
        moment_open(&self.ends, window.ends)
        self.t0_ms = t0_ms
        self.patterns = patterns
        self.dictionary = dictionary
        self.acts = self.sees_all = window.step_ms is not None
        self.latest_end = NEVER
        self.known_ms = NEVER

    def __dealloc__(self):
        entries_close(&self.waiting)

    cdef void span(self, int64_t at_ms) noexcept nogil:
        """From which tick until which what comes at a time is seen."""
        if at_ms != self.known_ms:
            self.known_start = tick_of(moment_of(&self.begins, at_ms, self.t0_ms), GRID if self.acts else ELEMENT)
            self.known_end = tick_of(moment_of(&self.ends, at_ms, self.t0_ms), GRID if self.acts else EXPIRY)
            self.known_ms = at_ms

    cdef int arrive(self, Elements batch, Entries* out) except -1:
        cdef int64_t i, at, element
        cdef int64_t row[4]
        cdef Entries* into = &self.waiting if self.acts else out
        self.patterns.among(batch)
        if batch.prolongs:
            for i in range(batch.length):
                if batch.total[i] > (batch.total[i - 1] if i else batch.triples_before):
                    self.span(batch.at_ms[i])
                    if self.known_start < self.known_end < FOREVER and self.known_end > self.latest_end:
                        self.latest_end = self.known_end
        for i in range(self.patterns.size):
            at = self.patterns.row[i]
            element = batch.element[at]
            self.span(batch.at_ms[element])
            if self.known_start >= self.known_end:
                continue
            row[0], row[1], row[2], row[3] = self.patterns.pattern[i], batch.s[at], batch.p[at], batch.o[at]
            self.touch(row, self.known_end)
            entries_put(
                into, self.known_start, 0 if self.acts else 2 * batch.order[element] + 1, self.known_end, row, 1, self.source
            )
        if self.acts:
            self.look_ahead()
        return 0

    cdef void look_ahead(self) noexcept nogil:
        """When what waits first is seen; room at the front is used again."""
        cdef Entries* waiting = &self.waiting
        if waiting.first == waiting.size:
            waiting.first = waiting.size = 0
        elif waiting.first > COMPACTED and 2 * waiting.first > waiting.size:
            memmove(waiting.data, waiting.data + waiting.first, (waiting.size - waiting.first) * sizeof(Entry))
            waiting.size -= waiting.first
            waiting.first = 0
        self.due = waiting.data[waiting.first].now if waiting.size else FOREVER

    cdef int pass_time(self, int64_t before, Entries* out) except -1:
        # Elements come in time order, and so do the instants at which they are first seen.
        cdef Entries* waiting = &self.waiting
        while waiting.first < waiting.size and waiting.data[waiting.first].now < before:
            entries_add(out)[0] = waiting.data[waiting.first]
            waiting.first += 1
        if self.acts:
            self.look_ahead()
        return 0

    def end_of(self, int64_t at_ms):
        self.span(at_ms)
        return self.known_end if self.known_start < self.known_end else NEVER

    def see(self, int64_t at_ms):
        end = self.end_of(at_ms)
        if self.latest_end < end < FOREVER:
            self.latest_end = end

    def last_end(self):
        return self.latest_end

    def waits(self):
        """What waits for an instant: rows of pattern, s, p, o, now, until."""
        cdef int64_t i
        cdef Entry* entry
        found = np.empty((self.waiting.size - self.waiting.first, 6), np.int64)
        for i in range(self.waiting.first, self.waiting.size):
            entry = self.waiting.data + i
            found[i - self.waiting.first] = entry.pattern, entry.s, entry.p, entry.o, entry.now, entry.until
        return found

    def wait_again(self, int64_t last_end, const int64_t[:, :] rows):
        """Takes what `waits` gave, and the last end."""
        cdef int64_t i, j
        cdef int64_t row[4]
        self.latest_end = last_end
        for i in range(rows.shape[0]):
            for j in range(4):
                row[j] = rows[i, j]
            self.touch(row, rows[i, 5])
            entries_put(&self.waiting, rows[i, 4], 0, rows[i, 5], row, 1, self.source)
        if self.acts:
            self.look_ahead()
