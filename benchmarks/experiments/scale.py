"""Scale: the engine in one process beside Spark on one and on two cores, and queries cut into up to eight cells.

All run over the same files of universities, one triple an element, and must give as many answers. In this process cells are
also run without Spark, step by step, which shows what cutting a query costs by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Cell, Part, Plot, Progress, Series, Table, at_least
from benchmarks.spark_cells import Loads, encoded_triples
from benchmarks.spark_jobs import Ran, by_engine, plan, run_job, spark_on, workplace, write_files
from benchmarks.spark_throughput import STEPS, steps
from benchmarks.timing import Effort
from benchmarks.workloads import QUERIES, universities

ABOUT = "The engine in one process, Spark on one and two cores, and one to eight cells, over the same files."
NAMES = ("Q1", "Q6", "Q7")
CUT = "Q7"
"""What is cut into cells: its grid has several sides."""
TWO_EXECUTORS = 1.6


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    a_file: int
    files_a_trigger: int
    window: int
    cells: tuple[int, ...]
    spark: bool
    """Whether jobs are run on Spark, which takes Java and a minute."""


SIZES: dict[Effort, Size] = {
    "smoke": Size(24_000, 3_000, 4, 12_000, (1, 2), spark=False),
    "quick": Size(600_000, 50_000, 4, 50_000, (1, 2, 4), spark=True),
    "full": Size(2_000_000, 100_000, 5, 100_000, (1, 2, 4, 8), spark=True),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("scale", ABOUT)
    jobs = 2 * len(NAMES) + len(size.cells) if size.spark else 0
    progress.expect(1 + len(NAMES) + len(size.cells) + jobs)
    with workplace() as folder:
        progress("making universities")
        files = write_files(folder / "data", universities(size.triples // 100_000 + 1), size.triples, size.a_file)
        embedded = {}
        for name in NAMES:
            progress(f"{name} in one process")
            embedded[name] = by_engine(files, QUERIES[name], size.window)
        without_spark(size, files, embedded[CUT], part, progress)
        if size.spark:
            cores(size, folder, embedded, part, progress)
            cells(size, folder, embedded[CUT][0], part, progress)
        else:
            part.missing.append("jobs on Spark, in the smallest run")
    return part


def without_spark(size: Size, files: list[Path], engine: tuple[int, float], part: Part, progress: Progress) -> None:
    """The steps of a job in this process: what cells cost beside the engine."""
    rows: list[list[Cell]] = []
    # The first trigger is not part of the steps.
    rest = size.triples - size.files_a_trigger * size.a_file
    answers, seconds = engine
    rows.append(["engine", None, *(None for _ in STEPS), seconds / size.triples * 1e9, 1.0, answers])
    alone = seconds / size.triples
    for count in size.cells:
        progress(f"{CUT} in {count} cells, without Spark")
        spent, found = steps(files, QUERIES[CUT], size.window, size.files_a_trigger, count)
        assert found == answers, f"{CUT}: {found} answers in {count} cells, {answers} in the engine"
        each = [spent[step] / rest * 1e9 for step in STEPS]
        rows.append([f"{count} cell{'s' if count > 1 else ''}", count, *each, sum(each), sum(each) / 1e9 / alone, found])
    columns = ("run", "cells", *(f"{step}, ns" for step in STEPS), "in all, ns a triple", "times the engine", "answers")
    notes = ["CPU time a triple of the steps of a job, one after the other in this process, the first trigger aside"]
    part.tables.append(Table(f"{CUT} in cells without Spark", columns, rows, notes))


def cores(size: Size, folder: Path, embedded: dict[str, tuple[int, float]], part: Part, progress: Progress) -> None:
    """One-core executors, one and two of them, two cells."""
    rows: list[list[Cell]] = []
    speeds: dict[tuple[str, int], float] = {}
    for name, (answers, seconds) in embedded.items():
        rows.append([name, "one process", size.triples / seconds, None, size.triples / seconds, None, answers])
    for executors in (1, 2):
        with spark_on(f"local-cluster[{executors},1,1024]") as (spark, started_s):
            for name in NAMES:
                progress(f"{name} on {executors} executors")
                job = plan(spark, QUERIES[name], size.window, folder / "data", size.files_a_trigger)
                ran = run_job(job, folder / f"executors-{executors}-{name}")
                expected = embedded[name][0]
                assert ran.answers == expected, f"{name}: {ran.answers} answers on Spark, {expected} in the engine"
                speeds[name, executors] = _speed(ran, size)
                times = speeds[name, executors] / speeds[name, 1]
                a_cpu_second = (size.triples - size.files_a_trigger * size.a_file) / ran.cpu_s
                where = f"Spark, {executors} executor{'s' if executors > 1 else ''}"
                rows.append(
                    [name, where, speeds[name, executors], times, a_cpu_second, started_s + ran.first_s, ran.answers]
                )
    for name in NAMES:
        times = speeds[name, 2] / speeds[name, 1]
        part.targets.append(at_least(f"{name}, two one-core executors beside one", TWO_EXECUTORS, times, " times"))
    rows.sort(key=lambda row: str(row[0]))
    columns = ("query", "run", "triples a second", "times one", "a CPU-second", "start, s", "answers")
    title = f"cores: {size.triples:,} triples, window {size.window:,}, 2 cells on Spark"
    notes = [
        "one process: of CPU time, from bytes to answers; Spark: of wall time after the first trigger, files to answers",
        "start: Spark's own and the first trigger, which starts workers; the driver shares the same cores",
    ]
    part.tables.append(Table(title, columns, rows, notes))
    series = [
        Series("one process", list(NAMES), [size.triples / embedded[name][1] for name in NAMES]),
        *(Series(f"Spark, {n}", list(NAMES), [speeds[name, n] for name in NAMES]) for n in (1, 2)),
    ]
    title, note = "One process beside one-core executors", "one process: of CPU time; Spark: of wall time, start-up aside"
    part.plots.append(Plot(title, "query", "triples a second", series, log_y=True, note=note))


def cells(size: Size, folder: Path, expected: int, part: Part, progress: Progress) -> None:
    """More cells than cores."""
    rows: list[list[Cell]] = []
    triples = encoded_triples(universities(2), min(size.triples, 100_000))
    with spark_on("local[2]") as (spark, _):
        for count in size.cells:
            progress(f"{CUT} in {count} cells")
            job = plan(spark, QUERIES[CUT], size.window, folder / "data", size.files_a_trigger, count)
            ran = run_job(job, folder / f"cells-{count}")
            assert ran.answers == expected, f"{CUT}: {ran.answers} answers in {count} cells, {expected} in the engine"
            loads = Loads(QUERIES[CUT], count, *triples)
            grid = " x ".join(map(str, job.spec.cells.shares)) or "1"
            first = rows[0][3] if rows else _speed(ran, size)
            times = _speed(ran, size) / float(first or 1)
            rows.append([count, grid, loads.replication, _speed(ran, size), times, ran.trigger_ms(1), ran.answers])
    columns = ("cells", "grid", "replication", "triples a second", "times one cell", "a trigger, ms", "answers")
    title = f"{CUT} in more cells: {size.triples:,} triples, window {size.window:,}, local[2]"
    part.tables.append(
        Table(title, columns, rows, ["replication: rows that cells get for every row that matches a pattern"])
    )
    speed = Series("Spark", [float(row[0] or 0) for row in rows], [float(row[3] or 0) for row in rows])
    part.plots.append(Plot(f"{CUT} in more cells on two cores", "cells", "triples a second", [speed]))


def _speed(ran: Ran, size: Size) -> float:
    return (size.triples - size.files_a_trigger * size.a_file) / ran.rest_s
