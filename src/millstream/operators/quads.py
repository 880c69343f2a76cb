"""What a triple pattern matches in each of the named graphs, with the graph's name as a further column."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pyoxigraph import Variable

from millstream.kernels.dictionary import Dictionary
from millstream.kernels.relation import RowCounter
from millstream.operators import stored
from millstream.operators.deltas import consolidated, empty
from millstream.operators.rows import Column, Deltas
from millstream.plan.nodes import Quads


class QuadLeaf:
    """A leaf that changes of graphs reach by the graph's name."""

    def __init__(self, plan: Quads, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._named = None if plan.named is None else {name.value for name in plan.named}
        self._width = len(plan.variables)
        terms = (plan.triple.subject, plan.triple.predicate, plan.triple.object, plan.graph)
        self._constants = [
            (i, dictionary.encode_one(str(term).encode())) for i, term in enumerate(terms) if not isinstance(term, Variable)
        ]
        self._held = np.array([term_id for _, term_id in self._constants], np.int64)
        dictionary.hold(self._held)
        first: dict[Variable, int] = {}
        self._equal: list[tuple[int, int]] = []
        for i, term in enumerate(terms):
            if isinstance(term, Variable):
                if term in first:
                    self._equal.append((first[term], i))
                first.setdefault(term, i)
        self._places = [first[v] for v in plan.variables]
        self._names_graphs = plan.graph in plan.variables
        self._drops = set(first) != set(plan.variables)
        self._rows = RowCounter(self._width)
        self._graphs = RowCounter(1)
        self._waiting: list[Deltas] = []

    def feed(self, graph: str, triples: npt.NDArray[np.int64], op: int, at_tick: int, change: int) -> None:
        """Triples that enter (op 1) or leave (-1) a graph; they are a set there already."""
        if self._named is not None and graph not in self._named:
            return
        name = self._dictionary.encode_one(_name(graph))
        quads = np.empty((len(triples), 4), np.int64)
        quads[:, :3] = triples
        quads[:, 3] = name
        found = np.ones(len(quads), np.bool_)
        for position, value in self._constants:
            found &= quads[:, position] == value
        for one, other in self._equal:
            found &= quads[:, one] == quads[:, other]
        columns = np.ascontiguousarray(quads[found][:, self._places])
        size = len(columns)
        if not size:
            return
        deltas = Deltas(columns, *(np.full(size, value, np.int64) for value in (at_tick, change, op)))
        if self._drops:
            deltas = consolidated(deltas)
        self._rows.apply(deltas.columns, deltas.weight)
        if self._names_graphs:
            self._keep(np.full(len(deltas), name, np.int64), deltas.weight, at_tick)
        self._waiting.append(deltas)

    def _keep(self, names: Column, weight: Column, at_tick: int) -> None:
        """Graphs' names are terms of rows, but of no triple that would keep them."""
        places, sign = self._graphs.apply(names.reshape(-1, 1), weight)
        self._dictionary.hold(names[places[sign > 0]])
        self._dictionary.release(names[places[sign < 0]], at_tick)

    def drain(self) -> Deltas:
        """What came since the last call."""
        if not self._waiting:
            return empty(self._width)
        parts, self._waiting = self._waiting, []
        if len(parts) == 1:
            return parts[0]
        given = zip(*((part.columns, part.tick, part.change, part.weight) for part in parts), strict=True)
        return consolidated(Deltas(*map(np.concatenate, given)))

    def current(self) -> tuple[npt.NDArray[np.int64], Column]:
        """The rows that are there, each with how often."""
        return self._rows.counted()

    def dump(self) -> Any:
        return self.current()

    def load(self, state: Any) -> None:
        columns, weight = stored.counted(state, self._width, self._dictionary)
        self._rows.apply(columns, weight)
        graph = [place for place, position in enumerate(self._places) if position == 3]
        if graph:
            names = np.ascontiguousarray(columns[:, graph])
            places, sign = self._graphs.apply(names, weight)
            self._dictionary.hold(names[places[sign > 0], 0])

    def close(self, at_tick: int) -> None:
        self._dictionary.release(self._held, at_tick)
        self._dictionary.release(self._graphs.counted()[0][:, 0], at_tick)


def _name(graph: str) -> bytes:
    """The term that names a graph: blank nodes name graphs as well."""
    return graph.encode() if graph.startswith("_:") else f"<{graph}>".encode()
