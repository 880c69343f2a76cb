"""Jobs to measure on Spark: files to read, sessions, a job run to its end, and what Spark says of its triggers.

A trigger's time is Spark's own `triggerExecution`. The first trigger of a job starts workers, compiles and imports; it is
shown apart and never part of a speed.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

import millstream as ms
from benchmarks.workloads import STREAM, Patterns, Triple, cqels, lines
from millstream.pipeline.job.answers import Job
from millstream.pipeline.job.continuous import plan_job
from millstream.pipeline.job.inputs import files
from millstream.pipeline.runtime.session import session
from millstream.pipeline.state.processor import ANSWERS, FLUSHED, from_bytes

RATE = "rate:1000"


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder for files and checkpoints that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="millstream-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def spark_on(master: str, *, dedicated: bool = True, **settings: object) -> Iterator[tuple[SparkSession, float]]:
    """A session as `millstream run` has it, or one for whatever Spark can do; and how long it took to start."""
    began = time.perf_counter()
    spark = session(master, dedicated=dedicated, **settings)
    spark.range(1).collect()
    seconds = time.perf_counter() - began
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark, seconds
    finally:
        spark.stop()


def end_java() -> None:
    """Ends the Java of sessions that have been stopped: the next one has its own, compiled as it says."""
    gateway = SparkContext._gateway
    assert gateway is not None
    assert SparkContext._active_spark_context is None
    gateway.shutdown()
    # Java lives until its input ends.
    gateway.proc.stdin.close()
    gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None


def write_files(folder: Path, triples: Iterator[Triple], count: int, a_file: int) -> list[Path]:
    """So many triples as files of N-Triples whose names are in order."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for first in range(0, count, a_file):
        path = folder / f"{first // a_file:05d}.nt"
        path.write_text("".join(lines(islice(triples, min(a_file, count - first)))))
        written.append(path)
    return written


@dataclass(slots=True)
class Ran:
    """A job that ran to its end."""

    progress: list[dict[str, Any]]
    """What Spark says of each trigger that read something."""
    answers: int
    bindings: set[tuple[str, ...]] = field(default_factory=set)
    cpu: list[float] = field(default_factory=list)
    """CPU seconds of all processes after each batch."""
    stopped: bool = False
    """Whether a time limit ended it."""

    @property
    def cpu_s(self) -> float:
        """CPU seconds after the first batch: what a busy machine changes less than wall time."""
        return self.cpu[-1] - self.cpu[0] if len(self.cpu) > 1 else float("nan")

    @property
    def first_s(self) -> float:
        return float(self.progress[0]["durationMs"]["triggerExecution"]) / 1000

    @property
    def rest_s(self) -> float:
        """From the beginning of the second trigger to the end of the last."""
        if len(self.progress) < 2:
            return float("nan")
        last = self.progress[-1]
        began, ended = _instant(self.progress[1]), _instant(last) + last["durationMs"]["triggerExecution"] / 1000
        return float(ended - began)

    def trigger_ms(self, skipped: int = 2) -> float:
        """The median time of a trigger after the first few."""
        some = self.progress[skipped:] or self.progress
        return float(statistics.median(p["durationMs"]["triggerExecution"] for p in some))

    def spent_s(self, name: str) -> float:
        """What Spark says was spent on one of a trigger's steps, over all but the first."""
        return float(sum(p["durationMs"].get(name, 0) for p in self.progress[1:])) / 1000

    def state_s(self, name: str) -> float:
        """The same for what stateful operators say, summed over tasks."""
        return float(sum(s[name] for p in self.progress[1:] for s in p["stateOperators"])) / 1000


def tree_cpu_s() -> float:
    """CPU seconds of this process and all below it: Java, its Python workers, and those that have ended."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)], ticks[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(ticks[pid] for pid in ours if pid in ticks) / os.sysconf("SC_CLK_TCK")


def _instant(progress: dict[str, Any]) -> float:
    return datetime.fromisoformat(progress["timestamp"].replace("Z", "+00:00")).timestamp()


def run_stream(
    frame: DataFrame, checkpoint: Path, take: Callable[[DataFrame, int], None], limit_s: int | None = None
) -> tuple[list[dict[str, Any]], bool]:
    """Runs a streaming DataFrame over all there is: the triggers that read something, and whether the limit ended it."""
    writer = frame.writeStream.option("checkpointLocation", str(checkpoint)).foreachBatch(take)
    frame.sparkSession.conf.set("spark.sql.streaming.numRecentProgressUpdates", "1000")
    query = writer.trigger(availableNow=True).start()
    stopped = query.awaitTermination(limit_s) is False
    if stopped:
        query.stop()
    return [_plain(p) for p in query.recentProgress if p["numInputRows"]], stopped


def _plain(progress: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(progress.json) if hasattr(progress, "json") else dict(progress)
    return found


def plan(spark: SparkSession, patterns: Patterns, window: int, folder: Path, files_a_trigger: int, cells: int = 2) -> Job:
    source = files(str(folder), time=RATE, maxFilesPerTrigger=files_a_trigger)
    return plan_job(cqels(patterns, window), {STREAM: source}, cells=cells, once=True, spark=spark)


def run_job(job: Job, checkpoint: Path, *, keep: bool = False) -> Ran:
    """A planned job to its end; its answers reach this process, as a run's do."""
    tables: list[pa.Table] = []
    cpu: list[float] = []

    def take(batch: DataFrame, _: int) -> None:
        found = batch.toArrow()
        kinds, blobs = found["kind"].to_pylist(), found["blob"].to_pylist()
        tables.extend(
            from_bytes(blob) for kind, blob in zip(kinds, blobs, strict=True) if blob and kind in (ANSWERS, FLUSHED)
        )
        cpu.append(tree_cpu_s())

    progress, _ = run_stream(job.packed, checkpoint, take)
    ran = Ran(progress, sum(table.num_rows for table in tables), cpu=cpu)
    if keep:
        names = [v.value for v in job.spec.query.variables]
        ran.bindings = {row for table in tables for row in bindings_of(table, names)}
    return ran


def bindings_of(table: pa.Table, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(table[name].to_pylist() for name in names), strict=True) if table.num_rows else iter(())


def by_engine(paths: Sequence[Path], patterns: Patterns, window: int) -> tuple[int, float]:
    """How many answers the engine in one process gives, and its CPU seconds."""
    engine = ms.Engine()
    query = engine.register(cqels(patterns, window))
    text = io.BytesIO()
    for path in paths:
        text.write(path.read_bytes())
    began = time.process_time()
    engine.read(STREAM, text.getvalue(), format="nt", time=RATE)
    engine.finish()
    answers = query.take_table().num_rows
    return int(answers), time.process_time() - began
