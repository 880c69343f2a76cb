"""Operators that look at one row at a time: expressions, filters, columns, unions, constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pyoxigraph import Variable

from millstream.kernels.dictionary import Dictionary
from millstream.kernels.relation import RowCounter
from millstream.language import algebra as a
from millstream.language.scope import mentioned
from millstream.operators.deltas import consolidated, empty, merged
from millstream.operators.expressions import Evaluator
from millstream.operators.keeping import Keeper
from millstream.operators.rows import Column, Deltas


class Stateless:
    """An operator that gives nothing before its inputs do and keeps no terms."""

    width: int

    def begin(self, at_tick: int, change: int) -> Deltas:
        return empty(self.width)

    def close(self, at_tick: int) -> None:
        pass


def _read(
    expression: a.Expression, variables: Sequence[Variable], columns: npt.NDArray[np.int64]
) -> dict[Variable, npt.NDArray[np.int64]]:
    read = mentioned(expression)
    return {v: np.ascontiguousarray(columns[:, i]) for i, v in enumerate(variables) if v in read}


class Filter(Stateless):
    """The rows for which an expression is true."""

    def __init__(self, variables: tuple[Variable, ...], expression: a.Expression, evaluator: Evaluator) -> None:
        self.width = len(variables)
        self._variables = variables
        self._expression = expression
        self._evaluator = evaluator
        evaluator.check(expression)

    def apply(self, *inputs: Deltas) -> Deltas:
        (rows,) = inputs
        columns = _read(self._expression, self._variables, rows.columns)
        passed = self._evaluator.test(self._expression, columns, len(rows))
        if passed.all():
            return rows
        return Deltas(rows.columns[passed], rows.tick[passed], rows.change[passed], rows.weight[passed])


class Kept:
    """Counts the rows that have a computed term, which stays in the dictionary while there is one."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._counts = RowCounter(1)

    def count(self, ids: Column, weight: Column, tick: Column) -> None:
        places, sign = self._counts.apply(ids.reshape(-1, 1), weight)
        if len(places):
            first, last = ids[places[sign > 0]], places[sign < 0]
            self._keeper.hold(first)
            if len(last):
                self._keeper.release(ids[last], int(tick[last].max()))

    def close(self, at_tick: int) -> None:
        self._keeper.release(self._counts.counted()[0][:, 0], at_tick)


class Extend:
    """One more column, computed; an error leaves it unbound."""

    def __init__(
        self, variables: tuple[Variable, ...], expression: a.Expression, evaluator: Evaluator, keeper: Keeper
    ) -> None:
        self._variables = variables
        self._expression = expression
        self._evaluator = evaluator
        self._kept = None if isinstance(expression, Variable) else Kept(keeper)
        evaluator.check(expression)

    def begin(self, at_tick: int, change: int) -> Deltas:
        return empty(len(self._variables) + 1)

    def apply(self, *inputs: Deltas) -> Deltas:
        (rows,) = inputs
        read = _read(self._expression, self._variables, rows.columns)
        ids = self._evaluator.compute(self._expression, read, len(rows))
        if self._kept is not None:
            self._kept.count(ids, rows.weight, rows.tick)
        columns = np.empty((len(self._variables) + 1, len(rows)), np.int64)
        columns[:-1] = rows.columns.T
        columns[-1] = ids
        return Deltas(columns.T, rows.tick, rows.change, rows.weight)

    def close(self, at_tick: int) -> None:
        if self._kept is not None:
            self._kept.close(at_tick)


def rearranged(columns: npt.NDArray[np.int64], places: Sequence[int]) -> npt.NDArray[np.int64]:
    """Some of the columns, in another order; -1 stands for one that is never bound."""
    found = np.empty((len(places), len(columns)), np.int64)
    for i, place in enumerate(places):
        found[i] = -1 if place < 0 else columns[:, place]
    return found.T


class Project(Stateless):
    """Some of the columns; equal rows add up."""

    def __init__(self, places: tuple[int, ...], *, drops: bool) -> None:
        """`drops`: whether rows that differ may become equal."""
        self.width = len(places)
        self._places = places
        self._drops = drops

    def apply(self, *inputs: Deltas) -> Deltas:
        (rows,) = inputs
        found = Deltas(rearranged(rows.columns, self._places), rows.tick, rows.change, rows.weight)
        return consolidated(found) if self._drops else found


class Union(Stateless):
    """All rows of both sides."""

    def __init__(self, left: tuple[int, ...], right: tuple[int, ...]) -> None:
        """For each column of the union, the side's own column, or -1."""
        self.width = len(left)
        self._left = left
        self._right = right

    def apply(self, *inputs: Deltas) -> Deltas:
        left, right = (
            Deltas(rearranged(rows.columns, places), rows.tick, rows.change, rows.weight)
            for rows, places in zip(inputs, (self._left, self._right), strict=True)
        )
        if not len(right):
            return left
        return merged(left, right) if len(left) else right


class Constants:
    """Rows that are always there."""

    def __init__(self, width: int, rows: Sequence[Sequence[a.Term | None]], dictionary: Dictionary, keeper: Keeper) -> None:
        ids = [[-1 if term is None else dictionary.encode_one(str(term).encode()) for term in row] for row in rows]
        self._columns = np.array(ids, np.int64).reshape(len(rows), width)
        self._keeper = keeper
        keeper.hold(self._columns.ravel())

    def begin(self, at_tick: int, change: int) -> Deltas:
        size = len(self._columns)
        ticks, changes, weight = (np.full(size, value, np.int64) for value in (at_tick, change, 1))
        return consolidated(Deltas(self._columns, ticks, changes, weight))

    def apply(self, *inputs: Deltas) -> Deltas:
        return empty(self._columns.shape[1])

    def close(self, at_tick: int) -> None:
        self._keeper.release(self._columns.ravel(), at_tick)


def truth_ids(dictionary: Dictionary) -> tuple[int, int]:
    """False and true, which are in their ids."""
    texts = (f'"{value}"^^<http://www.w3.org/2001/XMLSchema#boolean>' for value in ("false", "true"))
    false_id, true_id = (dictionary.encode_one(text.encode()) for text in texts)
    return false_id, true_id


class Ask:
    """One row that says whether the input has any."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._ids = np.array(truth_ids(dictionary), np.int64)
        self._count = 0

    def begin(self, at_tick: int, change: int) -> Deltas:
        one = np.array([1], np.int64)
        return Deltas(self._ids[:1].reshape(1, 1), one * at_tick, one * change, one)

    def apply(self, *inputs: Deltas) -> Deltas:
        (rows,) = inputs
        # The input has no columns, so every change is one row.
        count = np.cumsum(rows.weight) + self._count
        before = np.concatenate([[self._count], count[:-1]]) > 0
        self._count = int(count[-1])
        turned = np.flatnonzero(before != (count > 0))
        place = np.repeat(turned, 2)
        weight = np.tile(np.array([-1, 1], np.int64), len(turned))
        truth = before[place] == (weight < 0)
        return Deltas(self._ids[truth.astype(np.intp)].reshape(-1, 1), rows.tick[place], rows.change[place], weight)

    def close(self, at_tick: int) -> None:
        pass
