"""How long a trigger takes when ten triples come, beside a trigger of Spark in which a stateful operator does nothing."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues, ValueState

from benchmarks.peers.spark_ways import write_parquet
from benchmarks.report import Cell, Part, Progress, Table, at_most
from benchmarks.spark_jobs import Ran, plan, run_job, run_stream, spark_on, workplace, write_files
from benchmarks.timing import Effort
from benchmarks.workloads import QUERIES, universities

ABOUT = "The time of a trigger at a trickle of ten triples each, beside an empty stateful trigger of Spark; two cores."
A_TRIGGER = 10
TIMES_EMPTY = 1.5
EMPTY = "empty stateful operator, Parquet"
STEPS = ("latestOffset", "queryPlanning", "addBatch", "walCommit", "commitOffsets")


@dataclass(frozen=True, slots=True)
class Size:
    triggers: int
    skipped: int


SIZES: dict[Effort, Size] = {"smoke": Size(4, 1), "quick": Size(10, 3), "full": Size(20, 5)}


class Nothing(StatefulProcessor):
    """Keeps a number for each key, and gives nothing."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._seen: ValueState = handle.getValueState("seen", "count bigint")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        known = self._seen.get()
        self._seen.update(((0 if known is None else known[0]) + sum(len(frame) for frame in rows),))
        return iter(())

    def close(self) -> None:
        pass


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("latency", ABOUT)
    rows: list[list[Cell]] = []
    medians: dict[str, float] = {}
    with workplace() as folder:
        triples, text, parquet = universities(1), folder / "text", folder / "parquet"
        write_files(text, triples, size.triggers * A_TRIGGER, A_TRIGGER)
        cuts = list(range(0, size.triggers * A_TRIGGER + 1, A_TRIGGER))
        write_parquet(parquet, [("<s>", "<p>", "<o>")] * cuts[-1], cuts)
        with spark_on("local[2]") as (spark, _):
            ways: dict[str, Callable[[Path], Ran]] = {
                EMPTY: lambda place: _empty(
                    spark.readStream.schema(_schema(spark, parquet)).option("maxFilesPerTrigger", 1).parquet(str(parquet)),
                    place,
                ),
                "empty stateful operator, rdf": lambda place: _empty(_rows(spark, text), place),
                "millstream, Q1": lambda place: run_job(plan(spark, QUERIES["Q1"], 100_000, text, 1), place),
                "millstream, Q7": lambda place: run_job(plan(spark, QUERIES["Q7"], 100_000, text, 1), place),
            }
            for name, way in ways.items():
                progress(name)
                spark.conf.set("spark.sql.shuffle.partitions", "2")
                ran = way(folder / name)
                times = sorted(p["durationMs"]["triggerExecution"] for p in ran.progress[size.skipped :])
                medians[name] = statistics.median(times)
                steps = [statistics.median(p["durationMs"].get(s, 0) for p in ran.progress[size.skipped :]) for s in STEPS]
                rows.append([name, medians[name], times[0], times[-1], medians[name] / medians[EMPTY], ran.first_s, *steps])
    title = f"{size.triggers - size.skipped} triggers of {A_TRIGGER} triples after the first {size.skipped}; ms"
    columns = ("what", "median", "least", "most", "times the empty one", "first, s", *STEPS)
    notes = ["each way has two partitions of state; the steps are medians of what Spark says of them"]
    part.tables.append(Table(title, columns, rows, notes))
    for name in ("millstream, Q1", "millstream, Q7"):
        part.targets.append(
            at_most(f"{name}, a trigger beside an empty one", TIMES_EMPTY, medians[name] / medians[EMPTY], " times")
        )
    return part


def _schema(spark: SparkSession, folder: Path) -> Any:
    return spark.read.parquet(str(folder)).schema


def _rows(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.format("rdf").option("time", "rate:1000").option("maxFilesPerTrigger", 1).load(str(folder))


def _empty(rows: DataFrame, checkpoint: Path) -> Ran:
    keyed = rows.select((f.col("at_ms") % 2).cast("int").alias("key"))
    frame = keyed.groupBy("key").transformWithStateInPandas(Nothing(), "nothing int", "Append", "None")
    progress, _ = run_stream(frame, checkpoint, _passed_over)
    return Ran(progress, 0)


def _passed_over(batch: DataFrame, _: int) -> None:
    batch.toArrow()
