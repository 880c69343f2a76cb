"""A load into datasets: one change of each graph, however long the source is and however its bytes are cut.

While nobody reads graphs nobody can tell, and what comes goes to its graph at once; else it is gathered as ids first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millstream.engine.core import Core, GraphChange
from millstream.engine.datasets import Triples


class Loading:
    """The triples of one call, by graph, in the order in which the graphs appear."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._watched = bool(core.runs)
        self._gathered: dict[str | None, list[Triples]] = {}
        self._added = 0

    def take(self, graph: str | None, triples: Triples) -> None:
        """Some more of the triples of a graph."""
        if self._watched:
            self._gathered.setdefault(graph, []).append(triples)
        else:
            self._insert(graph, triples)
            self._core.housekeeping()

    def end(self) -> int:
        """Everything was read; gives how many triples were new."""
        for graph, parts in self._gathered.items():
            self._insert(graph, np.concatenate(parts))
        self._core.housekeeping()
        return self._added

    def _insert(self, graph: str | None, triples: Triples) -> None:
        self._added += self._core.change_graph(GraphChange(graph, triples, insert=True), self._core.now_tick)
        self._core.feeding.process()


def in_order_of_appearance(ids: npt.NDArray[np.int64]) -> list[int]:
    """The distinct ones of several."""
    distinct, first = np.unique(ids, return_index=True)
    found: list[int] = distinct[np.argsort(first)].tolist()
    return found
