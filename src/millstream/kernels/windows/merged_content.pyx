"""A default graph put together from several windows and graphs: a set union, each part with its own ends.

    record:  pattern, s, p, o | until when each part has the row, NEVER if it does not

A row is seen while some part has it. So an end in one part shortens what is seen only where no other part lasts longer, and
what a part brings extends it only beyond the ends that are there already.

Invariants
- A record that is free has pattern GONE: notes of ends, which are never taken back, may speak of it.
- A row all of whose ends have passed is dropped by a note, a few of which are looked at with every change.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from millstream.kernels.containers.agenda cimport (
    FOREVER, LANES, NEVER, Note, agenda_close, agenda_open, agenda_pop, agenda_put,
)
from millstream.kernels.containers.keyed cimport (
    keyed_at, keyed_close, keyed_drop, keyed_find, keyed_get, keyed_hash, keyed_open,
)
from millstream.kernels.windows.window cimport Entry

cnp.import_array()

cdef enum:
    KEY = 4
    GONE = -1
    SWEPT = 4                   # notes looked at with a change, which adds one


cdef class MergedContent:
    """Says what changes of its parts change of their union."""

    def __cinit__(self, int parts, *args, **kwargs):
        if parts < 0:
            raise ValueError("a union has no negative number of parts")
        self.parts = parts
        # A record keeps something also in the union of nothing.
        keyed_open(&self.rows, KEY, max(1, parts))
        agenda_open(&self.agenda, min(parts, LANES))

    def __dealloc__(self):
        keyed_close(&self.rows)
        agenda_close(&self.agenda)

    cdef int64_t* ends(self, int32_t number) noexcept nogil:
        return keyed_at(&self.rows, number) + KEY

    cdef int64_t end(self, int32_t number, int64_t now) noexcept nogil:
        """Until when the union has a row, as seen now; NEVER if it does not."""
        cdef int64_t latest = NEVER
        cdef int part
        if number >= 0:
            for part in range(self.parts):
                latest = max(latest, self.ends(number)[part])
        return latest if latest > now else NEVER

    cdef int32_t find(self, const int64_t* key, bint make) noexcept nogil:
        """The record of a row, made if there is none, or -1."""
        cdef int64_t before = self.rows.records.live
        cdef int32_t number
        cdef int part
        if not make:
            return keyed_find(&self.rows, key, keyed_hash(&self.rows, key))
        number = keyed_get(&self.rows, key, keyed_hash(&self.rows, key))
        if self.rows.records.live > before:
            for part in range(self.parts):
                self.ends(number)[part] = NEVER
        return number

    cdef void extend(self, int32_t number, int part, int64_t until) noexcept nogil:
        """Lets a part have a row at least until a tick."""
        cdef Note note
        self.ends(number)[part] = max(self.ends(number)[part], until)
        if until < FOREVER:
            note.tick = until
            note.number = number
            note.kind = part
            agenda_put(&self.agenda, part if part < LANES else -1, note)

    cdef void drop(self, int32_t number) noexcept nogil:
        keyed_drop(&self.rows, number)
        keyed_at(&self.rows, number)[0] = GONE

    cdef void sweep(self, int64_t now) noexcept nogil:
        """Forgets a few rows that have ended."""
        cdef int i
        cdef Note note
        for i in range(SWEPT):
            if self.agenda.next_tick > now:
                return
            note = agenda_pop(&self.agenda)
            if keyed_at(&self.rows, note.number)[0] != GONE and self.end(note.number, now) == NEVER:
                self.drop(note.number)

    cdef int take(self, int part, const Entry* given, Entry* changes) except -1:
        """A change of a part's content as at most two of the union: a row is seen until some tick (op 1), or was so (-1)."""
        cdef int64_t key[KEY]
        cdef int64_t before, after
        cdef int32_t number
        cdef int i, count = 0
        if not 0 <= part < self.parts or given.pattern < 0:
            raise ValueError(f"there is no part {part}, or no pattern {given.pattern}")
        self.sweep(given.now)
        key[0], key[1], key[2], key[3] = given.pattern, given.s, given.p, given.o
        number = self.find(key, given.op > 0)
        before = self.end(number, given.now)
        if given.op > 0:
            self.extend(number, part, given.until)
        elif number >= 0:
            self.ends(number)[part] = NEVER
            for i in range(self.parts):
                if self.ends(number)[i] != NEVER:
                    break
            else:
                self.drop(number)
                number = -1
        after = self.end(number, given.now)
        if after < before:
            changes[count] = given[0]
            changes[count].until, changes[count].op = before, -1
            count += 1
        if after != before and after > given.now:
            changes[count] = given[0]
            changes[count].until, changes[count].op = after, 1
            count += 1
        return count

    def held(self):
        """All rows: pattern, s, p, o, and an end for each part, the least of all numbers where it does not have the row."""
        cdef int64_t i, at = 0, width = KEY + self.parts
        found = np.empty((self.rows.records.live, width), np.int64)
        cdef int64_t[:, ::1] into = found
        for i in range(self.rows.records.size):
            if keyed_at(&self.rows, i)[0] != GONE:
                memcpy(&into[at, 0], keyed_at(&self.rows, i), width * sizeof(int64_t))
                at += 1
        return found

    def hold(self, const int64_t[::1] key, int part, int64_t until):
        """Lets a part have a row until some tick, and tells nobody."""
        if key.shape[0] != KEY or key[0] < 0 or not 0 <= part < self.parts:
            raise ValueError("a row is a pattern and a triple, and belongs to a part that is there")
        self.extend(self.find(&key[0], True), part, until)
