"""Cells: how plans for up to a thousand of them load them. `scale` runs jobs in cells."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from benchmarks.report import Cell, Part, Progress, Table
from benchmarks.spark_bounds import packing_bound, real_shares_load
from benchmarks.timing import Effort
from benchmarks.workloads import LINKS, QUERIES, STREAM, Patterns, Triple, cqels, lines, links, universities
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.scanner import Scanner
from millstream.pipeline.exchange.routing import Router
from millstream.pipeline.job.specification import StreamedSource, job_spec

ABOUT = "How plans for many cells load them: triples routed as on Spark, without it."
TRIANGLE: Patterns = [
    ("?a", "<http://example.org/knows>", "?b"),
    ("?b", "<http://example.org/likes>", "?c"),
    ("?c", "<http://example.org/follows>", "?a"),
]


@dataclass(frozen=True, slots=True)
class Size:
    routed: int
    simulated: tuple[int, ...]


SIZES: dict[Effort, Size] = {
    "smoke": Size(5_000, (1, 8)),
    "quick": Size(50_000, (1, 8, 64)),
    "full": Size(200_000, (1, 2, 8, 27, 64, 216, 512, 1000)),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("cells", ABOUT)
    workloads: dict[str, tuple[Patterns, Iterator[Triple]]] = {
        "triangle": (TRIANGLE, corners(size.routed)),
        "links": (LINKS, links(size.routed)),
        "Q1": (QUERIES["Q1"], universities(4)),
        "Q7": (QUERIES["Q7"], universities(4)),
    }
    rows: list[list[Cell]] = []
    for name, (patterns, triples) in workloads.items():
        ids = encoded_triples(triples, size.routed)
        for cells in size.simulated:
            progress(f"{name} in {cells} cells, routed only")
            loads = Loads(patterns, cells, *ids)
            grid = " x ".join(map(str, loads.shares)) or "1"
            real, bound = real_shares_load(loads.edges, loads.sizes, cells), packing_bound(loads.edges, loads.sizes, cells)
            known = Loads(patterns, cells, *ids, loads.sizes)
            mean, most = float(loads.by_cell.mean()), int(loads.by_cell.max())
            rows.append(
                [
                    *(name, cells, grid, loads.replication, mean, most, most / mean),
                    *(int(known.by_cell.max()), real, most / real, loads.most_of_a_view, bound),
                ]
            )
    columns = (
        "query",
        "cells",
        "grid",
        "replication",
        "rows a cell, mean",
        "most",
        "most / mean",
        "most, sizes known",
        "real shares",
        "most / real shares",
        "most of one view",
        "LP bound of it",
    )
    notes = [
        "rows routed by content as on Spark, without it; shares planned with all views taken as equal, as jobs plan them",
        "most, sizes known: the same with shares planned for the sizes that the views have",
        "real shares: the least mean load if shares need not be whole and sizes are known; for the triangle 3 N / p^(2/3)",
        "LP bound: no plan of one round can have less of some view in every cell (fractional edge packing)",
    ]
    part.tables.append(Table(f"plans for many cells, {size.routed:,} triples routed", columns, rows, notes))
    return part


def corners(nodes: int, seed: int = 3) -> Iterator[Triple]:
    """Endless random edges of a triangle's three kinds."""
    draw = random.Random(seed)
    while True:
        a, b = (f"<http://example.org/node/{draw.randrange(nodes)}>" for _ in range(2))
        yield a, TRIANGLE[draw.randrange(3)][1], b


def encoded_triples(triples: Iterator[Triple], count: int) -> tuple[Dictionary, npt.NDArray[np.int64]]:
    dictionary = Dictionary()
    found = Scanner(dictionary).feed("".join(lines(islice(triples, count))).encode(), True)
    return dictionary, np.column_stack([found.s, found.p, found.o])


class Loads:
    """How many rows each cell gets."""

    def __init__(
        self,
        patterns: Patterns,
        cells: int,
        dictionary: Dictionary,
        triples: npt.NDArray[np.int64],
        sizes: Mapping[int, float] | None = None,
    ) -> None:
        source = StreamedSource(STREAM, rate="1000")
        planned = job_spec(cqels(patterns, 1000), [source], cells=cells, sizes=sizes)
        router = Router(planned, dictionary)
        routed = router.route(triples, router.matchers(source))
        count = planned.cells.count
        self.shares = planned.cells.shares
        self.by_cell = np.bincount(routed.cell, minlength=count)
        by_view = np.bincount(routed.pattern * count + routed.cell, minlength=count * len(patterns)).reshape(-1, count)
        self.most_of_a_view = int(by_view.max())
        copies = [planned.cells.replication(number) for number in range(len(planned.patterns))]
        self.sizes = {j: float(by_view[j].sum()) / copies[j] for j in range(len(patterns))}
        self.edges = [frozenset(str(v) for v in pattern.variables) for pattern in planned.patterns]
        self.replication = len(routed) / sum(self.sizes.values())
