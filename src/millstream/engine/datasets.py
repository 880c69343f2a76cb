"""The graphs at rest: their triples as ids, and which inserts and deletes really change them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary import Dictionary
from millstream.kernels.tuples import TUPLE, TupleTable
from millstream.operators import stored
from millstream.operators.rows import FOREVER

Triples = npt.NDArray[np.int64]


class Graph:
    """A set of triples. Its terms stay in the dictionary while it has them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._numbers = TupleTable(3)
        self._rows = np.empty((1024, 3), np.int64)
        self._present = np.zeros(1024, np.bool_)
        self.size = 0

    def insert(self, triples: Triples) -> Triples:
        """Adds triples; gives those that were not there, in order."""
        fresh: Triples = triples[self.insert_where(triples)]
        return fresh

    def insert_where(self, triples: Triples) -> npt.NDArray[np.int64]:
        """As `insert`, giving their places."""
        missing = np.flatnonzero(self._numbers.find(triples) < 0)
        if not len(missing):
            return missing
        places = self._intern(triples[missing], 1)
        first = _first_of_each(places)
        places, where = places[first], missing[first]
        fresh = triples[where]
        self._make_room(int(places.max()) + 1)
        self._rows[places] = fresh
        self._present[places] = True
        self._dictionary.hold(fresh.ravel())
        self.size += len(fresh)
        return where

    def restore(self, triples: Any) -> None:
        """Takes back what `triples` gave."""
        found = stored.triples(triples, self._dictionary)
        if self.size or len(self.insert_where(found)) < len(found):
            raise ValueError("a graph has a triple twice")

    def delete(self, triples: Triples, at_tick: int) -> Triples:
        """Takes triples away; gives those that were there, in order."""
        gone: Triples = triples[self.delete_where(triples, at_tick)]
        return gone

    def delete_where(self, triples: Triples, at_tick: int) -> npt.NDArray[np.int64]:
        """As `delete`, giving their places."""
        numbers = self._numbers.find(triples)
        there = np.flatnonzero(numbers >= 0)
        where = there[_first_of_each(numbers[there])]
        if len(where):
            gone = triples[where]
            self._present[self._intern(gone, -1)] = False
            self._dictionary.release(gone.ravel(), at_tick)
            self.size -= len(gone)
        return where

    def insert_one(self, triple: tuple[int, int, int]) -> bool:
        """As `insert` of one; whether it was not there."""
        number = self._numbers.enter_one(triple)
        if number < 0:
            return False
        place = number - TUPLE
        self._make_room(place + 1)
        self._rows[place] = triple
        self._present[place] = True
        self._dictionary.hold(np.array(triple, np.int64))
        self.size += 1
        return True

    def delete_one(self, triple: tuple[int, int, int], at_tick: int) -> bool:
        """As `delete` of one; whether it was there."""
        number = self._numbers.leave_one(triple)
        if number < 0:
            return False
        self._present[number - TUPLE] = False
        self._dictionary.release(np.array(triple, np.int64), at_tick)
        self.size -= 1
        return True

    def triples(self) -> Triples:
        """All of them, in no order that means anything."""
        found: Triples = self._rows[self._present]
        return found

    def _intern(self, triples: Triples, op: int) -> npt.NDArray[np.int64]:
        size = len(triples)
        now, until, ops = (np.full(size, value, np.int64) for value in (0, FOREVER, op))
        places: npt.NDArray[np.int64] = self._numbers.intern(triples, now, until, ops) - TUPLE
        return places

    def _make_room(self, size: int) -> None:
        capacity = len(self._present)
        if size <= capacity:
            return
        capacity = max(size, 2 * capacity)
        rows, present = np.empty((capacity, 3), np.int64), np.zeros(capacity, np.bool_)
        rows[: len(self._rows)] = self._rows
        present[: len(self._present)] = self._present
        self._rows, self._present = rows, present


def _first_of_each(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where each number stands first, in order."""
    _, first = np.unique(numbers, return_index=True)
    first.sort()
    return first
