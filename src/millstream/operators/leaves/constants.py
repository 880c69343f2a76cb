"""Rows that are always there, and the ids of truths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.consolidation import consolidated
from millstream.kernels.flow.deltas import Deltas, PythonOperator
from millstream.language import algebra as a


class Constants(PythonOperator):
    """Rows that are always there."""

    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        rows: Sequence[Sequence[a.Term | None]],
        dictionary: Dictionary,
        references: TermReferences,
    ) -> None:
        super().__init__(inputs, width)
        ids = [[-1 if term is None else dictionary.encode_one(str(term).encode()) for term in row] for row in rows]
        self._columns = np.array(ids, np.int64).reshape(len(rows), width)
        self._references = references
        references.hold(self._columns.ravel())

    def begin(self, at_tick: int, change: int) -> None:
        size = len(self._columns)
        ticks, changes, weight = (np.full(size, value, np.int64) for value in (at_tick, change, 1))
        self.give(consolidated(Deltas(self._columns, ticks, changes, weight)))

    def close(self, at_tick: int) -> None:
        self._references.release(self._columns.ravel(), at_tick)


def truth_ids(dictionary: Dictionary) -> tuple[int, int]:
    """False and true, which are in their ids."""
    texts = (f'"{value}"^^<http://www.w3.org/2001/XMLSchema#boolean>' for value in ("false", "true"))
    false_id, true_id = (dictionary.encode_one(text.encode()) for text in texts)
    return false_id, true_id
