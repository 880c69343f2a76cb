"""Changes of graphs that happen one after the other, as columns: what is inserted and deleted in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from millstream.engine.input.datasets import Triples
from millstream.operators.ticks import Column


@dataclass(slots=True, eq=False)
class GraphEdits:
    """Triples that enter (op 1) or leave (-1) one graph, in processing order."""

    graph: str | None
    triples: Triples
    op: Column
    ticks: Column
    order: Column
    """For each triple the place of its change among all that happen together, ascending."""

    def pick(self, rows: Column | slice) -> GraphEdits:
        """Some of them."""
        return GraphEdits(self.graph, self.triples[rows], self.op[rows], self.ticks[rows], self.order[rows])

    def after(self, order: int) -> GraphEdits:
        """Those of later changes."""
        return self.pick(slice(int(np.searchsorted(self.order, order, "right")), None))


@dataclass(slots=True, eq=False)
class ChangeBatch:
    """Changes of several graphs; those of one change are of one graph, and all enter or all leave."""

    graphs: list[str | None]
    triples: Triples
    place: Column | None
    """For each triple the place of its graph among these; None: all are of the first."""
    op: Column
    ticks: Column
    order: Column

    def edits(self) -> Iterator[GraphEdits]:
        """Those of each graph."""
        for place, graph in enumerate(self.graphs):
            every = GraphEdits(graph, self.triples, self.op, self.ticks, self.order)
            some = every if self.place is None else every.pick(np.flatnonzero(self.place == place))
            if len(some.op):
                yield some


def change_by_change(parts: list[GraphEdits]) -> Iterator[GraphEdits]:
    """The edits of each change by itself, in order, whichever graph they are of."""
    found = [
        (int(part.order[low]), place, low, high)
        for place, part in enumerate(parts)
        for low, high in pairwise([*np.flatnonzero(np.diff(part.order, prepend=-1)).tolist(), len(part.order)])
    ]
    for _, place, low, high in sorted(found):
        yield parts[place].pick(slice(low, high))
