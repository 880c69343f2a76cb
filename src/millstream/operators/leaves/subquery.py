"""A sub-query over datasets, joined apart: its solutions are tuples of the join it belongs to.

A join that enumerates from a stream triple runs into every dead end of a dataset again, each time. A sub-query finds them
once, when the dataset changes; what is left are its solutions, each behind a hidden variable of the outer join, with a
pair for each of its variables. Datasets have no known ends, so solutions come with a weight of 1 and go with -1, and no
solution is there twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from millstream.kernels.containers.tuples import TupleTable
from millstream.operators.ticks import FOREVER, Arrivals, Column

if TYPE_CHECKING:
    from millstream.kernels.conjunctions.parts import Found
    from millstream.operators.leaves.component import JoinComponent

Changes: TypeAlias = tuple[Column, Column, Column, Column, Column, Column, Column]
"""What an interval join is fed with: view, a, b, now, until, op, change."""

_FEW = 4096
_TIMES_ITS_TRIPLES = 2


class SubQuery:
    """The patterns of a sub-query, their join, and the numbers of its solutions."""

    def __init__(self, numbers: tuple[int, ...], component: JoinComponent) -> None:
        self.numbers = np.array(numbers, np.int64)
        self.component = component
        self.tuples = TupleTable(len(component.variables))
        self.first_view = 0
        """Of the outer join: the first of as many views as there are variables."""
        self._triples = 0
        self._solutions = 0

    @property
    def is_large(self) -> bool:
        """Whether it has so many solutions that it is better to look for them as they are asked for."""
        return self._solutions > max(_FEW, _TIMES_ITS_TRIPLES * self._triples)

    def changes(self, rows: Arrivals) -> Changes:
        """What changes of its patterns change in the outer join."""
        self._triples += int(rows.op.sum())
        return self._paired(self.component.feed(rows))

    def _paired(self, found: Found) -> Changes:
        columns, changes, at, _, ends, weight = found
        columns = np.ascontiguousarray(columns)
        self._solutions += int(weight.sum())
        numbers = self.tuples.intern(columns, at, ends, weight)
        width = columns.shape[1]
        view = np.tile(np.arange(self.first_view, self.first_view + width), len(columns))
        now, until, op, change = (np.repeat(c, width) for c in (at, ends, weight, changes))
        return view, np.repeat(numbers, width), columns.ravel(), now, until, op, change

    def load(self, state: Sequence[Any]) -> Changes:
        """Takes what its component dumped; gives the pairs of its solutions."""
        self._triples = len(state[1])
        self.component.load(state)
        return self._paired(self.component.current(-FOREVER + 1))


def in_order_of_change(parts: Sequence[Changes]) -> Changes:
    """Changes of several kinds as one; those of one kind keep their order."""
    whole = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    order = np.argsort(whole[6], kind="stable")
    return cast("Changes", tuple(np.ascontiguousarray(column[order]) for column in whole))
