"""Metrics of a job, as Spark shows them with the progress of each trigger.

Spark sums counts up while their rows pass by (`observe`), so they cost no pass of their own, and a `StreamingQueryListener`
has them with the other figures of the trigger.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from millstream.pipeline.state.trigger_counts import SUMS

NAME = "millstream"


def observed(packed: DataFrame, name: str) -> DataFrame:
    """The same rows, whose counts Spark shows under a name."""
    return packed.observe(name, *(metric.alias(title) for title, metric in _metrics().items()))


def _metrics() -> Mapping[str, Column]:
    sums = {name: f.coalesce(f.sum(name), f.lit(0)) for name in SUMS}
    return {
        **sums,
        "late": f.size(f.array_distinct(f.flatten(f.collect_list("late")))),
        "watermark_ms": f.max("watermark_ms"),
        "lag_ms": f.max("newest_ms") - f.max("watermark_ms"),
    }
