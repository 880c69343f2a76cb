"""Spark Connect: sessions and DataFrames of which this process has only a plan, as a protocol buffer, and no Java.

What a DataFrame reads is told from its plan where the plan says it: asking the server would analyse it, which definitions of
declarative pipelines must not do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import ArrayType, LongType, StructType

from millstream.errors import OptionError

_ROW = "_row"


def is_connect(thing: SparkSession | DataFrame) -> bool:
    """Whether a session, or a DataFrame, is of Spark Connect."""
    return any(kind.__module__.startswith("pyspark.sql.connect.") for kind in type(thing).__mro__)


def is_streaming(frame: DataFrame) -> bool:
    """Whether a DataFrame streams; without asking the server if its plan says so."""
    if is_connect(frame) and any(read.is_streaming for read in _reads(_relation(frame))):
        return True
    return frame.isStreaming


def schema_of(text: str) -> StructType:
    """A schema written as `name type, ...`; read here, since Spark Connect has the server read texts."""
    columns = StructType()
    for column in text.split(", "):
        name, kind = column.split(" ")
        columns.add(name, ArrayType(LongType()) if kind == "array<long>" else {"int": "integer"}.get(kind, kind))
    return columns


def with_schema(frame: DataFrame, schema: StructType) -> DataFrame:
    """The same DataFrame, of Spark Connect told its schema, which it would ask the server for."""
    if is_connect(frame):
        known: Any = frame
        known._cached_schema = schema
    return frame


def with_rows(frame: DataFrame) -> DataFrame:
    """A DataFrame for `mapInArrow`: of Spark Connect as one column of rows, so that nobody need ask for its columns."""
    if not is_connect(frame):
        return frame
    return with_schema(frame.select(f.struct("*").alias(_ROW)), StructType().add(_ROW, StructType()))


def rows_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    """What was in the DataFrame that `with_rows` was given."""
    if batch.schema.names != [_ROW]:
        return batch
    rows: Any = batch.column(_ROW)
    return pa.RecordBatch.from_struct_array(rows)


def streamed_options(frame: DataFrame, format: str) -> tuple[list[str], dict[str, str]] | None:
    """The paths and options of a stream of that format to which nothing was done yet; None if it is something else."""
    if is_connect(frame):
        relation = _relation(frame)
        if not relation.HasField("read") or not relation.read.is_streaming or relation.read.data_source.format != format:
            return None
        paths, given = list(relation.read.data_source.paths), dict(relation.read.data_source.options)
    else:
        plan: Any = frame._jdf.queryExecution().analyzed()
        if plan.getClass().getSimpleName() != "StreamingRelationV2" or plan.sourceName() != format:
            return None
        options: Mapping[str, object] = plan.extraOptions().asCaseSensitiveMap()
        paths, given = [], {str(name): str(options[name]) for name in options}
    paths += [given.pop("path")] if "path" in given else []
    return paths + json.loads(given.pop("paths", "[]")), given


def with_checkpoint(writer: DataStreamWriter, make: Callable[[str], Callable[[DataFrame, int], None]]) -> DataStreamWriter:
    """A writer of Spark Connect whose function for batches is made when it is started, of where its checkpoint is."""
    kind: Any = type(writer)

    def start(self: Any, *args: Any, **options: Any) -> Any:
        given = {name.lower(): value for name, value in {**self._write_proto.options, **options}.items()}
        if "checkpointlocation" not in given:
            raise OptionError("a table on Spark Connect belongs to a checkpoint: give the option checkpointLocation.")
        self.foreachBatch(make(given["checkpointlocation"]))
        return kind.start(self, *args, **options)

    writer.__class__ = type(kind.__name__, (kind,), {"start": start})
    return writer


def _relation(frame: Any) -> Any:
    return frame._plan.plan(frame._session.client)


def _reads(message: Any) -> Iterator[Any]:
    """What a plan reads, anywhere in it."""
    if message.DESCRIPTOR.name == "Read":
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for part in value if field.is_repeated else [value]:
            yield from _reads(part)
