"""The graphs at rest as the SPARQL Graph Store Protocol sees them: listed, read as text, replaced, emptied.

A graph without triples is as good as none. What is replaced or emptied is one change of that graph in each direction, made
now; nothing is changed if more answers would wait than may.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from millstream.engine.input.datasets import Triples
from millstream.engine.input.input_events import GraphChange
from millstream.engine.input.loading import changes_made
from millstream.ingest import Chunk
from millstream.kernels.matching.intake import Intake

if TYPE_CHECKING:
    from millstream.engine.engine import Engine

_TOGETHER = 10_000
_LOOKED_AT = 100_000
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


class GraphStore:
    """The graphs of an engine, by their names as `sizes` has them; where others may call that too, its lock is held."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._core = engine._core

    def sizes(self) -> dict[str | None, int]:
        """How many triples each graph has; the default graph is None, and always there."""
        return {name: graph.size for name, graph in self._core.graphs.items() if name is None or graph.size}

    def statements(self, graph: str | None) -> Iterator[bytes]:
        """The triples of a graph in N-Triples, some lines at a time."""
        triples = self._triples(graph)
        for first in range(0, len(triples), _TOGETHER):
            texts = self._core.dictionary.texts(triples[first : first + _TOGETHER].ravel())
            terms = iter(texts)
            yield "".join(f"{s} {p} {o} .\n" for s, p, o in zip(terms, terms, terms, strict=True)).encode()

    def vocabulary(self, most: int) -> list[str]:
        """IRIs that are predicates or classes in some graph, as far as the first triples of each tell."""
        dictionary, found = self._core.dictionary, dict[str, None]()
        for name in self._core.graphs:
            triples = self._triples(name)[:_LOOKED_AT]
            predicates = np.unique(triples[:, 1])
            texts = dictionary.texts(predicates)
            types = predicates[[text == _TYPE for text in texts]]
            classes = np.unique(triples[np.isin(triples[:, 1], types), 2])
            for text in (*texts, *dictionary.texts(classes[:most])):
                if text is not None and text.startswith("<"):
                    found[text[1:-1]] = None
            if len(found) >= most:
                break
        return list(found)[:most]

    def replace(self, chunks: Iterable[Chunk], graph: str | None) -> None:
        """A graph has the triples of a source from now on, and no others; which graph the source names does not matter."""
        dictionary = self._core.dictionary
        found = [chunk.encode(dictionary, None) for chunk in chunks]
        for columns in found:
            if columns.fault is not None:
                raise columns.fault
        new = np.concatenate([columns.triples for columns in found] or [np.empty((0, 3), np.int64)])
        kept = set(map(tuple, new.tolist()))
        old = self._triples(graph)
        gone = old[[tuple(row) not in kept for row in old.tolist()]] if len(old) else old
        self._make(graph, gone, new)

    def clear(self, graph: str | None) -> None:
        """A graph has no triples any more."""
        self._make(graph, self._triples(graph), np.empty((0, 3), np.int64))

    def _triples(self, name: str | None) -> Triples:
        graph = self._core.graphs.get(name)
        return np.empty((0, 3), np.int64) if graph is None else graph.triples()

    def _make(self, name: str | None, gone: Triples, new: Triples) -> None:
        changes = [GraphChange(name, Intake(np.ascontiguousarray(gone)), insert=False)] if len(gone) else []
        changes += [GraphChange(name, Intake(new), insert=True)] if len(new) else []
        if changes:
            ids = np.concatenate([change.triples.ids for change in changes])
            self._engine._pending_guard.take(lambda engine: changes_made(engine._core, changes), None, ids)
        self._core.housekeeping()
