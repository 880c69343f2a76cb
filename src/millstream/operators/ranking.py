"""ORDER BY with LIMIT and OFFSET: the rows between two ranks, kept up to date by every change.

Rows are ordered by conditions in the solution order, then by the completion in term order, then by whatever columns are
left: so which rows are in the slice depends on the rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from millstream.kernels.deltas import PythonOperator
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.ranking import ALL, ASCENDING, DESCENDING, TERM, Ranking
from millstream.operators.deltas import consolidated
from millstream.operators.ordering import Ordering
from millstream.operators.rows import Column, Deltas

Conditions = tuple[tuple[int, bool], ...]
"""The place of a column and whether its order is descending, for each condition of ORDER BY."""


class TopK(PythonOperator):
    """The rows at ranks [offset, offset + limit); every unit of weight costs a logarithm of what is held."""

    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        conditions: Conditions,
        completion: tuple[int, ...],
        offset: int,
        limit: int | None,
        dictionary: Dictionary,
    ) -> None:
        super().__init__(inputs, width)
        self._offset, self._limit = offset, ALL if limit is None else limit
        levels = _levels(conditions, completion)
        self._ranking = Ranking(width, levels, Ordering(dictionary).kernel, self._offset, self._limit)

    def changed(self, rows: Deltas) -> Deltas:
        """What changes of the rows make of the slice."""
        return Deltas(*self._ranking.apply(rows.columns, rows.tick, rows.change, rows.weight))

    def rows(self) -> tuple[npt.NDArray[np.int64], Column]:
        """The slice in its order: rows, and how often each is there."""
        return self._ranking.rows(self._offset, self._limit)

    @property
    def stats(self) -> dict[str, int]:
        found = self._ranking.stats
        return {"rows": found["rows"], "weight": found["weight"], "bytes": found["bytes"]}


class TopKOfEach(PythonOperator):
    """The rows between two ranks of each of several orders, told apart by a column; one without rows is forgotten."""

    def __init__(self, inputs: Sequence[Deltas], width: int, tag: int, make: Callable[[], TopK]) -> None:
        super().__init__(inputs, width)
        self._tag = tag
        self._make = make
        self._orders: dict[int, TopK] = {}

    def changed(self, rows: Deltas) -> Deltas:
        """What changes of the rows make of the slices."""
        tags = rows.columns[:, self._tag]
        order = np.argsort(tags, kind="stable")
        found = []
        for part in np.split(order, np.flatnonzero(np.diff(tags[order])) + 1):
            tag = int(tags[part[0]])
            top = self._orders.get(tag)
            if top is None:
                top = self._orders[tag] = self._make()
            found.append(top.run(rows.pick(part)))
            if not top.stats["rows"]:
                del self._orders[tag]
        if len(found) == 1:
            return found[0]
        columns = np.concatenate([d.columns for d in found])
        tick, change, weight = (
            np.concatenate(parts) for parts in zip(*((d.tick, d.change, d.weight) for d in found), strict=True)
        )
        # Each slice has gone through all changes by itself; whoever reads the deltas goes through them once.
        in_order = np.lexsort((change, tick))
        return consolidated(Deltas(columns, tick, change, weight).pick(in_order))


def sort_rows(
    columns: npt.NDArray[np.int64],
    weight: Column,
    conditions: Conditions,
    completion: tuple[int, ...],
    dictionary: Dictionary,
) -> tuple[npt.NDArray[np.int64], Column]:
    """A multiset of rows in order: each different row once, and how often it is there."""
    n, width = columns.shape
    ranking = Ranking(width, _levels(conditions, completion), Ordering(dictionary).kernel, 0, 0)
    constant = np.zeros(n, np.int64)
    ranking.apply(columns, constant, constant, weight)
    return ranking.rows(0, ALL)


def _levels(conditions: Conditions, completion: tuple[int, ...]) -> list[tuple[int, int]]:
    levels = [(place, DESCENDING if descending else ASCENDING) for place, descending in conditions]
    return levels + [(place, TERM) for place in completion]
