"""Cells: two executors beside one, what replication costs, and how plans for up to a thousand cells load them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.report import Cell, Part, Progress, Table, at_least
from benchmarks.spark_bounds import packing_bound, real_shares_load
from benchmarks.spark_jobs import Ran, by_engine, plan, run_job, spark_on, workplace, write_files
from benchmarks.timing import Effort
from benchmarks.workloads import LINKS, QUERIES, STREAM, Patterns, Triple, cqels, lines, links, universities
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scanner import Scanner
from millstream.pipeline.routing import Router
from millstream.pipeline.spread import StreamedSource, spread

ABOUT = "How work spreads over executors and cells, and how plans for many cells load them."
TRIANGLE: Patterns = [
    ("?a", "<http://example.org/knows>", "?b"),
    ("?b", "<http://example.org/likes>", "?c"),
    ("?c", "<http://example.org/follows>", "?a"),
]
TWO_EXECUTORS = 1.6


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    a_file: int
    files_a_trigger: int
    window: int
    cells: tuple[int, ...]
    routed: int
    simulated: tuple[int, ...]


SIZES: dict[Effort, Size] = {
    "smoke": Size(8_000, 1_000, 4, 2_000, (1, 2), 5_000, (1, 8)),
    "quick": Size(600_000, 50_000, 4, 50_000, (1, 2, 4), 50_000, (1, 8, 64)),
    "full": Size(1_000_000, 100_000, 5, 100_000, (1, 2, 4, 8), 200_000, (1, 2, 8, 27, 64, 216, 512, 1000)),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("cells", ABOUT)
    with workplace() as folder:
        progress("making universities")
        files = write_files(folder / "data", universities(size.triples // 100_000 + 1), size.triples, size.a_file)
        two_executors(size, folder, files, part, progress)
        more_cells(size, folder, files, part, progress)
    simulate(size, part, progress)
    return part


def _speed(ran: Ran, size: Size) -> float:
    return (size.triples - size.files_a_trigger * size.a_file) / ran.rest_s


def two_executors(size: Size, folder: Path, files: list[Path], part: Part, progress: Progress) -> None:
    rows: list[list[Cell]] = []
    names = ("Q1", "Q6")
    expected = {name: by_engine(files, QUERIES[name], size.window)[0] for name in names}
    speeds: dict[tuple[str, int], float] = {}
    for executors in (1, 2):
        with spark_on(f"local-cluster[{executors},1,1024]") as (spark, started_s):
            for name in names:
                progress(f"{name} on {executors} executors")
                job = plan(spark, QUERIES[name], size.window, folder / "data", size.files_a_trigger)
                ran = run_job(job, folder / f"executors-{executors}-{name}")
                assert ran.answers == expected[name], f"{name}: {ran.answers} answers, {expected[name]} in the engine"
                speeds[name, executors] = _speed(ran, size)
                rows.append([name, executors, speeds[name, executors], ran.first_s, ran.rest_s, started_s])
    for row in rows:
        row.insert(3, speeds[str(row[0]), int(row[1] or 1)] / speeds[str(row[0]), 1])
    for name in names:
        times = speeds[name, 2] / speeds[name, 1]
        part.targets.append(at_least(f"{name}, two one-core executors beside one", TWO_EXECUTORS, times, " times"))
    columns = ("query", "executors", "triples a second", "times one", "first trigger, s", "the rest, s", "start, s")
    title = f"one-core executors, {size.triples:,} triples, window {size.window:,}, 2 cells"
    notes = ["the driver and its logs share the same two cores, so two executors have less than two cores"]
    part.tables.append(Table(title, columns, rows, notes))


def more_cells(size: Size, folder: Path, files: list[Path], part: Part, progress: Progress) -> None:
    rows: list[list[Cell]] = []
    with spark_on("local[2]") as (spark, _):
        for name in ("Q7",):
            triples = _encoded(universities(2), size.routed)
            slowest = 0.0
            for cells in size.cells:
                progress(f"{name} in {cells} cells")
                job = plan(spark, QUERIES[name], size.window, folder / "data", size.files_a_trigger, cells)
                ran = run_job(job, folder / f"cells-{cells}-{name}")
                speed = _speed(ran, size)
                slowest = slowest or speed
                loads = _Loads(QUERIES[name], cells, *triples)
                grid = " x ".join(map(str, job.spread.cells.shares)) or "1"
                rows.append([name, cells, grid, loads.replication, speed, speed / slowest, ran.trigger_ms(1), ran.answers])
    columns = ("query", "cells", "grid", "replication", "triples a second", "times one cell", "a trigger, ms", "answers")
    title = f"more cells on two cores, {size.triples:,} triples, window {size.window:,}, local[2]"
    notes = ["replication: rows that cells get for every row that matches a pattern"]
    part.tables.append(Table(title, columns, rows, notes))


# Plans without Spark --------------------------------------------------------------------------------------------------


def simulate(size: Size, part: Part, progress: Progress) -> None:
    workloads: dict[str, tuple[Patterns, Iterator[Triple]]] = {
        "triangle": (TRIANGLE, corners(size.routed)),
        "links": (LINKS, links(size.routed)),
        "Q1": (QUERIES["Q1"], universities(4)),
        "Q7": (QUERIES["Q7"], universities(4)),
    }
    rows: list[list[Cell]] = []
    for name, (patterns, triples) in workloads.items():
        encoded = _encoded(triples, size.routed)
        for cells in size.simulated:
            progress(f"{name} in {cells} cells, routed only")
            loads = _Loads(patterns, cells, *encoded)
            grid = " x ".join(map(str, loads.shares)) or "1"
            real, bound = real_shares_load(loads.edges, loads.sizes, cells), packing_bound(loads.edges, loads.sizes, cells)
            known = _Loads(patterns, cells, *encoded, loads.sizes)
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


def corners(nodes: int, seed: int = 3) -> Iterator[Triple]:
    """Endless random edges of a triangle's three kinds."""
    draw = random.Random(seed)
    while True:
        a, b = (f"<http://example.org/node/{draw.randrange(nodes)}>" for _ in range(2))
        yield a, TRIANGLE[draw.randrange(3)][1], b


def _encoded(triples: Iterator[Triple], count: int) -> tuple[Dictionary, npt.NDArray[np.int64]]:
    dictionary = Dictionary()
    found = Scanner(dictionary).feed("".join(lines(islice(triples, count))).encode(), True)
    return dictionary, np.column_stack([found.s, found.p, found.o])


class _Loads:
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
        planned = spread(cqels(patterns, 1000), [source], cells=cells, sizes=sizes)
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
