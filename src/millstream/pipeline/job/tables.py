"""Current answers as a table: the changes of each batch are applied to it, once, whenever a job is stopped and started.

The table holds the answers that hold now, with the columns of the changes: `weight` is how often a row is an answer, `at_ms`
when that last changed. So a table is its changes added up by row, and rows that add up to nothing are gone.

    changes  at_ms weight a         table  at_ms weight a
                 1      1 x                    4      2 x
                 2      1 y
                 3     -1 y
                 4      1 x

Every version of a table is committed together with the number of the batch that made it and the query it was of. A batch
that comes again is passed over, and so nothing is added twice.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.readwriter import DataStreamWriter

from millstream.errors import MillstreamError, OptionError
from millstream.language.algebra import Output
from millstream.pipeline.runtime.connect import is_connect, with_checkpoint

FORMATS = ("parquet", "delta")
_TIMES = ("at_ms", "weight")
_QUERY = "sql.streaming.queryId"
_VERSION = re.compile(r"([0-9a-f-]{36})-(\d+)")
_CURRENT = "current"
_CHANGES = "millstream_changes"


def merge_into(
    answers: DataFrame, table: str, key: Sequence[str] | None = None, *, format: str = "parquet"
) -> DataStreamWriter:
    """A writer that keeps a table of the answers that hold now; give it a `checkpointLocation` and start it.

    `answers` are changes: the query has the output operator CHANGES. `table` is a folder, for the format `delta` also a name
    of the catalog. `key` names the columns that tell answers apart, as those of GROUP BY do: there is one row for each.
    """
    if format not in FORMATS:
        raise OptionError(f"the format of a table is one of {', '.join(FORMATS)}, got {format!r}.")
    missing = [name for name in _TIMES if name not in answers.columns]
    if missing:
        raise OptionError(f"answers have the columns at_ms and weight; {', '.join(missing)} is missing.")
    columns = [name for name in answers.columns if name not in _TIMES]
    unknown = [name for name in key or () if name not in columns]
    if unknown or (key is not None and not key):
        raise OptionError(f"a key has columns of the answers, some of {', '.join(columns)}; got {list(key or ())}.")
    _check_changes(answers)
    if format == "delta":
        kept: _Table = _Delta(table if "/" not in table else f"delta.`{os.path.abspath(table)}`", columns, key)
    else:
        kept = _Folder(Path(os.path.abspath(table)), columns, key)
    writer = answers.writeStream.outputMode("append")
    if is_connect(answers):
        return with_checkpoint(writer, lambda checkpoint: partial(_apply, kept, checkpoint))
    return writer.foreachBatch(partial(_apply, kept, None))


def _check_changes(answers: DataFrame) -> None:
    from millstream.pipeline.job.answers import known_job

    job = known_job(answers)
    if job is not None and job.spec.query.output is not Output.CHANGES:
        name = job.spec.query.output.value.upper()
        raise OptionError(
            f"a table also needs what leaves it, and the output of this query is {name}: ask for SELECT CHANGES, or give "
            "continuous the output 'changes'."
        )


class _Table(Protocol):
    """Where answers are kept."""

    @property
    def columns(self) -> Sequence[str]: ...

    def version(self, spark: SparkSession) -> tuple[str, int] | None:
        """The query and the batch that made it what it is."""

    def change(self, changes: DataFrame, query: str, batch: int) -> None:
        """Adds changes, one a row, and becomes a version of its own at once."""


def _apply(table: _Table, checkpoint: str | None, batch: DataFrame, number: int) -> None:
    """One batch of a query."""
    spark = batch.sparkSession
    query = query_of_batch(spark, checkpoint)
    # Kept, since whoever looks twice would run the whole batch twice; counted whole, or its state would not be committed.
    # What adds up to nothing stays: it says when a row last changed.
    changes = consolidated(batch, table.columns).persist()
    try:
        some = changes.count()
        version = table.version(spark)
        if version is not None and version[0] != query:
            raise MillstreamError(
                f"the table was made by the query {version[0]}, and this one is {query}: go on from that query's "
                "checkpoint, or begin a new table."
            )
        if some and (version is None or number > version[1]):
            table.change(changes, query, number)
    finally:
        changes.unpersist()


def query_of_batch(spark: SparkSession, checkpoint: str | None) -> str:
    """The query that a batch is of; `checkpoint` is its own where nobody else can tell."""
    return str(spark.sparkContext.getLocalProperty(_QUERY)) if checkpoint is None else _query_in(spark, checkpoint)


@cache
def _query_in(spark: SparkSession, checkpoint: str) -> str:
    """The query of a checkpoint: the process of a function of Spark Connect's knows no other way to be told."""
    [row] = spark.read.text(f"{checkpoint}/metadata").collect()
    return str(json.loads(row[0])["id"])


def consolidated(changes: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Changes added up by row."""
    times = (f.max("at_ms").alias("at_ms"), f.sum("weight").alias("weight"))
    return changes.groupBy(*(f.col(_quoted(name)) for name in columns)).agg(*times).select(*_TIMES, *map(_quoted, columns))


@dataclass(frozen=True, slots=True)
class _Folder:
    """Parquet files in a folder for each version, of which the link `current` is the one that holds.

    A version is written whole, and then the link is replaced: whoever reads through it has one version or the other.
    """

    folder: Path
    columns: Sequence[str]
    key: Sequence[str] | None

    def version(self, spark: SparkSession) -> tuple[str, int] | None:
        link = self.folder / _CURRENT
        if not link.is_symlink():
            if link.exists():
                raise MillstreamError(
                    f"{link} is no link to a version of a table: {self.folder} is something else's folder."
                )
            return None
        found = _VERSION.fullmatch(os.readlink(link))
        if found is None:
            raise MillstreamError(f"{link} is a link to {os.readlink(link)}, which is no version of a table.")
        return found[1], int(found[2])

    def change(self, changes: DataFrame, query: str, batch: int) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        link, name, spark = self.folder / _CURRENT, f"{query}-{batch:09d}", changes.sparkSession
        before = os.readlink(link) if link.is_symlink() else None
        all_changes = changes
        if before is not None:
            all_changes = spark.read.parquet(str(self.folder / before)).unionByName(changes)
        # Whatever an attempt that was stopped has left is not behind the link.
        consolidated(all_changes, self.columns).where("weight != 0").write.mode("overwrite").parquet(str(self.folder / name))
        check_rows(spark.read.parquet(str(self.folder / name)), self.key, str(self.folder))
        beside = self.folder / f".{uuid.uuid4().hex}"
        beside.symlink_to(name)
        os.replace(beside, link)
        # The version before stays for those who are reading it.
        for path in self.folder.iterdir():
            if _VERSION.fullmatch(path.name) and path.name not in (name, before):
                shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Delta:
    """A Delta table; what made a version is in the metadata of its commit."""

    name: str
    columns: Sequence[str]
    key: Sequence[str] | None

    def version(self, spark: SparkSession) -> tuple[str, int] | None:
        columns = ", ".join(["at_ms BIGINT", "weight BIGINT", *(f"{_quoted(name)} STRING" for name in self.columns)])
        spark.sql(f"CREATE TABLE IF NOT EXISTS {self.name} ({columns}) USING delta")
        for row in spark.sql(f"DESCRIBE HISTORY {self.name}").select("userMetadata").collect():
            found = _VERSION.fullmatch(str(row[0] or ""))
            if found is not None:
                return found[1], int(found[2])
        return None

    def change(self, changes: DataFrame, query: str, batch: int) -> None:
        spark, told = changes.sparkSession, "spark.databricks.delta.commitInfo.userMetadata"
        same = [f.col(f"t.{_quoted(name)}").eqNullSafe(f.col(f"c.{_quoted(name)}")) for name in self.key or self.columns]
        touched = spark.table(self.name).alias("t").join(changes.alias("c"), same, "left_semi")
        check_rows(consolidated(touched.unionByName(changes), self.columns), self.key, self.name)
        changes.createOrReplaceTempView(_CHANGES)
        spark.conf.set(told, f"{query}-{batch:09d}")
        try:
            spark.sql(merge_statement(self.name, self.columns))
        finally:
            spark.conf.unset(told)


def check_rows(rows: DataFrame, key: Sequence[str] | None, table: str) -> None:
    """Refuses rows that are no content of a table."""
    less = rows.where("weight < 0").head()
    if less is not None:
        raise MillstreamError(f"{table}: an answer left that was not there: {_told(less)}; the table lacks changes.")
    if key is not None:
        times = rows.groupBy(*map(_quoted, key)).agg(f.sum("weight").alias("_times"))
        twice = times.where("_times > 1").drop("_times").head()
        if twice is not None:
            raise OptionError(f"the key does not tell answers apart: there are several with {_told(twice)}.")


def merge_statement(table: str, columns: Sequence[str]) -> str:
    """The statement that applies the view of changes to a Delta table."""
    same = " AND ".join(f"t.{_quoted(name)} <=> c.{_quoted(name)}" for name in columns)
    return f"""
        MERGE INTO {table} t USING {_CHANGES} c ON {same}
        WHEN MATCHED AND t.weight + c.weight = 0 THEN DELETE
        WHEN MATCHED THEN UPDATE SET t.weight = t.weight + c.weight, t.at_ms = c.at_ms
        WHEN NOT MATCHED AND c.weight > 0 THEN INSERT *
    """


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _told(row: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.asDict().items() if name not in _TIMES)
