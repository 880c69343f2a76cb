"""Operators that need to know little: unions, constants, ASK, rows to be sent on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from millstream.kernels.deltas import PythonOperator
from millstream.kernels.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.operators.deltas import consolidated, empty, merged
from millstream.operators.keeping import Keeper
from millstream.operators.rows import Deltas


def rearranged(columns: npt.NDArray[np.int64], places: Sequence[int]) -> npt.NDArray[np.int64]:
    """Some of the columns, in another order; -1 stands for one that is never bound."""
    found = np.empty((len(places), len(columns)), np.int64)
    for i, place in enumerate(places):
        found[i] = -1 if place < 0 else columns[:, place]
    return found.T


class Union(PythonOperator):
    """All rows of both sides."""

    def __init__(self, inputs: Sequence[Deltas], width: int, left: tuple[int, ...], right: tuple[int, ...]) -> None:
        """For each column of the union, the side's own column, or -1."""
        super().__init__(inputs, width)
        self._left = left
        self._right = right

    def changed(self, *inputs: Deltas) -> Deltas:
        left, right = (
            Deltas(rearranged(rows.columns, places), rows.tick, rows.change, rows.weight)
            for rows, places in zip(inputs, (self._left, self._right), strict=True)
        )
        return merged(left, right)


class Sent(PythonOperator):
    """The rows of several parts, each behind the number of its part."""

    def __init__(self, inputs: Sequence[Deltas], width: int) -> None:
        super().__init__(inputs, width)
        self._places = [(*range(rows.width), *(-1 for _ in range(rows.width, width - 1))) for rows in inputs]

    def changed(self, *inputs: Deltas) -> Deltas:
        found = empty(self.out.width)
        for number, (rows, places) in enumerate(zip(inputs, self._places, strict=True)):
            if len(rows):
                columns = np.empty((len(rows), self.out.width), np.int64)
                columns[:, 0] = number
                columns[:, 1:] = rearranged(rows.columns, places)
                found = merged(found, Deltas(columns, rows.tick, rows.change, rows.weight))
        return found


class Constants(PythonOperator):
    """Rows that are always there."""

    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        rows: Sequence[Sequence[a.Term | None]],
        dictionary: Dictionary,
        keeper: Keeper,
    ) -> None:
        super().__init__(inputs, width)
        ids = [[-1 if term is None else dictionary.encode_one(str(term).encode()) for term in row] for row in rows]
        self._columns = np.array(ids, np.int64).reshape(len(rows), width)
        self._keeper = keeper
        keeper.hold(self._columns.ravel())

    def begin(self, at_tick: int, change: int) -> None:
        size = len(self._columns)
        ticks, changes, weight = (np.full(size, value, np.int64) for value in (at_tick, change, 1))
        self.give(consolidated(Deltas(self._columns, ticks, changes, weight)))

    def close(self, at_tick: int) -> None:
        self._keeper.release(self._columns.ravel(), at_tick)


def truth_ids(dictionary: Dictionary) -> tuple[int, int]:
    """False and true, which are in their ids."""
    texts = (f'"{value}"^^<http://www.w3.org/2001/XMLSchema#boolean>' for value in ("false", "true"))
    false_id, true_id = (dictionary.encode_one(text.encode()) for text in texts)
    return false_id, true_id


class Ask(PythonOperator):
    """One row that says whether the input has any."""

    def __init__(self, inputs: Sequence[Deltas], width: int, dictionary: Dictionary) -> None:
        super().__init__(inputs, width)
        self._ids = np.array(truth_ids(dictionary), np.int64)
        self._count = 0

    def begin(self, at_tick: int, change: int) -> None:
        one = np.array([1], np.int64)
        self.give(Deltas(self._ids[:1].reshape(1, 1), one * at_tick, one * change, one))

    def changed(self, rows: Deltas) -> Deltas:
        # The input has no columns, so every change is one row.
        count = np.cumsum(rows.weight) + self._count
        before = np.concatenate([[self._count], count[:-1]]) > 0
        self._count = int(count[-1])
        turned = np.flatnonzero(before != (count > 0))
        place = np.repeat(turned, 2)
        weight = np.tile(np.array([-1, 1], np.int64), len(turned))
        truth = before[place] == (weight < 0)
        return Deltas(self._ids[truth.astype(np.intp)].reshape(-1, 1), rows.tick[place], rows.change[place], weight)
