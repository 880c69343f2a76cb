"""Random changes of a multiset as a stream of files, and a table that is kept of them."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from millstream import pipeline

SCHEMA = "at_ms long, weight long, a string, b string"
Change = tuple[int, int, str | None, str | None]


def drawn(chance: random.Random, content: Counter[tuple[str | None, str | None]], now: int) -> list[Change]:
    """Some changes of a multiset, which nothing leaves that is not there; b may be unbound."""
    changes: list[Change] = []
    for at_ms in range(now, now + 12):
        there = sorted(content.elements(), key=str)
        if there and chance.random() < 0.45:
            row, weight = chance.choice(there), -1
        else:
            row, weight = (f'"{chance.randrange(3)}"', chance.choice([None, '"x"', '"y"'])), 1
        content[row] += weight
        changes.append((at_ms, weight, *row))
    return changes


def give(spark: SparkSession, folder: Path, number: int, changes: list[Change]) -> None:
    """A file of changes for a trigger of its own."""
    spark.createDataFrame(changes, SCHEMA).coalesce(1).write.parquet(str(folder / "in" / str(number)))


def merge(spark: SparkSession, folder: Path, checkpoint: str = "checkpoint", **options: object) -> None:
    """Applies what is there, a file a batch."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).option("recursiveFileLookup", True)
    writer = pipeline.merge_into(reader.parquet(str(folder / "in")), str(folder / "table"), **options)  # type: ignore[arg-type]
    query = writer.option("checkpointLocation", str(folder / checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination()
