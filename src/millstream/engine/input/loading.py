"""A load into datasets: one change of each graph, however long the source is and however its bytes are cut.

While nobody reads graphs nobody can tell, and what comes goes to its graph at once; else it is gathered as ids first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millstream.engine.back_pressure import PendingGuard
from millstream.engine.core import Core
from millstream.engine.input.datasets import Triples
from millstream.engine.input.input_events import GraphChange
from millstream.kernels.matching.intake import Intake


class Loading:
    """The triples of one call, by graph, in the order in which the graphs appear."""

    def __init__(self, core: Core, pending_guard: PendingGuard) -> None:
        self._core = core
        self._pending_guard = pending_guard
        self._watched = bool(core.runs)
        self._gathered: dict[str | None, list[Triples]] = {}
        self._added = 0

    def take(self, graph: str | None, triples: Triples) -> None:
        """Some more of the triples of a graph."""
        if self._watched:
            self._gathered.setdefault(graph, []).append(triples)
        else:
            self._added += changes_made(self._core, [GraphChange(graph, Intake(triples), insert=True)])
            self._core.housekeeping()

    def end(self) -> int:
        """Everything was read; gives how many triples were new."""
        changes = [GraphChange(graph, Intake(np.concatenate(parts)), insert=True) for graph, parts in self._gathered.items()]
        if changes:
            ids = np.concatenate([change.triples.ids for change in changes])
            self._added += self._pending_guard.take(lambda engine: changes_made(engine._core, changes), None, ids)
        self._core.housekeeping()
        return self._added


def changes_made(core: Core, changes: list[GraphChange]) -> int:
    """Makes changes now, one after the other; gives how many triples came or went."""
    changed = 0
    for change in changes:
        changed += core.change_graph(change.graph, change.triples, change.insert, core.now_tick)
        core.derived_streams.process()
    return changed


def in_order_of_appearance(ids: npt.NDArray[np.int64]) -> list[int]:
    """The distinct ones of several."""
    distinct, first = np.unique(ids, return_index=True)
    found: list[int] = distinct[np.argsort(first)].tolist()
    return found
