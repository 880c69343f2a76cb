"""A set of triples of ids, whose terms stay in the dictionary while it has them."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from millstream.kernels.containers.keyed cimport (
    Keyed, keyed_at, keyed_close, keyed_drop, keyed_find, keyed_get, keyed_hash, keyed_open,
)
from millstream.kernels.containers.records cimport next_free
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.matching.elements cimport Intake

cnp.import_array()


cdef class TripleSet:
    """Says which inserts and deletes really change it."""

    def __cinit__(self, Dictionary dictionary not None):
        self.dictionary = dictionary
        keyed_open(&self.rows, 3, 1)

    def __dealloc__(self):
        keyed_close(&self.rows)

    cdef bint add(self, const int64_t* row) except -1:
        """Adds a triple; whether it was not there."""
        cdef int64_t* record = keyed_at(&self.rows, keyed_get(&self.rows, row, keyed_hash(&self.rows, row)))
        if record[3]:
            return False
        self.dictionary.hold_one(row[0])
        self.dictionary.hold_one(row[1])
        self.dictionary.hold_one(row[2])
        record[3] = 1
        return True

    cdef bint remove(self, const int64_t* row, int64_t at_tick) except -1:
        """Takes a triple away; whether it was there."""
        cdef int32_t number = keyed_find(&self.rows, row, keyed_hash(&self.rows, row))
        if number < 0:
            return False
        keyed_drop(&self.rows, number)
        self.dictionary.release_one(row[0], at_tick)
        self.dictionary.release_one(row[1], at_tick)
        self.dictionary.release_one(row[2], at_tick)
        return True

    cpdef Intake changed(self, Intake triples, int op, int64_t at_tick):
        """Adds triples (op 1) or takes them away (-1); gives those that really came or went, in order."""
        cdef Intake kept
        cdef int64_t row[3]
        cdef int64_t n, i, at = 0
        cdef int place
        if triples is None:
            raise TypeError("expected Intake, got None")
        n = triples.size
        kept = Intake.__new__(Intake)
        kept.make_room(n)
        for i in range(n):
            for place in range(3):
                row[place] = triples.words[place * n + i]
            if self.add(row) if op > 0 else self.remove(row, at_tick):
                for place in range(3):
                    kept.words[place * n + at] = row[place]
                at += 1
        kept.end(at)
        return kept

    def insert_where(self, triples):
        """Adds triples; gives the places of those that were not there, in order."""
        cdef cnp.ndarray given = np.ascontiguousarray(triples, np.int64)
        cdef const int64_t* row = <const int64_t*>cnp.PyArray_DATA(given)
        cdef int64_t n = len(given), i, kept = 0
        cdef int64_t[::1] into
        where = np.empty(n, np.int64)
        into = where
        for i in range(n):
            if self.add(row + 3 * i):
                into[kept] = i
                kept += 1
        return where[:kept]

    def delete_where(self, triples, int64_t at_tick):
        """Takes triples away; gives the places of those that were there, in order."""
        cdef cnp.ndarray given = np.ascontiguousarray(triples, np.int64)
        cdef const int64_t* row = <const int64_t*>cnp.PyArray_DATA(given)
        cdef int64_t n = len(given), i, kept = 0
        cdef int64_t[::1] into
        where = np.empty(n, np.int64)
        into = where
        for i in range(n):
            if self.remove(row + 3 * i, at_tick):
                into[kept] = i
                kept += 1
        return where[:kept]

    def change_where(self, triples, op, ticks):
        """Adds (op 1) and takes away (-1) triples one after the other, each at a tick; gives the places of those that
        changed it.
        """
        cdef cnp.ndarray given = np.ascontiguousarray(triples, np.int64)
        cdef cnp.ndarray ops = np.ascontiguousarray(op, np.int64)
        cdef cnp.ndarray at = np.ascontiguousarray(ticks, np.int64)
        cdef const int64_t* row = <const int64_t*>cnp.PyArray_DATA(given)
        cdef const int64_t* sign = <const int64_t*>cnp.PyArray_DATA(ops)
        cdef const int64_t* tick = <const int64_t*>cnp.PyArray_DATA(at)
        cdef int64_t n = len(given), i, kept = 0
        cdef int64_t[::1] into
        if given.ndim != 2 or given.shape[1] != 3 or ops.ndim != 1 or at.ndim != 1 or len(ops) != n or len(at) != n:
            raise ValueError("columns differ in length")
        where = np.empty(n, np.int64)
        into = where
        for i in range(n):
            if self.add(row + 3 * i) if sign[i] > 0 else self.remove(row + 3 * i, tick[i]):
                into[kept] = i
                kept += 1
        return where[:kept]

    def insert(self, triples):
        """Adds triples; gives those that were not there, in order."""
        where = self.insert_where(triples)
        return triples if len(where) == len(triples) else triples[where]

    def delete(self, triples, int64_t at_tick):
        """Takes triples away; gives those that were there, in order."""
        where = self.delete_where(triples, at_tick)
        return triples if len(where) == len(triples) else triples[where]

    @property
    def size(self):
        return self.rows.records.live

    def triples(self):
        """All of them, in no order that means anything."""
        cdef int64_t size = self.rows.records.size, i, at = 0
        cdef int32_t number = self.rows.records.free
        free = np.zeros(size, np.uint8)
        found = np.empty((self.rows.records.live, 3), np.int64)
        cdef uint8_t[::1] is_free = free
        cdef int64_t[:, ::1] into = found
        while number >= 0:
            is_free[number] = 1
            number = next_free(&self.rows.records, self.rows.stride * sizeof(int64_t), number)[0]
        for i in range(size):
            if not is_free[i]:
                memcpy(&into[at, 0], keyed_at(&self.rows, i), 3 * sizeof(int64_t))
                at += 1
        return found
