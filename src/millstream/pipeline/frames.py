"""Any DataFrame as a source: rows of s, p, o and at_ms to blobs for cells.

Rows of one element have the same `element` and stay together in a partition; without that column, or where it is null, a row
is an element of its own. Within a trigger all rows have come together, so none of them is late because of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from millstream.errors import DataError
from millstream.pipeline.packing import Packer, packer_for
from millstream.pipeline.reading import Part

Ids = npt.NDArray[np.int64]
_ENDED = (1 << 31) - 1
INSERT, DELETE = ("A", "insert", "+"), ("D", "delete", "-")


def pack_frame(pack: str, source: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of one partition in one trigger."""
    context = TaskContext.get()
    part = 0 if context is None else context.partitionId()
    packer = packer_for(pack, source)
    for chunk, batch in enumerate(_whole_elements(batches)):
        found = list(pack_batch(packer, part, chunk, batch))
        cells = pa.array([cell for cell, _ in found], pa.int32())
        yield pa.RecordBatch.from_arrays([cells, pa.array([b for _, b in found], pa.binary())], ["cell", "blob"])


def _whole_elements(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches that cut no element: Spark's end after so many rows, whatever they are."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        joined: Any = pa.Table.from_batches([*held, batch]).combine_chunks().to_batches()[0]
        last = int(np.flatnonzero(_firsts(joined))[-1])
        held = [joined.slice(last)]
        if last:
            yield joined.slice(0, last)
    yield from held


def pack_batch(packer: Packer, part: int, chunk: int, batch: pa.RecordBatch) -> Iterator[tuple[int, bytes]]:
    """One Arrow batch as a chunk."""
    missing = [name for name in ("s", "p", "o", "at_ms") if name not in batch.schema.names]
    if missing:
        raise DataError(f"a stream has the columns s, p, o and at_ms; {', '.join(missing)} is missing")
    triples = np.column_stack([packer.dictionary.encode_column(_texts(batch, name)) for name in ("s", "p", "o")])
    times: Ids = batch.column("at_ms").cast(pa.int64()).to_numpy(zero_copy_only=False)
    first = _firsts(batch)
    element = np.cumsum(first) - 1
    # The rows of an element are a set.
    keep = _not_repeated(element, triples)
    op = graph = None
    if packer.takes_changes:
        op, graph = _ops(batch), packer.graphs_of(_graphs(batch))
        keep &= graph >= 0
        op, graph = op[keep], graph[keep]
    yield from packer.pack_rows(part, chunk, triples[keep], element[keep], times[first], None, int(first.sum()), op, graph)


def ended_blobs(pack: str, source: int) -> list[tuple[int, bytes]]:
    """What tells all cells that a source has ended."""
    return list(packer_for(pack, source).nothing(Part(source=source, sequence=_ENDED, ended=True)))


def _texts(batch: pa.RecordBatch, name: str) -> pa.Array[Any]:
    column: Any = batch.column(name)
    if column.null_count:
        raise DataError(f"a triple has a term in column {name}, got null")
    text: pa.Array[Any] = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return text


def _firsts(batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    first = np.ones(batch.num_rows, np.bool_)
    if "element" in batch.schema.names:
        column: Any = batch.column("element")
        first[1:] = pc.not_equal(column[1:], column[:-1]).fill_null(True).to_numpy(zero_copy_only=False)
    return first


def _graphs(batch: pa.RecordBatch) -> list[str | None]:
    if "g" not in batch.schema.names:
        return [None] * batch.num_rows
    names = batch.column("g").to_pylist()
    return [None if name is None else str(name).strip("<>") for name in names]


def _ops(batch: pa.RecordBatch) -> Ids:
    if "op" not in batch.schema.names:
        raise DataError("changes have the columns s, p, o, at_ms and op; op is missing")
    column: Any = batch.column("op")
    if pa.types.is_integer(column.type):
        ops: Ids = column.to_numpy(zero_copy_only=False).astype(np.int64)
        return ops
    inserts = pc.is_in(column, pa.array(INSERT)).to_numpy(zero_copy_only=False)
    deletes = pc.is_in(column, pa.array(DELETE)).to_numpy(zero_copy_only=False)
    if not (inserts | deletes).all():
        raise DataError("op is A or insert, D or delete")
    return np.where(inserts, 1, -1).astype(np.int64)


def _not_repeated(element: Ids, triples: Ids) -> npt.NDArray[np.bool_]:
    keep = np.zeros(len(element), np.bool_)
    _, first = np.unique(np.column_stack([element, triples]), axis=0, return_index=True)
    keep[first] = True
    return keep
