"""Triples a second on two cores, from files to answers, and where the time goes.

Every job is run on Spark, and its steps once more in this process over the same files, each timed by itself: reading,
packing, the cells' own work, their keeping of slices. What is left of Spark's time is Spark's.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.report import Cell as Shown
from benchmarks.report import Part, Progress, Table, at_least
from benchmarks.spark_jobs import RATE, by_engine, plan, run_job, spark_on, workplace, write_files
from benchmarks.spark_store import DictStore
from benchmarks.timing import Effort
from benchmarks.workloads import QUERIES, STREAM, Patterns, cqels, universities
from millstream.pipeline.exchange.cell_keys import keys_of
from millstream.pipeline.exchange.packing import Packer
from millstream.pipeline.job.specification import StreamedSource, job_spec
from millstream.pipeline.source.reading import read_part
from millstream.pipeline.source.splits import Split as FilePart
from millstream.pipeline.state.cell import Cell
from millstream.pipeline.state.change_log import ChangeLog, InMemory, cell_log

ABOUT = "N-Triples files to answers on two cores, one triple an element, sliding window; triples a second of wall time."
WANTED = {"Q1": 2_000_000, "Q4": 800_000, "Q5": 800_000, "Q6": 4_000_000}
WANTED_ELSE = 400_000
MASTER = "local[2]"
STEPS = ("reading", "packing", "taking", "keeping")


@dataclass(frozen=True, slots=True)
class Size:
    universities: int
    triples: int
    a_file: int
    files_a_trigger: int
    window: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(1, 20_000, 5_000, 2, 5_000),
    "quick": Size(10, 1_000_000, 125_000, 4, 100_000),
    "full": Size(40, 4_800_000, 200_000, 8, 100_000),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("throughput", ABOUT)
    names = ["Q2", "Q6"] if effort == "smoke" else list(QUERIES)
    with workplace() as folder:
        progress("making universities")
        files = write_files(folder / "data", universities(size.universities), size.triples, size.a_file)
        with spark_on(MASTER) as (spark, started_s):
            progress("first jobs, to warm up")
            began = time.perf_counter()
            # One that keeps little and one that sends most of what it reads to cells: Java compiles what each of them needs.
            for name in names[:2] if effort == "smoke" else ("Q6", "Q1"):
                run_job(
                    plan(spark, QUERIES[name], size.window, folder / "data", size.files_a_trigger), folder / f"warm-{name}"
                )
            warmed_s = time.perf_counter() - began
            rows = [_measure(spark, name, files, folder, size, part, progress) for name in names]
    speeds = [row[:7] for row in rows]
    title = f"{size.triples:,} triples, {size.triples // size.a_file} files, window {size.window:,}, {MASTER}, 2 cells"
    columns = ("query", "triples a second", "a CPU-second", "first trigger, s", "the rest, s", "triggers", "answers")
    notes = [
        f"start of Spark {started_s:.1f} s, then two jobs to warm it up {warmed_s:.1f} s; neither is part of any speed",
        "the first trigger of each job starts workers and makes readers and cells; speeds are of the rest",
        f"a trigger reads {size.files_a_trigger} files of {size.a_file:,} triples; answers are counted against the engine's",
    ]
    part.tables.append(Table(title, columns, speeds, notes))
    where = ("query", *STEPS, "in all", "on Spark, CPU", "Spark's own, CPU", "wall", "planning, logs", "state commits")
    notes = [
        "CPU seconds of the same steps over the same files in this process, triggers but the first; then those on Spark",
        "on Spark: CPU seconds of Java, the driver and all workers; Spark's own: what is left of them without our steps",
        "planning, logs: wall seconds of triggerExecution less addBatch, in which no task runs",
        "state commits: commitTimeMs of both tasks",
    ]
    part.tables.append(Table("where the seconds go", where, [[row[0], *row[7:]] for row in rows], notes))
    return part


def _measure(
    spark: SparkSession, name: str, files: Sequence[Path], folder: Path, size: Size, part: Part, progress: Progress
) -> list[Shown]:
    patterns = QUERIES[name]
    progress(f"{name}, the engine's answers")
    expected, _ = by_engine(files, patterns, size.window)
    progress(f"{name} on Spark")
    job = plan(spark, patterns, size.window, folder / "data", size.files_a_trigger)
    ran = run_job(job, folder / f"checkpoint-{name}")
    assert ran.answers == expected, f"{name}: {ran.answers} answers on Spark, {expected} in the engine"
    progress(f"{name}, step by step")
    spent, answers = steps(files, patterns, size.window, size.files_a_trigger)
    assert answers == expected, f"{name}: {answers} answers step by step, {expected} in the engine"
    first = min(size.files_a_trigger, len(files)) * size.a_file
    speed = (size.triples - first) / ran.rest_s
    part.targets.append(at_least(f"{name}, triples a second on two cores", WANTED.get(name, WANTED_ELSE), speed))
    ours = sum(spent.values())
    idle = ran.spent_s("triggerExecution") - ran.spent_s("addBatch")
    steps_s = [spent[step] for step in STEPS]
    shares = [*steps_s, ours, ran.cpu_s, ran.cpu_s - ours, ran.rest_s, idle, ran.state_s("commitTimeMs")]
    return [
        name,
        speed,
        (size.triples - first) / ran.cpu_s,
        ran.first_s,
        ran.rest_s,
        len(ran.progress),
        ran.answers,
        *shares,
    ]


def steps(
    files: Sequence[Path], patterns: Patterns, window: int, files_a_trigger: int, cells: int = 2
) -> tuple[dict[str, float], int]:
    """CPU seconds of a job's steps in this process, its first trigger aside, and how many answers they give."""
    planned = job_spec(cqels(patterns, window), [StreamedSource(STREAM, rate=RATE.partition(":")[2])], cells=cells)
    packer, numbers = Packer(planned, 0), range(planned.cells.count)
    logs = [cell_log(planned, n) for n in numbers]
    stores = [DictStore() for _ in numbers]
    in_memory: list[InMemory[Cell] | None] = [None for _ in numbers]
    places = {key: n for n, key in enumerate(keys_of(planned.cells.count))}
    spent: dict[str, float] = defaultdict(float)
    answers = 0
    for first in range(0, len(files), files_a_trigger):
        clock = _Clock(spent if first else defaultdict(float))
        blobs: list[list[bytes]] = [[] for _ in numbers]
        for sequence, path in enumerate(files[first : first + files_a_trigger], first):
            file = FilePart(path=str(path), end=path.stat().st_size, sequence=sequence, time=RATE)
            packer.begin()
            clock.begin()
            for chunk, reading in enumerate(read_part(file, packer.dictionary, packer.summary, on_rejected=_unexpected)):
                clock.spend("reading")
                packer.add(file.sequence, chunk, reading)
                clock.spend("packing")
            for key, blob in packer.take():
                blobs[places[key]].append(blob)
            clock.spend("packing")
        if first + files_a_trigger >= len(files):
            for key, blob in packer.begin().nothing(FilePart(sequence=len(files), ended=True)):
                blobs[places[key]].append(blob)
        for n, log in enumerate(logs):
            store = stores[n]
            clock.begin()
            outcome, kept, took = _timed(log, store, in_memory[n], blobs[n])
            in_memory[n] = kept
            clock.spend("keeping")
            clock.move("keeping", "taking", took)
            answers += outcome
            store.commit()
    return spent, answers


def _timed(
    log: ChangeLog[Cell], store: DictStore, in_memory: InMemory[Cell] | None, blobs: list[bytes]
) -> tuple[int, InMemory[Cell], float]:
    """One trigger of a cell, and the seconds of it that the cell itself took."""
    took = 0.0
    take = Cell.take

    def timed(cell: Cell, given: list[bytes]):  # type: ignore[no-untyped-def]
        nonlocal took
        began = time.process_time()
        outcome = take(cell, given)
        took += time.process_time() - began
        return outcome

    Cell.take = timed  # type: ignore[method-assign, assignment]
    try:
        outcome, kept, cost = log.take(store, in_memory, blobs)
    finally:
        Cell.take = take  # type: ignore[method-assign]
    flushed = 0 if cost.flushed is None else cost.flushed.answers.num_rows
    return outcome.answers.num_rows + flushed, kept, took


class _Clock:
    """Counts CPU time on the account of steps."""

    def __init__(self, spent: dict[str, float]) -> None:
        self._spent = spent
        self._since = 0.0

    def begin(self) -> None:
        self._since = time.process_time()

    def spend(self, step: str) -> None:
        now = time.process_time()
        self._spent[step] += now - self._since
        self._since = now

    def move(self, source: str, target: str, seconds: float) -> None:
        self._spent[source] -= seconds
        self._spent[target] += seconds


def _unexpected(rejected: object) -> None:
    raise AssertionError(f"a benchmark's data is well-formed: {rejected}")
