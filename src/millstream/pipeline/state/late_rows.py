"""Late triples of a cell, each told by one cell alone: a triple goes to several, and all of them find it late.

Which cell tells follows from where the triple goes, the first of these, so no cell has to ask another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.leaves.matching import Matcher
from millstream.pipeline.exchange.blobs import TERMS
from millstream.pipeline.exchange.routing import Router
from millstream.pipeline.job.specification import JobSpec, StreamedSource
from millstream.pipeline.state.cell_rows import Rows, ids

NAMED = ("source", "part", "element", "at_ms")
"""Of which element a late triple is, and when that happened."""


class LateRows:
    """What a cell tells of rows that came too late."""

    def __init__(self, spec: JobSpec, cell: int) -> None:
        self._spec = spec
        self._cell = cell
        self._router: Router | None = None
        # Of its own: routes need terms only as long as they are looked at.
        self._dictionary = Dictionary()
        self._looks = 0

    def table(self, rows: Rows, dictionary: Dictionary) -> pa.Table:
        """The triples that this cell tells: source, part, element, at_ms, text; each once."""
        terms: list[Any] = [dictionary.decode(np.ascontiguousarray(rows[name])) for name in TERMS]
        told = self._first_of(rows) & self._is_ours(rows, terms)
        texts = zip(*(column.filter(pa.array(told)).to_pylist() for column in terms), strict=True)
        columns = {name: pa.array(rows[name][told]) for name in NAMED}
        return pa.table({**columns, "text": pa.array([f"{s} {p} {o} ." for s, p, o in texts], pa.string())})

    def _first_of(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Which rows have a triple of an element for the first time: it is there once for each pattern it matches."""
        first = np.zeros(len(rows["at_ms"]), np.bool_)
        keys = np.column_stack([*(rows[name] for name in NAMED), rows["graph"], ids(rows)])
        first[np.unique(keys, axis=0, return_index=True)[1]] = True
        return first

    def _is_ours(self, rows: Rows, terms: list[Any]) -> npt.NDArray[np.bool_]:
        ours = np.ones(len(rows["at_ms"]), np.bool_)
        if self._spec.cells.count == 1 or not len(ours):
            return ours
        router = self._router = self._router or Router(self._spec, self._dictionary)
        triples = np.column_stack([self._dictionary.encode_column(column) for column in terms])
        for source, graph in {*zip(rows["source"].tolist(), rows["graph"].tolist(), strict=True)}:
            some = np.flatnonzero((rows["source"] == source) & (rows["graph"] == graph))
            routed = router.route(triples[some], self._matchers(router, source, graph))
            # Routes are in order of cells, so the first of a row is its first cell.
            row, place = np.unique(routed.row, return_index=True)
            ours[some[row]] = routed.cell[place] == self._cell
        self._looks += 1
        self._dictionary.forget_before(self._looks)
        self._dictionary.settle()
        return ours

    def _matchers(self, router: Router, source: int, graph: int) -> list[Matcher]:
        described = self._spec.sources[source]
        if described.changes:
            described = StreamedSource(self._spec.graphs[graph], changes=True)
        return router.matchers(described)
