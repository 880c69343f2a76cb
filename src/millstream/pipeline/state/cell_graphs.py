"""What graphs hold in a cell, for each pattern over them, and which changes of them really change something."""

from __future__ import annotations

from typing import Any

import numpy as np

from millstream.engine.input.datasets import Graph
from millstream.engine.windows.window_state import GraphRows
from millstream.kernels.dictionary.dictionary import Dictionary


class CellGraphs:
    """The graphs of one cell, each as many sets of triples as patterns read it."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._contents: dict[tuple[str | None, int], Graph] = {}

    def effective(self, rows: GraphRows) -> GraphRows:
        """The changes that really change something: graphs are sets."""
        keep = np.zeros(len(rows.op), np.bool_)
        for number in np.unique(rows.pattern).tolist():
            content = self._contents.setdefault((rows.graph, number), Graph(self._dictionary))
            ours = np.flatnonzero(rows.pattern == number)
            turns = np.flatnonzero(np.diff(rows.op[ours])) + 1
            for some in np.split(ours, turns):
                if len(some):
                    triples = rows.triples[some]
                    if rows.op[some[0]] > 0:
                        keep[some[content.insert_where(triples)]] = True
                    else:
                        keep[some[content.delete_where(triples, int(rows.ticks[some[-1]]))]] = True
        return GraphRows(
            rows.graph, rows.triples[keep], rows.pattern[keep], rows.ticks[keep], rows.op[keep], rows.order[keep]
        )

    def dump(self) -> list[list[Any]]:
        """All of it, in plain values and arrays."""
        return [[graph, number, content.triples()] for (graph, number), content in self._contents.items()]

    def load(self, state: list[list[Any]]) -> None:
        """What `dump` gave."""
        for graph, pattern, triples in state:
            content = self._contents[graph, pattern] = Graph(self._dictionary)
            content.restore(triples)
