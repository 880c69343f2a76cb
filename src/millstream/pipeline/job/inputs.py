"""What a job reads, as callers describe it: files, DataFrames of messages, topics of Kafka."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import pyspark
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from millstream.connect.kafka.options import EARLIEST, Address, address, servers_of, starting_offsets
from millstream.errors import OptionError
from millstream.ingest.message_options import MessageOptions
from millstream.pipeline.runtime.connect import is_connect
from millstream.pipeline.source.kafka_source import MAX_OFFSETS


@dataclass(frozen=True, slots=True)
class Files:
    """Files as a source: a path, or several, and the options of the source `rdf`."""

    path: str | tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path,) if isinstance(self.path, str) else self.path


@dataclass(frozen=True, slots=True)
class MessageFrame:
    """A DataFrame of messages as a source: how they become elements."""

    frame: DataFrame
    options: MessageOptions
    topics: tuple[str, ...] = ()
    """All that there are, if that is known."""


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics of Kafka as a source, read by tasks of ours."""

    at: Address
    options: MessageOptions
    starting_offsets: object = EARLIEST
    max_offsets: int = MAX_OFFSETS
    idle_ms: int | None = None
    """After how long without news a partition holds the others back no more; else what is said of all sources."""
    dead_letter: str | None = None


PLACED = ("topic", "partition", "offset")
"""The columns of messages that tell their order."""
StreamInput: TypeAlias = "DataFrame | Files | MessageFrame | Topics | str"


def files(path: str | list[str], **options: object) -> Files:
    """Files for `continuous`, with options of the source `rdf` by keyword: time, element, format, maxFilesPerTrigger, ..."""
    given = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()}
    return Files(path if isinstance(path, str) else tuple(path), given)


def messages(
    df: DataFrame,
    *,
    format: str | None = None,
    time: str | None = None,
    element: str | None = None,
    base: str | None = None,
    upsert: bool = False,
) -> MessageFrame:
    """A DataFrame of messages for `continuous`: a column `value`, and where there are `topic, partition, offset, timestamp,
    key, headers`, as Spark's Kafka source has them. Options as those of `millstream.kafka`.
    """
    if not is_connect(df) and "value" not in df.columns:
        raise OptionError(f"messages have a column value; the DataFrame has {', '.join(df.columns)}.")
    if upsert and not is_connect(df) and not {*PLACED, "key"} <= set(df.columns):
        raise OptionError("upserts need the columns key, topic, partition and offset: the last message of a key counts.")
    return MessageFrame(df, MessageOptions(format, time, element, base, upsert=upsert))


def kafka(
    topics: str | list[str],
    *,
    servers: str | None = None,
    format: str | None = None,
    time: str | None = None,
    element: str | None = None,
    base: str | None = None,
    upsert: bool = False,
    startingOffsets: object = EARLIEST,  # noqa: N803 - Spark's name
    maxOffsetsPerTrigger: int = MAX_OFFSETS,  # noqa: N803
    carrier: str = "python",
    options: Mapping[str, object] | None = None,
    spark: SparkSession | None = None,
) -> Topics | MessageFrame:
    """Topics of Kafka for `continuous`: `servers` are host:port, or `kafka.bootstrap.servers` among the options.

    `carrier`: `python` reads by tasks of ours, on confluent-kafka; `spark` by Spark's own source, which needs its package.
    `options` are those of the client, by the names of librdkafka for the first, of the Java client for the second. Other
    options as those of `millstream.kafka`; with `upsert` topics are among the `changes`.
    """
    found, given = servers_of(servers, options)
    read = MessageOptions(format, time, element, base, upsert=upsert)
    starting_offsets(startingOffsets)
    if carrier == "spark":
        names = (topics,) if isinstance(topics, str) else tuple(topics)
        frame = _spark_topics(found, ",".join(names), startingOffsets, maxOffsetsPerTrigger, given, spark)
        return MessageFrame(frame, read, names)
    if carrier != "python":
        raise OptionError(f"carrier is python or spark, got {carrier!r}.")
    return Topics(address(found, topics, given), read, startingOffsets, maxOffsetsPerTrigger)


def _spark_topics(
    servers: str, topics: str, offsets: object, most: int, client: Mapping[str, object], spark: SparkSession | None
) -> DataFrame:
    session = spark or SparkSession.active()
    reader = session.readStream.format("kafka").option("subscribe", topics).option("includeHeaders", "true")
    reader = reader.option("startingOffsets", offsets if isinstance(offsets, str) else json.dumps(offsets))
    reader = reader.option("kafka.bootstrap.servers", servers).option("maxOffsetsPerTrigger", str(most))
    for name, value in client.items():
        reader = reader.option(f"kafka.{name}", str(value))
    try:
        return reader.load()
    except AnalysisException as error:
        version = pyspark.__version__
        raise OptionError(
            f"Spark has no source kafka here: start the session with the package "
            f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version} (spark.jars.packages), or use carrier='python' ({error})"
        ) from None


def frame_of(source: StreamInput) -> DataFrame | None:
    """The DataFrame that a source is, or is made of."""
    if isinstance(source, MessageFrame):
        return source.frame
    return source if isinstance(source, DataFrame) else None
