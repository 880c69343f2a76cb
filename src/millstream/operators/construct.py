"""CONSTRUCT: the triples that a template makes of solutions.

A blank node of the template is a function of the query, the solution and its label, so that a solution that goes takes
its own triples away.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyoxigraph import BlankNode, Variable

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.forms.template import Origin, Template
from millstream.language import algebra as a


def template(
    inputs: Sequence[Deltas],
    width: int,
    variables: tuple[Variable, ...],
    triples: tuple[a.TriplePattern, ...],
    salt: str,
    dictionary: Dictionary,
    references: TermReferences,
    tags: tuple[Variable, ...] = (),
) -> Template:
    """Solutions to triples; `salt` tells this query's blank nodes from those of others, `tags` go before the triples."""
    labels = sorted({t.value for x in triples for t in (x.subject, x.object) if isinstance(t, BlankNode)})

    def origin(term: a.PatternTerm) -> tuple[Origin, int]:
        if isinstance(term, BlankNode):
            return Origin.MADE, labels.index(term.value)
        if not isinstance(term, Variable):
            return Origin.CONSTANT, dictionary.encode_one(str(term).encode())
        return (Origin.COLUMN, variables.index(term)) if term in variables else (Origin.CONSTANT, -1)

    rows = [[origin(term) for term in (*tags, x.subject, x.predicate, x.object)] for x in triples]
    return Template(inputs, width, rows, references, _BlankNodes(variables, labels, salt, dictionary) if labels else None)


class _BlankNodes:
    """Makes the blank nodes of solutions, one for each label."""

    def __init__(self, variables: tuple[Variable, ...], labels: list[str], salt: str, dictionary: Dictionary) -> None:
        self._variables = variables
        self._labels = labels
        self._salt = salt
        self._dictionary = dictionary

    def __call__(self, rows: Deltas) -> Deltas:
        texts = [self._dictionary.decode(np.ascontiguousarray(c)).to_pylist() for c in rows.columns.T]
        solutions = [
            "\n".join(f"{v.value} {text}" for v, text in zip(self._variables, row, strict=True) if text is not None)
            for row in (zip(*texts, strict=True) if texts else [()] * len(rows))
        ]
        made = [
            self._dictionary.encode([f"_:c{_digest(self._salt, label, solution)}" for solution in solutions])
            for label in self._labels
        ]
        return Deltas(np.column_stack(made), rows.tick, rows.change, rows.weight)


def _digest(*parts: str) -> str:
    import hashlib  # With OpenSSL, which most queries do without.

    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
