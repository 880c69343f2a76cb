"""CONSTRUCT: the triples that a template makes of solutions.

A blank node of the template is a function of the query, the solution and its label, so that a solution that goes takes
its own triples away.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pyoxigraph import BlankNode, Variable

from millstream.kernels.dictionary import Dictionary
from millstream.kernels.dictionary_kinds import Kind
from millstream.language import algebra as a
from millstream.operators.deltas import consolidated, empty
from millstream.operators.expressions.comparing import KIND_SHIFT
from millstream.operators.keeping import Keeper, Kept
from millstream.operators.rows import Column, Deltas


class Template:
    """Solutions to triples; what is no triple (a literal as subject, something unbound) is left out."""

    def __init__(
        self,
        variables: tuple[Variable, ...],
        triples: tuple[a.TriplePattern, ...],
        salt: str,
        dictionary: Dictionary,
        keeper: Keeper,
        tags: tuple[Variable, ...] = (),
    ) -> None:
        """`salt` tells this query's blank nodes from those of others; `tags` are columns that go before the triples."""
        self._variables = variables
        self._triples = triples
        self._tags = tags
        self._salt = salt
        self._dictionary = dictionary
        self._kept = Kept(keeper)
        self._keeper = keeper
        terms = {t for x in triples for t in (x.subject, x.predicate, x.object) if not isinstance(t, Variable | BlankNode)}
        self._constants = {term: dictionary.encode_one(str(term).encode()) for term in terms}
        self._labels = sorted({t.value for x in triples for t in (x.subject, x.object) if isinstance(t, BlankNode)})
        keeper.hold(np.array(list(self._constants.values()), np.int64))

    def begin(self, at_tick: int, change: int) -> Deltas:
        return empty(len(self._tags) + 3)

    def apply(self, *inputs: Deltas) -> Deltas:
        (rows,) = inputs
        blanks = self._blanks(rows)
        parts, places = [], []
        for triple in self._triples:
            terms = (*self._tags, triple.subject, triple.predicate, triple.object)
            columns = np.stack([self._column(t, rows, blanks) for t in terms], 1)
            kinds = columns[:, -3:] >> KIND_SHIFT
            whole = (columns[:, -3:] >= 0).all(axis=1) & (kinds[:, 0] <= Kind.BLANK) & (kinds[:, 1] == Kind.IRI)
            place = np.flatnonzero(whole)
            parts.append(columns[place])
            places.append(place)
        place = np.concatenate([np.empty(0, np.int64), *places])
        order = np.argsort(place, kind="stable")
        columns, place = np.concatenate([np.empty((0, len(self._tags) + 3), np.int64), *parts])[order], place[order]
        return consolidated(Deltas(columns, rows.tick[place], rows.change[place], rows.weight[place]))

    def _column(self, term: a.PatternTerm, rows: Deltas, blanks: dict[str, Column]) -> npt.NDArray[np.int64]:
        if isinstance(term, BlankNode):
            return blanks[term.value]
        if isinstance(term, Variable):
            if term not in self._variables:
                return np.full(len(rows), -1, np.int64)
            return rows.columns[:, self._variables.index(term)]
        return np.full(len(rows), self._constants[term], np.int64)

    def _blanks(self, rows: Deltas) -> dict[str, Column]:
        if not self._labels:
            return {}
        texts = [self._dictionary.decode(np.ascontiguousarray(c)).to_pylist() for c in rows.columns.T]
        solutions = [
            "\n".join(f"{v.value} {text}" for v, text in zip(self._variables, row, strict=True) if text is not None)
            for row in (zip(*texts, strict=True) if texts else [()] * len(rows))
        ]
        found = {}
        for label in self._labels:
            nodes = [f"_:c{_digest(self._salt, label, solution)}" for solution in solutions]
            found[label] = self._dictionary.encode(nodes)
            self._kept.count(found[label], rows.weight, rows.tick)
        return found

    def close(self, at_tick: int) -> None:
        self._kept.close(at_tick)
        self._keeper.release(np.array(list(self._constants.values()), np.int64), at_tick)


def _digest(*parts: str) -> str:
    import hashlib  # With OpenSSL, which most queries do without.

    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
