"""State partitions of a job: as many as it has cells, though Spark takes their number from the session when a query starts.

So a job's DataFrame knows its number, as do all that are made from it by `select`, `where` and the like. The session has it
while the query is started, and then again what the caller set: a query that has started keeps its own, also after a restart.
Where the number is lost on the way, as by a union with another DataFrame on the left, the session's own is taken: cells then
share partitions, or leave some empty, and answers are the same.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

from pyspark.sql import DataFrame, SparkSession

_NAME = "spark.sql.shuffle.partitions"
_NUMBER = "_millstream_partitions"
_starting = threading.Lock()


def with_partitions(frame: DataFrame, number: int) -> DataFrame:
    """The same DataFrame; a query that writes it, or something made from it, is started with so many partitions."""
    known: Any = frame
    kind: Any = type(frame)
    setattr(known, _NUMBER, number)
    known.__class__ = _numbered(kind)
    return frame


def partitions_as(frame: DataFrame, other: DataFrame) -> DataFrame:
    """The same DataFrame, with as many partitions as another knows of, if it does."""
    number = getattr(other, _NUMBER, None)
    return frame if number is None else with_partitions(frame, number)


@cache
def _numbered(kind: type[Any]) -> type[Any]:
    """The class of DataFrames of Spark, or of Spark Connect, that know their number and hand it on."""

    def write_stream(frame: Any) -> Any:
        writer = kind.writeStream.fget(frame)
        writer.__class__ = _starting_with(type(writer), frame.sparkSession, getattr(frame, _NUMBER))
        return writer

    methods = inspect.getmembers(kind, inspect.isfunction)
    members: dict[str, Any] = {name: _handing_on(m) for name, m in methods if not name.startswith("_")}
    return type(kind.__name__, (kind,), {**members, "writeStream": property(write_stream), "__module__": kind.__module__})


def _handing_on(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def called(frame: Any, *args: Any, **options: Any) -> Any:
        found = method(frame, *args, **options)
        if not isinstance(found, DataFrame) or _NUMBER in vars(found):
            return found
        return with_partitions(found, getattr(frame, _NUMBER))

    return called


def _starting_with(kind: type[Any], spark: SparkSession, number: int) -> type[Any]:
    """The class of writers whose queries are started with so many partitions."""

    def start(writer: Any, *args: Any, **options: Any) -> Any:
        with _set(spark, number):
            return kind.start(writer, *args, **options)

    def to_table(writer: Any, *args: Any, **options: Any) -> Any:
        with _set(spark, number):
            return kind.toTable(writer, *args, **options)

    return type(kind.__name__, (kind,), {"start": wraps(kind.start)(start), "toTable": wraps(kind.toTable)(to_table)})


@contextmanager
def _set(spark: SparkSession, number: int) -> Iterator[None]:
    # One at a time: of two at once, the second would take the first one's number for the caller's.
    with _starting:
        before = spark.conf.get(_NAME, None)
        spark.conf.set(_NAME, str(number))
        try:
            yield
        finally:
            if before is None:
                spark.conf.unset(_NAME)
            else:
                spark.conf.set(_NAME, before)
