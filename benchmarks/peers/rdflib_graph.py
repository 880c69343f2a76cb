"""rdflib's graph in memory, asked in SPARQL with a prepared query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import rdflib
from rdflib.plugins.sparql import prepareQuery

from benchmarks.peers.question import Question, Triple
from benchmarks.peers.store import Solutions

Prepared = list[tuple[rdflib.term.Node, rdflib.term.Node, rdflib.term.Node]]


class RdflibGraph:
    """Three nested dicts, and a query evaluator in Python."""

    def __init__(self, question: Question) -> None:
        self._graph, self._query = rdflib.Graph(), prepareQuery(question.plain())
        self._names = question.variables

    def prepare(self, triples: Sequence[Triple]) -> Prepared:
        parsed = rdflib.Graph().parse(data="".join(f"{s} {p} {o} .\n" for s, p, o in triples), format="nt")
        return list(parsed)

    def insert(self, prepared: Prepared) -> None:
        for triple in prepared:
            self._graph.add(triple)

    def delete(self, prepared: Prepared) -> None:
        for triple in prepared:
            self._graph.remove(triple)

    def count(self) -> int:
        return sum(1 for _ in self._graph.query(self._query))

    def solutions(self) -> Solutions:
        rows = cast("Iterable[Mapping[str, rdflib.term.Identifier]]", self._graph.query(self._query))
        return Counter(tuple(row[name].n3() for name in self._names) for row in rows)
