"""HyperCube routing: a triple goes, once for each pattern it matches, to all cells that the variables it binds allow.

Terms are hashed by content, so that every process routes alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.dataflow.dataflow import Dataflow
from millstream.operators.expressions import Bounds, Evaluator
from millstream.operators.leaves.matching import Matcher
from millstream.pipeline.job.specification import JobSpec, StreamedSource
from millstream.plan.conjunction import SourcedPattern
from millstream.plan.distribute.cells import Cells

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Routed:
    """Rows on their way: places of triples, the pattern each is meant for, the cell it goes to."""

    row: Ids
    pattern: Ids
    cell: Ids

    def __len__(self) -> int:
        return len(self.row)


class Router:
    """The routes of a query's patterns, in one process."""

    def __init__(self, spec: JobSpec, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        evaluator = Evaluator(dictionary, now_ms=spec.now_ms, base=spec.query.base, bounds=Bounds(spec.limits))
        self._dataflow = Dataflow(dictionary, evaluator)
        self._dataflow.add(spec.plan)
        self._spec = spec
        self._routes = [_Route(spec.cells, number) for number in range(len(spec.patterns))]
        self._constant = [_constant_places(pattern) for pattern in spec.patterns]

    def matchers(self, source: StreamedSource) -> list[Matcher]:
        """Those of the patterns that a source feeds."""
        readers = (reader for leaf in self._dataflow.leaves for reader in leaf.operator.matchers.items())
        return [m for of, m in readers if self._spec.reads(source, of)]

    def constants(self, source: StreamedSource) -> list[tuple[bytes | None, bytes | None, bytes | None]]:
        """What a triple of a source must have for one of the patterns."""
        return [c for matcher in self.matchers(source) for c in matcher.constants]

    def route(self, triples: Ids, matchers: list[Matcher]) -> Routed:
        """Where triples go, in order of triples within a cell."""
        found = [matcher.match(triples) for matcher in matchers]
        row = np.concatenate([np.empty(0, np.int64), *(r for r, _ in found)])
        pattern = np.concatenate([np.empty(0, np.int64), *(p for _, p in found)])
        rows, patterns, cells = [], [], []
        for number, route in enumerate(self._routes):
            ours = row[pattern == number]
            if len(ours):
                to = route.cells(triples[ours], self._dictionary)
                copies = to.shape[1]
                rows.append(np.repeat(ours, copies))
                patterns.append(np.full(len(ours) * copies, number, np.int64))
                cells.append(to.ravel())
        if not rows:
            nothing = np.empty(0, np.int64)
            return Routed(nothing, nothing, nothing)
        row, pattern, cell = (np.concatenate(parts) for parts in (rows, patterns, cells))
        # As lexsort((pattern, row, cell)): rows are in order for each pattern, and few cells sort by their digits.
        order = np.argsort(row * len(self._routes) + pattern, kind="stable")
        small = cell.astype(np.uint16) if self._spec.cells.count <= 1 << 16 else cell
        order = order[np.argsort(small[order], kind="stable")]
        return Routed(row[order], pattern[order], cell[order])

    def unbound(self, triples: Ids, pattern: Ids) -> Ids:
        """Triples with -1 where their pattern has a constant: what every cell knows need not travel."""
        carried: Ids = triples.copy()
        for number, constant in enumerate(self._constant):
            if constant:
                ours = np.flatnonzero(pattern == number)
                for position in constant:
                    carried[ours, position] = -1
        return carried

    def goes_to(self, cell: int, part: int, rows: Ids) -> npt.NDArray[np.bool_]:
        """Which rows of a part of the plan that was evaluated ahead go to a cell."""
        route = _Route(self._spec.cells, len(self._routes) + part)
        found: npt.NDArray[np.bool_] = (route.cells(rows, self._dictionary) == cell).any(axis=1)
        return found


def _constant_places(pattern: SourcedPattern) -> list[int]:
    terms = (pattern.triple.subject, pattern.triple.predicate, pattern.triple.object)
    return [i for i, term in enumerate(terms) if term not in pattern.variables]


class _Route:
    """Of one pattern, or of a part of the plan that was evaluated ahead; what is unbound counts as any other value."""

    def __init__(self, cells: Cells, number: int) -> None:
        strides = [1] * len(cells.shares)
        for d in range(len(cells.shares) - 2, -1, -1):
            strides[d] = strides[d + 1] * cells.shares[d + 1]
        known = cells.dimensions(number)
        self._known = [(position, cells.shares[d], strides[d]) for d, position in known]
        others = np.zeros(1, np.int64)
        for d, share in enumerate(cells.shares):
            if d not in {d for d, _ in known}:
                others = (others[:, None] + np.arange(share) * strides[d]).ravel()
        self._others = others

    def cells(self, triples: Ids, dictionary: Dictionary) -> Ids:
        """For each triple or row the cells it goes to, a row each."""
        base = np.zeros(len(triples), np.int64)
        for position, share, stride in self._known:
            hashes = dictionary.hashes(np.ascontiguousarray(triples[:, position])).astype(np.int64)
            base += hashes % share * stride
        cells: Ids = base[:, None] + self._others[None, :]
        return cells
