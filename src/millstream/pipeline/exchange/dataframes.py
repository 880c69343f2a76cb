"""Any DataFrame as a source: rows of s, p, o and at_ms to blobs for cells.

Rows of one element have the same `element` and stay together in a partition; without that column, or where it is null, a row
is an element of its own. Within a trigger all rows have come together, so none of them is late because of another. Rows that
are none of a stream are set aside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.ingest import Columns
from millstream.ingest.readers.change_tables import OPS, ops_of
from millstream.ingest.readers.clean_tables import first_rows
from millstream.kernels.matching.repeats import repeats
from millstream.pipeline.exchange.packing import Packer, packer_for
from millstream.pipeline.exchange.row_validation import ValidRows
from millstream.pipeline.runtime.connect import rows_of
from millstream.pipeline.runtime.gc_freeze import freeze_imports
from millstream.pipeline.source.dead_letters import DeadLetters, task_split
from millstream.pipeline.source.reading import Counted, Reading
from millstream.pipeline.source.splits import Split
from millstream.pipeline.source.task_output import packed_batch
from millstream.pipeline.state.clock import LAST_PART
from millstream.rdf.element import Rejections

Ids = npt.NDArray[np.int64]


def pack_frame(
    pack: str, source: int, batches: Iterator[pa.RecordBatch], dead_letter: str | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of one partition in one trigger; what is malformed goes to the folder `dead_letter`."""
    freeze_imports()
    packer = packer_for(pack, source)
    task = task_split(packer.name, source)
    with DeadLetters(dead_letter, task) as letters:
        counted, row = Counted(letters), 1
        for chunk, batch in enumerate(_whole_elements(map(rows_of, batches))):
            add_batch(packer, task.start, chunk, batch, counted, row)
            row += batch.num_rows
            if packer.is_full:
                yield packed_batch(packer.take())
        yield packed_batch(packer.take())


def _whole_elements(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches that cut no element: Spark's end after so many rows, whatever they are."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        joined: Any = pa.Table.from_batches([*held, batch]).combine_chunks().to_batches()[0]
        last = int(np.flatnonzero(first_rows(joined))[-1])
        held = [joined.slice(last)]
        if last:
            yield joined.slice(0, last)
    yield from held


def add_batch(packer: Packer, part: int, chunk: int, batch: pa.RecordBatch, counted: Counted, first_row: int = 1) -> None:
    """One Arrow batch as a chunk."""
    first = first_rows(batch)
    if packer.takes_changes:
        op, said = ops_of(batch)
        named = np.array([name or "" for name in _graphs(batch)])
        # As in one process: what comes, what goes and what another graph has are changes of their own.
        first[1:] |= (op[1:] != op[:-1]) | (named[1:] != named[:-1])
    rows = ValidRows(batch, first, packer.dictionary, Rejections(packer.name, counted), first_row)
    if packer.takes_changes:
        rows.reject(~said, OPS)
    sound = rows.sound
    # Elements of which nothing is left are none.
    names, element = np.unique((np.cumsum(first) - 1)[sound], return_inverse=True)
    at_ms = rows.at_ms[sound]
    times = at_ms[np.searchsorted(element, np.arange(len(names)))]
    triples = rows.triples
    # The rows of an element are a set.
    keep = ~repeats(element, triples)
    ops = graph = None
    if packer.takes_changes:
        graph = packer.graphs_of(_graphs(batch))[sound]
        keep &= graph >= 0
        ops, graph = op[sound][keep], graph[keep]
    triples, element = triples[keep], element[keep]
    sizes = np.bincount(element, minlength=len(names))
    columns = Columns(triples, element, len(names), times, sizes, graph)
    packer.add(part, chunk, Reading(columns, counted.take()), ops)


def ended_blobs(pack: str, source: int) -> list[tuple[int, bytes]]:
    """What tells all cells that a source has ended."""
    return list(packer_for(pack, source).nothing(Split(source=source, sequence=LAST_PART, ended=True)))


def _graphs(batch: pa.RecordBatch) -> list[str | None]:
    if "g" not in batch.schema.names:
        return [None] * batch.num_rows
    names = batch.column("g").to_pylist()
    return [None if name is None else str(name).strip("<>") for name in names]
