"""Beside what Spark offers by itself: its stream-stream joins, and Spark SQL over the window's rows in every batch.

All three go through the same triples in the same triggers with the same window. Spark's own ways read Parquet with
parsed terms, millstream N-Triples text. Before any time counts, all give the same set of solutions: a solution appears
if some arrivals of its triples are less than the window apart.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import StreamingQueryException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from benchmarks.peers.question import connected, names_of, variables_of
from benchmarks.report import Cell, Part, Progress, Table, at_least
from benchmarks.spark_jobs import Ran, bindings_of, plan, run_job, run_stream, spark_on, tree_cpu_s, workplace, write_files
from benchmarks.timing import Effort
from benchmarks.workloads import QUERIES, Patterns, Triple, universities

ABOUT = "The same acyclic queries by Spark's stream-stream joins and by Spark SQL over the window in every batch, two cores."
ACYCLIC = ("Q2", "Q4", "Q5", "Q6")
WANTED = 5.0
MASTER = "local[2]"
OURS, JOINS, AGAIN = "millstream", "stream-stream joins", "recomputed"
Bindings = set[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    a_trigger: int
    window: int
    rounds: int
    queries: Sequence[str]


SIZES: dict[Effort, Size] = {
    "smoke": Size(12_000, 4_000, 5_000, 1, ("Q2", "Q6")),
    "quick": Size(60_000, 20_000, 40_000, 1, ACYCLIC),
    "full": Size(1_000_000, 200_000, 400_000, 1, ACYCLIC),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("peers", ABOUT)
    rows: list[list[Cell]] = []
    with workplace() as folder:
        progress("making universities")
        triples = list(islice(universities(20), size.triples))
        write_files(folder / "text", iter(triples), size.triples, size.a_trigger)
        write_parquet(folder / "parquet", triples, size.a_trigger)
        with spark_on(MASTER) as (spark, _):
            for name in size.queries:
                rows.append(_measure(spark, name, folder, size, part, progress))
    title = f"{size.triples:,} triples in triggers of {size.a_trigger:,}, window {size.window:,}, {MASTER}"
    ways = (OURS, JOINS, AGAIN)
    columns = (
        *("query", "patterns", *(f"{way}, s" for way in ways), "times the better"),
        *(*(f"{way}, CPU" for way in ways), "a trigger of millstream, ms", "solutions"),
    )
    notes = [
        "seconds from the second trigger to the end, then CPU seconds of all processes after the first batch",
        "Spark's ways read parsed terms from Parquet; millstream parses N-Triples",
        "Spark's joins give a solution once for every choice of arrivals, millstream once while it holds: sets are compared",
        "a stream-stream join emits no end of a solution; recomputing gives solutions that appeared, at the batch's end",
    ]
    part.tables.append(Table(title, columns, rows, notes))
    return part


def _measure(spark: SparkSession, name: str, folder: Path, size: Size, part: Part, progress: Progress) -> list[Cell]:
    patterns = QUERIES[name]
    ways: dict[str, Callable[[Path], Ran]] = {
        OURS: lambda place: run_job(plan(spark, patterns, size.window, folder / "text", 1), place, keep=True),
        JOINS: lambda place: by_joins(spark, patterns, size.window, folder / "parquet", place),
        AGAIN: lambda place: by_recomputing(spark, patterns, size, folder / "parquet", place),
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    found: dict[str, Ran] = {}
    for turn in range(size.rounds):
        for way, run_way in ways.items():
            progress(f"{name}, {way}, round {turn + 1} of {size.rounds}")
            spark.conf.set("spark.sql.shuffle.partitions", "2")
            try:
                found[way] = run_way(folder / "checkpoints" / f"{name}-{way}-{turn}")
            except StreamingQueryException as error:
                part.missing.append(f"{name}, {way}: Spark refuses it: {str(error).splitlines()[0][:200]}")
                continue
            seconds[way].append(found[way].rest_s)
    peers = [way for way in (JOINS, AGAIN) if seconds[way]]
    for way in peers:
        extra, missing = found[way].bindings - found[OURS].bindings, found[OURS].bindings - found[way].bindings
        assert not extra | missing, f"{name}, {way}: {len(extra)} solutions too many, {len(missing)} missing"
    spent = {way: statistics.median(some) if some else None for way, some in seconds.items()}
    times = min(spent[way] or 0 for way in peers) / (spent[OURS] or 0)
    part.targets.append(at_least(f"{name}, over the better of Spark's own ways", WANTED, times, " times"))
    cpu = [found[way].cpu_s if way in found else None for way in ways]
    return [name, len(patterns), *spent.values(), times, *cpu, found[OURS].trigger_ms(), len(found[OURS].bindings)]


def write_parquet(folder: Path, triples: Sequence[Triple], a_file: int) -> None:
    """The triples with their times, parsed; a file a trigger."""
    folder.mkdir(parents=True)
    for first in range(0, len(triples), a_file):
        some = triples[first : first + a_file]
        at = pa.array(range(first, first + len(some)), pa.int64())
        columns = {name: pa.array([t[i] for t in some]) for i, name in enumerate("spo")}
        table = pa.table({**columns, "at_ms": at, "at": at.cast(pa.timestamp("ms", "UTC"))})
        path = folder / f"{first // a_file:05d}.parquet"
        pq.write_table(table, path)
        # Spark takes files in the order of their times.
        os.utime(path, (1_000_000_000 + first, 1_000_000_000 + first))


def view(rows: DataFrame, number: int, pattern: Triple) -> DataFrame:
    """What a pattern matches: its variables, and the time as t0, t1, ..."""
    conditions = [f.col(place) == term for place, term in zip("spo", pattern, strict=True) if not term.startswith("?")]
    variables = [f.col(place).alias(term[1:]) for place, term in zip("spo", pattern, strict=True) if term.startswith("?")]
    times = [f.col("at").alias(f"t{number}"), f.col("at_ms").alias(f"ms{number}")]
    return rows.where(reduce(Column.__and__, conditions)).select(*variables, *times)


def joined(rows: Callable[[], DataFrame], patterns: Patterns, window: int, *, streaming: bool) -> DataFrame:
    """All patterns joined, any two arrivals less than the window apart."""
    whole: DataFrame | None = None
    seen: list[int] = []
    for number, pattern in connected(patterns):
        some = view(rows(), number, pattern)
        if streaming:
            some = some.withWatermark(f"t{number}", "0 seconds")
        if whole is None:
            whole, seen = some, [number]
            continue
        shared = [v for v in variables_of(pattern) if v in whole.columns]
        renamed = some.select(*(f.col(c).alias(f"r_{c}" if c in shared else c) for c in some.columns))
        conditions = [f.col(v) == f.col(f"r_{v}") for v in shared]
        conditions += [f.abs(f.col(f"ms{number}") - f.col(f"ms{other}")) < window for other in seen]
        if streaming:
            # What lets Spark drop its state: a range of event times, of which a stream may have one only.
            here, first, apart = f.col(f"t{number}"), f.col(f"t{seen[0]}"), f.expr(f"INTERVAL {window - 1} MILLISECONDS")
            conditions += [here >= first - apart, here <= first + apart]
        gone = [*(f"r_{v}" for v in shared), f"t{number}"]
        whole = whole.join(renamed, reduce(Column.__and__, conditions)).drop(*gone)
        seen.append(number)
    assert whole is not None
    return whole


def by_joins(spark: SparkSession, patterns: Patterns, window: int, folder: Path, checkpoint: Path) -> Ran:
    """Spark's stream-stream joins."""
    schema = spark.read.parquet(str(folder)).schema

    def rows() -> DataFrame:
        return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))

    names = names_of(patterns)
    ran = Ran([], 0)

    def take(batch: DataFrame, _: int) -> None:
        found = batch.toArrow()
        ran.answers += found.num_rows
        ran.bindings.update(bindings_of(found, names))
        ran.cpu.append(tree_cpu_s())

    ran.progress = run_stream(joined(rows, patterns, window, streaming=True).select(*names), checkpoint, take)
    return ran


def by_recomputing(spark: SparkSession, patterns: Patterns, size: Size, folder: Path, checkpoint: Path) -> Ran:
    """Spark SQL over everything that can be in a window with the batch's rows."""
    schema = spark.read.parquet(str(folder)).schema
    names, ran = names_of(patterns), Ran([], 0)
    files = sorted(folder.iterdir())
    numbers = [f"ms{n}" for n in range(len(patterns))]

    def take(batch: DataFrame, number: int) -> None:
        first_ms = number * size.a_trigger
        held = files[max(0, (first_ms - size.window) // size.a_trigger) : number]
        before = (
            spark.read.schema(schema).parquet(*map(str, held)).where(f.col("at_ms") > first_ms - size.window)
            if held
            else None
        )
        # Kept for the views of all patterns, as whoever recomputes would.
        window = (batch if before is None else before.unionByName(batch)).cache()
        whole = joined(lambda: window, patterns, size.window, streaming=False)
        last = f.greatest(*numbers) if len(numbers) > 1 else f.col(numbers[0])
        found = whole.where(last >= first_ms).select(*names).distinct().toArrow()
        window.unpersist()
        ran.answers += found.num_rows
        ran.bindings.update(bindings_of(found, names))
        ran.cpu.append(tree_cpu_s())

    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    ran.progress = run_stream(rows, checkpoint, take)
    return ran
