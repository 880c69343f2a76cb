"""Whether the machines that do the work have millstream: asked once, before a job fails in the middle of pages of traces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from millstream.errors import MillstreamError

# What tasks of a job import, the compiled parts among them.
_NEEDED = "millstream.pipeline.state.processor"
_ASKED = 10_000
_MISSING = re.compile(r"(?:ModuleNotFoundError|ImportError): (.+)")
_ADVICE = "docs/cluster.md says how executors get the package."


def check_workers(spark: SparkSession) -> None:
    """Raises MillstreamError if workers cannot import millstream, or have another version of it."""
    from millstream import __version__

    # As many tasks as Spark makes of it by itself: one a core.
    asked = spark.range(_ASKED).mapInArrow(_versions, "version string")
    try:
        found = {row.version for row in asked.collect()}
    except Exception as error:
        # Of Java's or of Spark's own kind, as the way back has it; anything else is not about workers.
        if not isinstance(error, PySparkException) and type(error).__name__ != "Py4JJavaError":
            raise
        missing = _MISSING.findall(str(error))
        if not missing:
            raise
        raise MillstreamError(f"Spark's workers cannot import millstream: {missing[-1].strip()}. {_ADVICE}") from None
    others = sorted(found - {__version__})
    if others:
        raise MillstreamError(f"Spark's workers have millstream {', '.join(others)}, this is {__version__}. {_ADVICE}")


def _versions(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import_module(_NEEDED)
    version = str(import_module("millstream").__version__)
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"version": [version]})
