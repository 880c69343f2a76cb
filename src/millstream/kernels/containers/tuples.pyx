"""Numbers for tuples of ids, so that relations wider than two become pairs.

R(a, b, c) is a hidden variable t with the pairs (t, a), (t, b), (t, c): a join fed with them in order answers at the last
one, and at the first one that ends. A tuple has one number while it is live: the number may be given to another tuple as
soon as the tuple has ended, when every pair that was fed with it is dead too. A record is the ids, the end, and a word for
the free list; numbers are record numbers with a bit set that sets them apart from other ids.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from millstream.kernels.containers.agenda cimport (
    FOREVER, NEVER, Note, agenda_bytes, agenda_close, agenda_open, agenda_pop, agenda_put,
)
from millstream.kernels.containers.keyed cimport (
    keyed_at, keyed_bytes, keyed_close, keyed_drop, keyed_find, keyed_get, keyed_hash, keyed_open,
)

cnp.import_array()

TUPLE = 1 << 62

cdef enum:
    EXPIRED_A_ROW = 4


@cython.final
cdef class TupleTable:
    """Live tuples of ids and their numbers."""

    def __cinit__(self, int width):
        if width < 1:
            raise ValueError(f"width must be at least 1, got {width}")
        self.width = width
        keyed_open(&self.tuples, width, 2)
        agenda_open(&self.agenda, 1)

    def __dealloc__(self):
        keyed_close(&self.tuples)
        agenda_close(&self.agenda)

    cdef void forget(self, int32_t number) noexcept nogil:
        keyed_drop(&self.tuples, number)
        keyed_at(&self.tuples, number)[0] = -1

    cdef void expire_some(self, int64_t now) noexcept nogil:
        """Forgets some of the tuples that have ended."""
        cdef int most = EXPIRED_A_ROW
        cdef int32_t number
        cdef int64_t* record
        while most > 0 and self.agenda.next_tick <= now:
            most -= 1
            number = agenda_pop(&self.agenda).number
            record = keyed_at(&self.tuples, number)
            if record[0] >= 0 and record[self.width] <= now:
                self.forget(number)

    cdef int32_t enter(self, const int64_t* ids, int64_t until) noexcept nogil:
        cdef int64_t live = self.tuples.records.live
        cdef int32_t number = keyed_get(&self.tuples, ids, keyed_hash(&self.tuples, ids))
        cdef int64_t* end = keyed_at(&self.tuples, number) + self.width
        cdef Note due
        if self.tuples.records.live > live:
            end[0] = NEVER
        if until > end[0]:
            end[0] = until
            if until < FOREVER:
                due.tick = until
                due.number = number
                due.kind = 0
                agenda_put(&self.agenda, 0, due)
        return number

    cdef check(self, columns):
        if columns.ndim != 2 or columns.shape[1] != self.width or (columns.size and columns.min() < 0):
            raise ValueError(f"expected {self.width} columns of ids that are not negative")

    cdef int64_t leave(self, const int64_t* ids) noexcept nogil:
        cdef int32_t number = keyed_find(&self.tuples, ids, keyed_hash(&self.tuples, ids))
        if number < 0:
            return -1
        self.forget(number)
        return number

    cdef int64_t number_of(self, const int64_t* ids, int64_t now, int64_t until, bint inserted) noexcept nogil:
        """As `intern` of one tuple, whose ids are not negative."""
        cdef int64_t number
        self.expire_some(now)
        number = self.enter(ids, until) if inserted else self.leave(ids)
        return -1 if number < 0 else (<int64_t>1 << 62) | number

    def intern(self, columns, const int64_t[::1] now, const int64_t[::1] until, const int64_t[::1] op):
        """The numbers of tuples, in order of change. Op 1: live until the latest end it was given, with a new number if it
        was not live. Op -1: ended now; its last number, -1 if it has none."""
        self.check(columns)
        cdef const int64_t[:, ::1] rows = np.ascontiguousarray(columns)
        cdef int64_t i, n = rows.shape[0]
        if not (now.shape[0] == until.shape[0] == op.shape[0] == n):
            raise ValueError("columns differ in length")
        numbers = np.empty(n, np.int64)
        cdef int64_t[::1] into = numbers
        with nogil:
            for i in range(n):
                into[i] = self.number_of(&rows[i, 0], now[i], until[i], op[i] > 0)
        return numbers

    @property
    def stats(self):
        return {
            "tuples": int(self.tuples.records.live),
            "bytes": int(keyed_bytes(&self.tuples) + agenda_bytes(&self.agenda)),
        }
