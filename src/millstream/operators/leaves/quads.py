"""What a triple pattern matches in each of the named graphs, with the graph's name as a further column."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pyoxigraph import Variable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.quads import QuadRows
from millstream.operators import stored
from millstream.operators.ticks import Column, Deltas
from millstream.plan.nodes import Quads


class QuadLeaf:
    """A leaf that changes of graphs reach by the graph's name."""

    def __init__(self, plan: Quads, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._named = None if plan.named is None else {name.value for name in plan.named}
        self._width = len(plan.variables)
        terms = (plan.triple.subject, plan.triple.predicate, plan.triple.object, plan.graph)
        constants = [-1 if isinstance(term, Variable) else dictionary.encode_one(str(term).encode()) for term in terms]
        self._held = np.array([term_id for term_id in constants if term_id >= 0], np.int64)
        dictionary.hold(self._held)
        places = [terms.index(v) for v in plan.variables]
        self._rows = QuadRows(dictionary, constants, [terms.index(term) for term in terms], places)

    def feed(self, graph: str, triples: npt.NDArray[np.int64], op: int, at_tick: int, change: int) -> None:
        """Triples that enter (op 1) or leave (-1) a graph; they are a set there already."""
        if self._named is None or graph in self._named:
            self._rows.feed(self._dictionary.encode_one(_name(graph)), triples, op, at_tick, change)

    def drain(self) -> Deltas:
        """What came since the last call."""
        return self._rows.drain()

    def current(self) -> tuple[npt.NDArray[np.int64], Column]:
        """The rows that are there, each with how often."""
        return self._rows.counted()

    def dump(self) -> Any:
        return self.current()

    def load(self, state: Any) -> None:
        self._rows.load(*stored.counted(state, self._width, self._dictionary))

    def close(self, at_tick: int) -> None:
        self._dictionary.release(self._held, at_tick)
        self._rows.close(at_tick)


def _name(graph: str) -> bytes:
    """The term that names a graph: blank nodes name graphs as well."""
    return graph.encode() if graph.startswith("_:") else f"<{graph}>".encode()
