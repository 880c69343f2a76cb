"""What Spark offers by itself for joins over a sliding window: stream-stream joins, and the window joined anew.

Both read a file a trigger, named after the time of its first triple: N-Triples with the time behind each statement, or
Parquet with parsed terms. They are set up as well as we know: one state store a join instead of four, kept by its changes;
the window's rows that matter held in memory from trigger to trigger, the rest never kept; lines cut at their blanks, which
is less than parsing them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from benchmarks.peers.question import connected, names_of, variables_of
from benchmarks.spark_jobs import Ran, bindings_of, run_stream, tree_cpu_s
from benchmarks.workloads import Patterns, Triple, lines

# One store with several column families for a join, instead of four stores: about a third less time a trigger.
_JOIN_STATE = ("spark.sql.streaming.join.stateFormatVersion", "3")
_AT = " # "

Stream: TypeAlias = Callable[[SparkSession, Path], DataFrame]
"""Rows with s, p, o, at and at_ms."""


def write_parquet(folder: Path, triples: Sequence[Triple], cuts: Sequence[int]) -> None:
    """The triples with their times, parsed; a file for all between two cuts."""
    for first, end, path in _paths(folder, cuts, "parquet"):
        at = pa.array(range(first, end), pa.int64())
        columns = {name: pa.array([t[i] for t in triples[first:end]]) for i, name in enumerate("spo")}
        pq.write_table(pa.table({**columns, "at_ms": at, "at": at.cast(pa.timestamp("ms", "UTC"))}), path)


def write_text(folder: Path, triples: Sequence[Triple], cuts: Sequence[int]) -> None:
    """The same as N-Triples, the times as comments."""
    for first, end, path in _paths(folder, cuts, "nt"):
        path.write_text("".join(f"{line[:-1]}{_AT}{first + i}\n" for i, line in enumerate(lines(iter(triples[first:end])))))


def _paths(folder: Path, cuts: Sequence[int], suffix: str) -> Iterator[tuple[int, int, Path]]:
    folder.mkdir(parents=True)
    for number, (first, end) in enumerate(pairwise(cuts)):
        path = folder / f"{first:012d}.{suffix}"
        yield first, end, path
        # Spark takes files in the order of their times.
        os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))


def parquet(spark: SparkSession, folder: Path) -> DataFrame:
    """What `write_parquet` wrote, as a stream."""
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def text(spark: SparkSession, folder: Path) -> DataFrame:
    """What `write_text` wrote, as a stream."""
    whole = spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder))
    parts = f.split("value", " ", 3)
    at_ms = f.substring_index(parts[2], _AT, -1).cast("long")
    terms = [parts[0].alias("s"), parts[1].alias("p"), f.substring_index(parts[2], f" .{_AT}", 1).alias("o")]
    return whole.select(*terms, at_ms.alias("at_ms"), f.timestamp_millis(at_ms).alias("at"))


def by_joins(
    spark: SparkSession, stream: Stream, patterns: Patterns, window: int, folder: Path, checkpoint: Path, limit_s: int
) -> Ran:
    """Spark's stream-stream joins."""
    spark.conf.set(*_JOIN_STATE)
    names, ran = names_of(patterns), Ran([], 0)

    def take(batch: DataFrame, _: int) -> None:
        _keep(ran, batch, names)

    whole = _joined(lambda: stream(spark, folder), patterns, window, streaming=True)
    ran.progress, ran.stopped = run_stream(whole.select(*names), checkpoint, take, limit_s)
    return ran


def by_recomputing(
    spark: SparkSession, stream: Stream, patterns: Patterns, window: int, folder: Path, checkpoint: Path, limit_s: int
) -> Ran:
    """Spark SQL over everything that can be in a window with the batch's rows."""
    names, ran = names_of(patterns), Ran([], 0)
    firsts = sorted(int(path.stem) for path in folder.iterdir())
    latest = f.greatest(*(f"ms{n}" for n in range(len(patterns))))
    held: list[DataFrame] = []

    def take(batch: DataFrame, number: int) -> None:
        first_ms = firsts[number]
        fresh = batch.where(_matches_some(patterns))
        rows = reduce(DataFrame.unionByName, [*(old.where(f.col("at_ms") > first_ms - window) for old in held), fresh])
        # In memory, cut off from how it came about: plans would grow with every trigger.
        held[:] = [rows.coalesce(2).localCheckpoint()]
        whole = _joined(lambda: held[0], patterns, window, streaming=False)
        _keep(ran, whole.where(latest >= first_ms).select(*names).distinct(), names)

    ran.progress, ran.stopped = run_stream(stream(spark, folder), checkpoint, take, limit_s)
    return ran


def _keep(ran: Ran, found: DataFrame, names: list[str]) -> None:
    table = found.toArrow()
    ran.answers += table.num_rows
    ran.bindings.update(bindings_of(table, names))
    ran.cpu.append(tree_cpu_s())


def _matches(pattern: Triple) -> Column:
    terms = zip("spo", pattern, strict=True)
    return reduce(Column.__and__, [f.col(place) == term for place, term in terms if not term.startswith("?")])


def _matches_some(patterns: Patterns) -> Column:
    return reduce(Column.__or__, map(_matches, patterns))


def _view(rows: DataFrame, number: int, pattern: Triple) -> DataFrame:
    """What a pattern matches: its variables, and the time as t0, t1, ..."""
    variables = [f.col(place).alias(term[1:]) for place, term in zip("spo", pattern, strict=True) if term.startswith("?")]
    times = [f.col("at").alias(f"t{number}"), f.col("at_ms").alias(f"ms{number}")]
    return rows.where(_matches(pattern)).select(*variables, *times)


def _joined(rows: Callable[[], DataFrame], patterns: Patterns, window: int, *, streaming: bool) -> DataFrame:
    """All patterns joined, any two arrivals less than the window apart."""
    whole: DataFrame | None = None
    seen: list[int] = []
    for number, pattern in connected(patterns):
        some = _view(rows(), number, pattern)
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
