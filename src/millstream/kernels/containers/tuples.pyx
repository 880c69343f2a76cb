"""Numbers for tuples of ids, so that relations wider than two become pairs.

R(a, b, c) is a hidden variable t with the pairs (t, a), (t, b), (t, c): a join fed with them in order answers at the last
one, and at the first one that ends. A tuple has one number while it is live: the number may be given to another tuple as
soon as the tuple has ended, when every pair that was fed with it is dead too. A record is the ids, the end, and a word for
the free list; numbers are record numbers with a bit set that sets them apart from other ids.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint32_t

from millstream.kernels.containers.agenda cimport (
    FOREVER, NEVER, Note, agenda_bytes, agenda_close, agenda_open, agenda_pop, agenda_put,
)
from millstream.kernels.containers.hash_index cimport (
    Probe, index_bytes, index_close, index_drop, index_open, index_put, probe, probe_next, words_hash,
)
from millstream.kernels.containers.memory cimport block_free
from millstream.kernels.containers.records cimport record_free, record_new

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
        self.stride = width + 2
        self.records.free = -1
        index_open(&self.index)
        agenda_open(&self.agenda, 1)

    def __dealloc__(self):
        block_free(self.records.data, self.records.capacity * self.stride * sizeof(int64_t))
        index_close(&self.index)
        agenda_close(&self.agenda)

    cdef int64_t* record(self, int64_t number) noexcept nogil:
        return (<int64_t*>self.records.data) + number * self.stride

    cdef uint32_t hash(self, const int64_t* ids) noexcept nogil:
        return words_hash(ids, self.width)

    cdef int32_t find_row(self, const int64_t* wanted, uint32_t hash) noexcept nogil:
        cdef Probe found = probe(&self.index, hash)
        cdef int32_t number
        cdef int64_t* ids
        cdef int i
        while True:
            number = probe_next(&self.index, &found)
            if number < 0:
                return -1
            ids = self.record(number)
            i = 0
            while i < self.width and ids[i] == wanted[i]:
                i += 1
            if i == self.width:
                return number

    cdef void forget(self, int32_t number) noexcept nogil:
        index_drop(&self.index, self.hash(self.record(number)), number)
        self.record(number)[0] = -1
        record_free(&self.records, self.stride * sizeof(int64_t), number)

    cdef void expire_some(self, int64_t now, int64_t most) noexcept nogil:
        cdef int32_t number
        while most > 0 and self.agenda.next_tick <= now:
            most -= 1
            number = agenda_pop(&self.agenda).number
            if self.record(number)[0] >= 0 and self.record(number)[self.width] <= now:
                self.forget(number)

    cdef int32_t enter(self, const int64_t* ids, int64_t until) noexcept nogil:
        cdef uint32_t hash = self.hash(ids)
        cdef int32_t number = self.find_row(ids, hash)
        cdef Note due
        cdef int i
        if number < 0:
            number = record_new(&self.records, self.stride * sizeof(int64_t))
            for i in range(self.width):
                self.record(number)[i] = ids[i]
            self.record(number)[self.width] = NEVER
            index_put(&self.index, hash, number)
        if until > self.record(number)[self.width]:
            self.record(number)[self.width] = until
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
        cdef int32_t number = self.find_row(ids, self.hash(ids))
        if number < 0:
            return -1
        self.forget(number)
        return number

    cdef int64_t number_of(self, const int64_t* ids, int64_t now, int64_t until, bint inserted) noexcept nogil:
        """As `intern` of one tuple, whose ids are not negative."""
        cdef int64_t number
        self.expire_some(now, EXPIRED_A_ROW)
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

    def find(self, columns):
        """The numbers of tuples, -1 for those that have none."""
        self.check(columns)
        cdef const int64_t[:, ::1] rows = np.ascontiguousarray(columns)
        cdef int64_t i, n = rows.shape[0]
        cdef int32_t number
        numbers = np.empty(n, np.int64)
        cdef int64_t[::1] into = numbers
        with nogil:
            for i in range(n):
                number = self.find_row(&rows[i, 0], self.hash(&rows[i, 0]))
                into[i] = -1 if number < 0 else (<int64_t>1 << 62) | number
        return numbers

    def expire(self, int64_t now):
        """Forgets the tuples that have ended at `now`."""
        with nogil:
            self.expire_some(now, FOREVER)

    @property
    def stats(self):
        return {
            "tuples": int(self.records.live),
            "bytes": int(self.records.capacity * self.stride * <int64_t>sizeof(int64_t) + index_bytes(&self.index)
                         + agenda_bytes(&self.agenda)),
        }
