"""A set of triples of ids, whose terms stay in the dictionary while it has them."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from millstream.kernels.containers.hash_index cimport prefetch_slot
from millstream.kernels.containers.keyed cimport (
    Keyed, keyed_add, keyed_ask, keyed_at, keyed_close, keyed_drop, keyed_find, keyed_hash, keyed_open,
)
from millstream.kernels.containers.records cimport next_free
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.matching.intake cimport Intake

cnp.import_array()

cdef enum:
    AHEAD = 32                  # triples that are looked at together


cdef class TripleSet:
    """Says which inserts and deletes really change it."""

    def __cinit__(self, Dictionary dictionary not None):
        self.dictionary = dictionary
        keyed_open(&self.rows, 3, 1)

    def __dealloc__(self):
        keyed_close(&self.rows)

    cdef bint add(self, const int64_t* row, uint32_t hash) except -1:
        """Adds a triple; whether it was not there."""
        cdef int64_t* record = keyed_at(&self.rows, keyed_add(&self.rows, row, hash))
        if record[3]:
            return False
        self.dictionary.hold_one(row[0])
        self.dictionary.hold_one(row[1])
        self.dictionary.hold_one(row[2])
        record[3] = 1
        return True

    cdef bint remove(self, const int64_t* row, uint32_t hash, int64_t at_tick) except -1:
        """Takes a triple away; whether it was there."""
        cdef int32_t number = keyed_find(&self.rows, row, hash)
        if number < 0:
            return False
        keyed_drop(&self.rows, number)
        self.dictionary.release_one(row[0], at_tick)
        self.dictionary.release_one(row[1], at_tick)
        self.dictionary.release_one(row[2], at_tick)
        return True

    cdef int64_t apply(self, int64_t n, const int64_t* ids, int64_t row_step, int64_t column_step, Signs signs,
                       int64_t* where) except -1:
        """Adds triples and takes them away, in order; writes the places of those that really came or went, gives their number.

        What a block of triples will touch is asked for before their turn: each is somewhere else in memory.
        """
        cdef int64_t rows[3 * AHEAD]
        cdef uint32_t hashes[AHEAD]
        cdef int64_t first = 0, block, i, kept = 0
        cdef int place
        while first < n:
            block = min(<int64_t>AHEAD, n - first)
            for i in range(block):
                for place in range(3):
                    rows[3 * i + place] = ids[(first + i) * row_step + place * column_step]
                    self.dictionary.ask_for(rows[3 * i + place])
                hashes[i] = keyed_hash(&self.rows, &rows[3 * i])
                prefetch_slot(&self.rows.index, hashes[i])
            for i in range(block if block > 1 else 0):
                keyed_ask(&self.rows, hashes[i])
            for i in range(block):
                if (self.add(&rows[3 * i], hashes[i]) if signs.op[(first + i) * signs.step] > 0
                        else self.remove(&rows[3 * i], hashes[i], signs.tick[(first + i) * signs.step])):
                    where[kept] = first + i
                    kept += 1
            first += block
        return kept

    cpdef Intake changed(self, Intake triples, int op, int64_t at_tick):
        """Adds triples (op 1) or takes them away (-1); gives those that really came or went, in order."""
        cdef Intake kept
        cdef int64_t sign = op, n, at, i
        cdef int64_t* where
        cdef int place
        if triples is None:
            raise TypeError("expected Intake, got None")
        n = triples.size
        kept = Intake.__new__(Intake)
        kept.make_room(n)
        # In the column of places, which is written when the rows are.
        where = kept.words + 3 * n
        at = self.apply(n, triples.words, 1, n, Signs(&sign, &at_tick, 0), where)
        for i in range(at):
            for place in range(3):
                kept.words[place * n + i] = triples.words[place * n + where[i]]
        kept.end(at)
        return kept

    cdef cnp.ndarray places(self, triples, Signs signs, int64_t expected):
        """The places of rows of `triples` that really changed it; expected are so many, or any number if -1."""
        cdef cnp.ndarray given = np.ascontiguousarray(triples, np.int64)
        cdef cnp.npy_intp n
        cdef cnp.ndarray where
        if given.ndim != 2 or given.shape[1] != 3 or (expected >= 0 and given.shape[0] != expected):
            raise ValueError("columns differ in length")
        n = given.shape[0]
        where = cnp.PyArray_EMPTY(1, &n, cnp.NPY_INT64, 0)
        kept = self.apply(n, <const int64_t*>cnp.PyArray_DATA(given), 3, 1, signs, <int64_t*>cnp.PyArray_DATA(where))
        return where[:kept]

    def insert_where(self, triples):
        """Adds triples; gives the places of those that were not there, in order."""
        cdef int64_t sign = 1
        return self.places(triples, Signs(&sign, NULL, 0), -1)

    def delete_where(self, triples, int64_t at_tick):
        """Takes triples away; gives the places of those that were there, in order."""
        cdef int64_t sign = -1
        return self.places(triples, Signs(&sign, &at_tick, 0), -1)

    def change_where(self, triples, op, ticks):
        """Adds (op 1) and takes away (-1) triples one after the other, each at a tick; gives the places of those that
        changed it.
        """
        cdef cnp.ndarray ops = np.ascontiguousarray(op, np.int64)
        cdef cnp.ndarray at = np.ascontiguousarray(ticks, np.int64)
        if ops.ndim != 1 or at.ndim != 1 or len(ops) != len(at):
            raise ValueError("columns differ in length")
        return self.places(
            triples, Signs(<const int64_t*>cnp.PyArray_DATA(ops), <const int64_t*>cnp.PyArray_DATA(at), 1), len(ops)
        )

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
