"""A set of triples of ids, whose terms stay in the dictionary while it has them.

    record:     s, p, o | links: next, prev         both in one word
    predicate:  p | the first of its triples, how many there are

The triples of a predicate are chained, the latest first, so that who asks for some predicates is not shown the whole set.

Invariants
- `Links.next` is a number plus one, 0 behind the last of a chain; `Links.prev` a number plus FOLLOWS, FIRST for the first of
  a chain, and 0 in a record that was just made: so it also tells whether a triple was there.
- A predicate is in its table while it has triples: its id may mean another term afterwards.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy

from millstream.kernels.containers.hash_index cimport prefetch_slot
from millstream.kernels.containers.keyed cimport (
    Keyed, keyed_add, keyed_ask, keyed_at, keyed_close, keyed_drop, keyed_find, keyed_get, keyed_hash, keyed_open,
)
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.matching.intake cimport Intake

cnp.import_array()

cdef enum:
    AHEAD = 32                  # triples that are looked at together
    FIRST = 1                   # Links.prev
    FOLLOWS = 2
    CHAIN = 1                   # what a predicate's record keeps: the first of its triples plus one, and their number
    COUNT = 2


cdef class TripleSet:
    """Says which inserts and deletes really change it."""

    def __cinit__(self, Dictionary dictionary not None):
        self.dictionary = dictionary
        keyed_open(&self.rows, 3, 1)
        keyed_open(&self.predicates, 1, 2)

    def __dealloc__(self):
        keyed_close(&self.rows)
        keyed_close(&self.predicates)

    cdef Links* links(self, int64_t number) noexcept nogil:
        return <Links*>(keyed_at(&self.rows, number) + 3)

    cdef int64_t* predicate(self, int64_t p) noexcept nogil:
        """The record of a predicate, made if there is none."""
        cdef int32_t* recent = &self.recent[p & (RECENT - 1)]
        if recent[0] == 0 or keyed_at(&self.predicates, recent[0] - 1)[0] != p:
            recent[0] = keyed_get(&self.predicates, &p, keyed_hash(&self.predicates, &p)) + 1
        return keyed_at(&self.predicates, recent[0] - 1)

    cdef void chain(self, int32_t number, int64_t p) noexcept nogil:
        """Puts a triple before the others of its predicate."""
        cdef int64_t* record = self.predicate(p)
        cdef Links* links = self.links(number)
        links.next = <int32_t>record[CHAIN]
        links.prev = FIRST
        if links.next:
            self.links(links.next - 1).prev = number + FOLLOWS
        record[CHAIN] = number + 1
        record[COUNT] += 1

    cdef void unchain(self, int32_t number, int64_t p) noexcept nogil:
        cdef int64_t* record = self.predicate(p)
        cdef Links* links = self.links(number)
        if links.next:
            self.links(links.next - 1).prev = links.prev
        if links.prev == FIRST:
            record[CHAIN] = links.next
        else:
            self.links(links.prev - FOLLOWS).next = links.next
        record[COUNT] -= 1
        if record[COUNT] == 0:
            keyed_drop(&self.predicates, self.recent[p & (RECENT - 1)] - 1)
            self.recent[p & (RECENT - 1)] = 0

    cdef bint add(self, const int64_t* row, uint32_t hash) except -1:
        """Adds a triple; whether it was not there."""
        cdef int32_t number = keyed_add(&self.rows, row, hash)
        if self.links(number).prev:
            return False
        self.dictionary.hold_one(row[0])
        self.dictionary.hold_one(row[1])
        self.dictionary.hold_one(row[2])
        self.chain(number, row[1])
        return True

    cdef bint remove(self, const int64_t* row, uint32_t hash, int64_t at_tick) except -1:
        """Takes a triple away; whether it was there."""
        cdef int32_t number = keyed_find(&self.rows, row, hash)
        if number < 0:
            return False
        self.unchain(number, row[1])
        keyed_drop(&self.rows, number)
        self.dictionary.release_one(row[0], at_tick)
        self.dictionary.release_one(row[1], at_tick)
        self.dictionary.release_one(row[2], at_tick)
        return True

    cdef int64_t apply(self, int64_t n, const int64_t* ids, int64_t row_step, int64_t column_step, Signs signs,
                       int64_t* where) except -1:
        """Adds triples and takes them away, in order; writes the places of those that really came or went, and gives their
        number.

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
        cdef int64_t few[AHEAD]
        cdef int64_t sign = op, n, at, i
        cdef int64_t* where = &few[0]
        cdef int place
        if triples is None:
            raise TypeError("expected Intake, got None")
        n = triples.size
        if n <= AHEAD:
            at = self.apply(n, triples.words, 1, n, Signs(&sign, &at_tick, 0), where)
            if at == n:
                return triples
        kept = Intake.__new__(Intake)
        kept.make_room(n)
        if n > AHEAD:
            # In the column of places, which is written when the rows are.
            where = kept.words + 3 * n
            at = self.apply(n, triples.words, 1, n, Signs(&sign, &at_tick, 0), where)
        for i in range(at):
            for place in range(3):
                kept.words[place * n + i] = triples.words[place * n + where[i]]
            kept.words[3 * n + i] = where[i]
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
        # A record that is free names a predicate without triples, or one that has another record.
        return self.triples_of([keyed_at(&self.predicates, i)[0] for i in range(self.predicates.records.size)])

    def triples_of(self, predicates):
        """Those with one of some predicates, one predicate after the other."""
        cdef int64_t size = 0, at = 0, p
        cdef int32_t number
        cdef list found = []
        for p in dict.fromkeys(predicates):
            number = keyed_find(&self.predicates, &p, keyed_hash(&self.predicates, &p))
            if number >= 0:
                found.append(number)
                size += keyed_at(&self.predicates, number)[COUNT]
        triples = np.empty((size, 3), np.int64)
        cdef int64_t* into = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>triples)
        for chain in found:
            number = <int32_t>keyed_at(&self.predicates, chain)[CHAIN] - 1
            while number >= 0:
                memcpy(into + 3 * at, keyed_at(&self.rows, number), 3 * sizeof(int64_t))
                number = self.links(number).next - 1
                at += 1
        return triples
