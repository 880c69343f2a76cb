"""What it takes to make a cell again: from slices in process, through a restart of Spark, and when cells move."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame

from benchmarks.report import Cell as Shown
from benchmarks.report import Part, Progress, Table
from benchmarks.spark_jobs import RATE, Ran, plan, run_job, run_stream, spark_on, workplace, write_files
from benchmarks.spark_store import DictStore
from benchmarks.timing import Effort
from benchmarks.workloads import LINKS, QUERIES, STREAM, Patterns, cqels, links, universities
from millstream.pipeline.exchange.packing import Packer
from millstream.pipeline.job.continuous import plan_job
from millstream.pipeline.job.inputs import files as files_of
from millstream.pipeline.job.specification import StreamedSource, job_spec
from millstream.pipeline.source.reading import read_part
from millstream.pipeline.source.splits import Split as FilePart
from millstream.pipeline.state.cell import Cell
from millstream.pipeline.state.change_log import ChangeLog, InMemory, cell_log

ABOUT = "Making a cell again from what the state store holds."


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    """How many a cell holds."""
    a_trigger: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(10_000, 2_000),
    "quick": Size(200_000, 20_000),
    "full": Size(1_000_000, 100_000),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("recovery", ABOUT)
    with workplace() as folder:
        progress("making links")
        files = write_files(folder / "links", links(size.triples), size.triples, size.a_trigger)
        rebuild(size, files, part, progress)
        restart(size, folder, part, progress)
        progress("making universities")
        write_files(folder / "data", universities(size.triples // 100_000 + 1), size.triples, size.a_trigger)
        move(size, folder, part, progress)
    return part


def _log(patterns: Patterns, window: int | None) -> tuple[ChangeLog[Cell], Packer]:
    text = cqels(patterns, 0).replace("RANGE 0ms", "ALL") if window is None else cqels(patterns, window)
    planned = job_spec(text, [StreamedSource(STREAM, rate=RATE.partition(":")[2])], cells=1)
    return cell_log(planned, 0), Packer(planned, 0)


def _blobs(packer: Packer, path: Path, sequence: int) -> list[bytes]:
    file = FilePart(path=str(path), end=path.stat().st_size, sequence=sequence, time=RATE)
    packer.begin()
    readings = read_part(file, packer.dictionary, packer.summary, on_rejected=_unexpected)
    for chunk, reading in enumerate(readings):
        packer.add(file.sequence, chunk, reading)
    return [blob for _, blob in packer.take()]


def _unexpected(rejected: object) -> None:
    raise AssertionError(f"a benchmark's data is well-formed: {rejected}")


def rebuild(size: Size, files: Sequence[Path], part: Part, progress: Progress) -> None:
    """One cell that holds everything, made again in a process that knows nothing of it."""
    rows: list[list[Shown]] = []
    for what, window in (("from slices, RANGE", 2 * size.triples), ("from its whole state, ALL", None)):
        progress(f"a cell {what}")
        log, packer = _log(LINKS, window)
        store, in_memory = DictStore(), None
        spent = 0.0
        *before, last = files
        for sequence, path in enumerate(before):
            blobs = _blobs(packer, path, sequence)
            began = time.process_time()
            _, in_memory, _ = log.take(store, in_memory, blobs)
            store.commit()
            spent += time.process_time() - began
        blobs = _blobs(packer, last, len(before))
        kept_bytes = store.bytes
        usual = _taken(log, store, in_memory, blobs)
        again = _taken(log, store, None, blobs)
        rows.append([what, kept_bytes / 1e6, spent, usual * 1000, again, again - usual, size.triples / (again - usual)])
    title = f"a cell of {size.triples:,} triples that all match, {len(files)} triggers; CPU seconds in process"
    columns = (
        "what",
        "kept, MB",
        "all triggers",
        "a trigger, ms",
        "the same after a loss",
        "making it again",
        "triples a second",
    )
    part.tables.append(Table(title, columns, rows, ["nothing of the attempt is committed, so both see the same store"]))


def _taken(log: ChangeLog[Cell], store: DictStore, in_memory: InMemory[Cell] | None, blobs: list[bytes]) -> float:
    began = time.process_time()
    log.take(store, in_memory, blobs)
    return time.process_time() - began


def restart(size: Size, folder: Path, part: Part, progress: Progress) -> None:
    """The same through Spark: stopped before the last file, and started again in a session of its own."""
    text = cqels(LINKS, 2 * size.triples)
    data, held = folder / "links", folder / ".held.nt"
    last = sorted(data.iterdir())[-1]
    last.rename(held)
    found: list[list[Shown]] = []
    runs: list[Ran] = []
    for name in ("first", "again"):
        with spark_on("local[2]") as (spark, started_s):
            progress(f"Spark, {name}")
            source = files_of(str(data), time=RATE, maxFilesPerTrigger=4)
            job = plan_job(text, {STREAM: source}, cells=1, spark=spark)
            ran = Ran(run_stream(job.packed, folder / "restart", _passed_over)[0], 0)
            runs.append(ran)
            found.append([name, len(ran.progress), ran.first_s, ran.trigger_ms(1), started_s])
        if name == "first":
            held.rename(last)
    with spark_on("local[2]") as (spark, started_s):
        progress("Spark, an empty start")
        one = folder / "one"
        one.mkdir()
        (one / last.name).write_bytes(last.read_bytes())
        source = files_of(str(one), time=RATE, maxFilesPerTrigger=4)
        job = plan_job(text, {STREAM: source}, cells=1, spark=spark)
        ran = Ran(run_stream(job.packed, folder / "fresh", _passed_over)[0], 0)
        found.append(["the same file, nothing kept", len(ran.progress), ran.first_s, None, started_s])
        cost = runs[1].first_s - ran.first_s
    title = f"Spark stopped and started again, one cell of {size.triples:,} triples"
    columns = ("run", "triggers", "first trigger, s", "a trigger, ms", "start of Spark, s")
    notes = [f"making the cell again: {cost:.1f} s more than the first trigger of a job that has nothing to make again"]
    part.tables.append(Table(title, columns, found, notes))


def _passed_over(batch: DataFrame, _: int) -> None:
    batch.toArrow()


def move(size: Size, folder: Path, part: Part, progress: Progress) -> None:
    """Cells that change workers read what they missed; with one-core executors they stay."""
    rows: list[list[Shown]] = []
    for master in ("local[2]", "local-cluster[2,1,1024]"):
        with spark_on(master) as (spark, _):
            progress(f"Q7 on {master}")
            ran = run_job(plan(spark, QUERIES["Q7"], size.triples // 4, folder / "data", 1), folder / f"move-{master}")
            rows.append([master, len(ran.progress), ran.trigger_ms(), ran.rest_s, ran.answers])
    title = f"cells that move, Q7, {size.triples:,} triples in triggers of {size.a_trigger:,}, 2 cells"
    columns = ("master", "triggers", "a trigger, ms", "all but the first, s", "answers")
    part.tables.append(Table(title, columns, rows))
