"""Asking again: a store that is kept at what the windows and graphs of a query hold, and evaluates it whenever it is asked.

What a window holds is for the reference evaluator to say, at leisure; what counts is the CPU time that the store needs to
take the difference and to answer.
"""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyoxigraph as ox

from millstream.ingest.triples import coerce_triples
from tests.reference import ELEMENT, Reference


class Recomputing:
    """One query over a pyoxigraph store in memory."""

    def __init__(self, text: str, graphs: Mapping[str | None, Iterable[str]]) -> None:
        self.query = Reference().register(text)
        self._store = ox.Store()
        for graph, pieces in graphs.items():
            name = ox.DefaultGraph() if graph is None else ox.NamedNode(graph)
            data = io.BytesIO("".join(pieces).encode())
            self._store.bulk_load(input=data, format=ox.RdfFormat.N_TRIPLES, to_graph=name)
        self._held: dict[Any, set[ox.Triple]] = {window: set() for window in self.query.windows}
        for name in self.query.plain.window_graphs.values():
            self._store.add_graph(name)

    def arrive(self, stream: str, text: str, at_ms: int) -> None:
        """An element, before the store is asked again."""
        for window in self.query.windows.values():
            if window.window.stream.value == stream:
                window.arrive(tuple(coerce_triples(text)), at_ms)

    def ask(self, at_ms: int) -> tuple[Counter[Any], float]:
        """The answers now, and the CPU seconds that they took."""
        differences = []
        for window, content in self.query.windows.items():
            now = set(content.content((at_ms, ELEMENT)))
            graph = self.query.plain.window_graphs[window]
            gone, new = self._held[window] - now, now - self._held[window]
            differences.append(([_quad(t, graph) for t in gone], [_quad(t, graph) for t in new]))
            self._held[window] = now
        began = time.process_time()
        for gone_quads, new_quads in differences:
            for quad in gone_quads:
                self._store.remove(quad)
            self._store.extend(new_quads)
        found = self.query.evaluate_in(self._store)
        return found, time.process_time() - began


def _quad(triple: ox.Triple, graph: Any) -> ox.Quad:
    return ox.Quad(triple.subject, triple.predicate, triple.object, graph)


def answer_set(query: Any) -> Counter[Any]:
    """The answers of a registered query in the same form."""
    found = query.solutions()
    if isinstance(found, bool):
        return Counter([(found,)])
    return Counter((row,) if isinstance(row, ox.Triple) else tuple(row.get(v) for v in query.variables) for row in found)
