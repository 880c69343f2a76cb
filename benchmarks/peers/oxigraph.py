"""pyoxigraph's store in memory, asked in SPARQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

import pyoxigraph as ox

from benchmarks.peers.question import Question, Triple
from benchmarks.peers.store import Solutions


class OxigraphStore:
    """Six sorted indexes over all triples."""

    def __init__(self, question: Question) -> None:
        self._store, self._text = ox.Store(), question.plain()

    def prepare(self, triples: Sequence[Triple]) -> list[ox.Quad]:
        text = "".join(f"{s} {p} {o} .\n" for s, p, o in triples)
        parsed = ox.parse(text, format=ox.RdfFormat.N_TRIPLES)
        return [ox.Quad(t.subject, t.predicate, t.object) for t in parsed]

    def insert(self, prepared: list[ox.Quad]) -> None:
        if len(prepared) == 1:
            self._store.add(prepared[0])
        else:
            self._store.bulk_extend(prepared)

    def delete(self, prepared: list[ox.Quad]) -> None:
        remove = self._store.remove
        for quad in prepared:
            remove(quad)

    def count(self) -> int:
        return sum(1 for _ in cast("ox.QuerySolutions", self._store.query(self._text)))

    def solutions(self) -> Solutions:
        found = cast("ox.QuerySolutions", self._store.query(self._text))
        return Counter(tuple(str(term) for term in solution) for solution in found)
