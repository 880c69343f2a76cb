"""Window operators that hold what they show, because nobody knows its end when it comes: counts, the next element, silence.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memmove

from millstream.kernels.containers.keyed cimport (
    keyed_at, keyed_close, keyed_drop, keyed_find, keyed_get, keyed_hash, keyed_open,
)
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.windows.window cimport ELEMENT, EXPIRY, entries_put, tick_of

cnp.import_array()

cdef int64_t FOREVER = <int64_t>1 << 62
cdef int64_t NEVER = -FOREVER

cdef enum:
    WORDS = 6                   # of a queued row
    FOLLOWED = 5
    COMPACTED = 1024


cdef class CountingWindow(WindowOperator):
    """What it shows ends when so many triples or elements have followed.

    A row leaves at the element that brings the stream's count to its own number plus the window's, unless the same row came
    again by then: then the later one stands for both. Rows wait in order of their numbers, so those that leave are at the
    front, and an element costs what it brings and what it ends, however much the window holds.
    """

    def __cinit__(self, int64_t count, bint of_triples, Patterns patterns, Dictionary dictionary):
        self.count = count
        self.of_triples = of_triples
        self.sees_all = True
        self.patterns = patterns
        self.dictionary = dictionary
        keyed_open(&self.latest, 4, 1)

    def __dealloc__(self):
        keyed_close(&self.latest)
        block_free(self.queue, self.capacity * WORDS * sizeof(int64_t))

    cdef int arrive(self, Elements batch, Entries* out) except -1:
        cdef int64_t element, i = 0, at, total, at_tick, number
        cdef int64_t row[4]
        cdef int64_t* queued
        cdef int32_t slot
        self.patterns.among(batch)
        for element in range(batch.length):
            at_tick = 4 * batch.at_ms[element] + ELEMENT
            total = batch.total[element] if self.of_triples else batch.first_element + element
            while i < self.patterns.size and batch.element[self.patterns.row[i]] == element:
                at = self.patterns.row[i]
                row[0], row[1], row[2], row[3] = self.patterns.pattern[i], batch.s[at], batch.p[at], batch.o[at]
                number = batch.number[at] if self.of_triples else total
                self.enter(number, row, at_tick)
                entries_put(out, at_tick, 2 * batch.order[element] + 1, FOREVER, row, 1, self.source)
                i += 1
            while self.first < self.last and self.queue[self.first * WORDS] <= total - self.count:
                queued = self.queue + self.first * WORDS
                self.first += 1
                if queued[FOLLOWED]:
                    self.followed -= 1
                    continue
                entries_put(out, at_tick, 2 * batch.order[element] + 1, FOREVER, queued + 1, -1, self.source)
                self.release(queued + 1, at_tick)
                slot = keyed_find(&self.latest, queued + 1, keyed_hash(&self.latest, queued + 1))
                keyed_drop(&self.latest, slot)
        if self.followed > max(<int64_t>COMPACTED, (self.last - self.first) // 2):
            self.compact()
        return 0

    cdef int enter(self, int64_t number, const int64_t* row, int64_t at_tick) except -1:
        """Adds a row; the same one before it leaves no earlier than with this element, so this one stands for it."""
        cdef int32_t slot
        cdef int64_t* place
        cdef int64_t* before
        self.hold(row)
        self.append(number, row)
        slot = keyed_find(&self.latest, row, keyed_hash(&self.latest, row))
        if slot >= 0:
            place = keyed_at(&self.latest, slot) + 4
            before = self.queue + (place[0] - self.offset) * WORDS
            before[FOLLOWED] = 1
            self.followed += 1
            self.release(before + 1, at_tick)
        else:
            place = keyed_at(&self.latest, keyed_get(&self.latest, row, keyed_hash(&self.latest, row))) + 4
        place[0] = self.offset + self.last - 1
        return 0

    cdef void append(self, int64_t number, const int64_t* row) noexcept nogil:
        cdef int64_t capacity, i
        cdef int64_t* into
        if self.last == self.capacity:
            if 2 * self.first > self.capacity:
                # At least half of the room is free afterwards, so that moving is paid for by the rows that fill it.
                memmove(self.queue, self.queue + self.first * WORDS, (self.last - self.first) * WORDS * sizeof(int64_t))
                self.offset += self.first
                self.last -= self.first
                self.first = 0
            else:
                capacity = max(64, 2 * self.capacity)
                self.queue = <int64_t*>block_resize(
                    self.queue, self.capacity * WORDS * sizeof(int64_t), capacity * WORDS * sizeof(int64_t)
                )
                self.capacity = capacity
        into = self.queue + self.last * WORDS
        into[0] = number
        for i in range(4):
            into[1 + i] = row[i]
        into[FOLLOWED] = 0
        self.last += 1

    cdef void compact(self) noexcept nogil:
        """Forgets rows that a later one stands for."""
        cdef int64_t i, kept = 0, word
        cdef int64_t* row
        for i in range(self.first, self.last):
            row = self.queue + i * WORDS
            if row[FOLLOWED]:
                continue
            keyed_at(
                &self.latest, keyed_find(&self.latest, row + 1, keyed_hash(&self.latest, row + 1))
            )[4] = self.offset + kept
            for word in range(WORDS):
                self.queue[kept * WORDS + word] = row[word]
            kept += 1
        self.first = 0
        self.last = kept
        self.followed = 0

    def close(self, int64_t at_tick):
        cdef int64_t i
        for i in range(self.first, self.last):
            if not self.queue[i * WORDS + FOLLOWED]:
                self.release(self.queue + i * WORDS + 1, at_tick)
        self.first = self.last = 0

    def held(self):
        """Rows of number, pattern, s, p, o."""
        cdef int64_t i
        cdef int64_t* row
        found = []
        for i in range(self.first, self.last):
            row = self.queue + i * WORDS
            if not row[FOLLOWED]:
                found.append((row[0], row[1], row[2], row[3], row[4]))
        return np.array(found, np.int64).reshape(-1, 5)

    def hold_again(self, const int64_t[:, :] rows):
        """Takes what `held` gave."""
        cdef int64_t i, j
        cdef int64_t row[4]
        for i in range(rows.shape[0]):
            for j in range(4):
                row[j] = rows[i, 1 + j]
            self.enter(rows[i, 0], row, NEVER)

    @property
    def queued(self):
        """How many rows wait, those included that a later one stands for."""
        return self.last - self.first

    @property
    def last_number(self):
        """The number of the last row, 0 without any."""
        return self.queue[(self.last - 1) * WORDS] if self.last > self.first else 0


cdef class TogetherWindow(WindowOperator):
    """What it shows enters without an end, and leaves together."""

    def __cinit__(self, *args, **kwargs):
        self.sees_all = True
        keyed_open(&self.rows, 4, 1)

    def __dealloc__(self):
        keyed_close(&self.rows)

    cdef int enter(self, const int64_t* row) except -1:
        cdef int64_t live = self.rows.records.live
        keyed_get(&self.rows, row, keyed_hash(&self.rows, row))
        if self.rows.records.live > live:
            self.hold(row)
        return 0

    cdef int64_t show(self, Elements batch, int64_t element, int64_t i, Entries* out) except -1:
        """What matches of an element enters, the i-th match and those behind it; gives where those of the next begin."""
        cdef int64_t at
        cdef int64_t row[4]
        while i < self.patterns.size and batch.element[self.patterns.row[i]] == element:
            at = self.patterns.row[i]
            row[0], row[1], row[2], row[3] = self.patterns.pattern[i], batch.s[at], batch.p[at], batch.o[at]
            self.enter(row)
            entries_put(
                out, tick_of(batch.at_ms[element], ELEMENT), 2 * batch.order[element] + 1, FOREVER, row, 1, self.source
            )
            i += 1
        return i

    cdef int leave(self, int64_t at_tick, int64_t order, Entries* out) except -1:
        """All that is held leaves, as far as somebody wants to know."""
        cdef int32_t number
        cdef int64_t* row
        if self.rows.records.live == 0:
            return 0
        # Records are numbered without gaps: they come one by one and leave together.
        for number in range(<int32_t>self.rows.records.size):
            row = keyed_at(&self.rows, number)
            if out != NULL:
                entries_put(out, at_tick, order, FOREVER, row, -1, self.source)
            self.release(row, at_tick)
            keyed_drop(&self.rows, number)
        self.rows.records.size = 0
        self.rows.records.free = -1
        return 0

    def close(self, int64_t at_tick):
        self.leave(at_tick, 0, NULL)

    def held(self):
        """Rows of pattern, s, p, o."""
        cdef int32_t number
        cdef int64_t* row
        found = []
        for number in range(<int32_t>self.rows.records.size):
            row = keyed_at(&self.rows, number)
            found.append((row[0], row[1], row[2], row[3]))
        return np.array(found, np.int64).reshape(-1, 4)

    def hold_again(self, const int64_t[:, :] rows):
        """Takes what `held` gave."""
        cdef int64_t i, j
        cdef int64_t row[4]
        for i in range(rows.shape[0]):
            for j in range(4):
                row[j] = rows[i, j]
            self.enter(row)


cdef class LastElementWindow(TogetherWindow):
    """One element at a time, emptied as a change of its own before the stream's next."""

    def __cinit__(self, Patterns patterns, Dictionary dictionary):
        self.patterns = patterns
        self.dictionary = dictionary

    cdef int arrive(self, Elements batch, Entries* out) except -1:
        cdef int64_t element, i = 0
        self.patterns.among(batch)
        for element in range(batch.length):
            self.leave(tick_of(batch.at_ms[element], ELEMENT), 2 * batch.order[element], out)
            i = self.show(batch, element, i, out)
        return 0


cdef class SilentWindow(TogetherWindow):
    """Every element, matched or not, puts the end off; one that comes at the end or later begins anew."""

    def __cinit__(self, int64_t gap_ms, Patterns patterns, Dictionary dictionary):
        self.gap_ms = gap_ms
        self.patterns = patterns
        self.dictionary = dictionary
        self.acts = True
        self.end = self.latest_end = NEVER

    cdef int64_t end_after(self, int64_t at_ms) noexcept nogil:
        return tick_of(at_ms + self.gap_ms, EXPIRY)

    cdef int arrive(self, Elements batch, Entries* out) except -1:
        cdef int64_t element, i = 0
        self.patterns.among(batch)
        for element in range(batch.length):
            if tick_of(batch.at_ms[element], ELEMENT) > self.end:
                self.leave(self.end, 0, out)
                self.has_triples = False
            # Those without triples put an end off, but have none of their own.
            self.end = self.end_after(batch.at_ms[element])
            self.has_triples |= batch.total[element] > (batch.total[element - 1] if element else batch.triples_before)
            if self.has_triples and batch.prolongs and self.end < FOREVER:
                self.latest_end = self.end
            i = self.show(batch, element, i, out)
        self.look_ahead()
        return 0

    cdef void look_ahead(self) noexcept nogil:
        self.due = self.end if self.has_triples else FOREVER

    cdef int pass_time(self, int64_t before, Entries* out) except -1:
        if self.end >= before:
            return 0
        self.leave(self.end, 0, out)
        self.end = NEVER
        self.has_triples = False
        self.look_ahead()
        return 0

    def end_of(self, int64_t at_ms):
        return self.end_after(at_ms)

    def last_end(self):
        return self.latest_end

    def state(self):
        """The last end that time goes on for, when it ends, and whether anything ends then."""
        return self.latest_end, self.end, bool(self.has_triples)

    def go_on(self, int64_t last_end, int64_t end, bint has_triples):
        """Takes what `state` gave."""
        self.latest_end = last_end
        self.end = end
        self.has_triples = has_triples
        self.look_ahead()
