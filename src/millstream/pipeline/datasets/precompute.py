"""Precomputed parts of a plan: those that only read graphs which do not change, evaluated before streams begin.

It is done by cells that are shown their share of the datasets and nothing else, and where an operator needs rows of several
cells by a second stage after them; both are those of streams. What is small is evaluated by the driver in one cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.exchange.cell_keys import keys_of
from millstream.pipeline.job.specification import JobSpec
from millstream.pipeline.state.bucket import Bucket
from millstream.pipeline.state.cell import Cell

_RESULT = "blob binary"


def precompute_here(ahead: JobSpec, chunks: list[bytes]) -> list[bytes]:
    """The rows of all parts as blobs, from all that was read; in this process and one cell."""
    assert ahead.cells.count == 1
    assert ahead.stages is None
    return [Cell(ahead, 0, StaticData(chunks)).at_start()]


def precompute_on_spark(ahead: JobSpec, packed: DataFrame) -> list[bytes]:
    """The same from rows of cell and blob, each cell a task."""
    text, count = ahead.to_json(), ahead.cells.count

    def evaluate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _of_cells(text, batches)

    def finish(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _of_all(text, batches)

    found = packed.select("cell", "blob").repartition(count, f.col("cell")).mapInArrow(evaluate, _RESULT)
    if ahead.stages is not None:
        found = found.repartition(1).mapInArrow(finish, _RESULT)
    blobs: list[Any] = found.toArrow()["blob"].to_pylist()
    return blobs


def _of_cells(text: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    chunks: dict[int, list[bytes]] = {}
    for batch in batches:
        cells: list[Any] = batch.column("cell").to_pylist()
        blobs: list[Any] = batch.column("blob").to_pylist()
        for cell, blob in zip(cells, blobs, strict=True):
            chunks.setdefault(cell, []).append(blob)
    ahead = JobSpec.from_json(text)
    keys = keys_of(ahead.cells.count)
    for key, some in chunks.items():
        yield _row(Cell(ahead, keys.index(key), StaticData(some)).at_start())


def _of_all(text: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    blobs: list[Any] = [blob for batch in batches for blob in batch.column("blob").to_pylist()]
    if blobs:
        yield _row(Bucket(JobSpec.from_json(text)).at_start(blobs))


def _row(blob: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([blob], pa.binary())], ["blob"])
