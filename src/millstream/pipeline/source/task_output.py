"""What a task of the source gives Spark: rows of text, or blobs for cells, as Arrow record batches.

Text columns are decoded from ids a column at a time; no triple is ever a Python object on the way of the scanner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millstream.ingest import Columns
from millstream.ingest.columns import Ids, times_at_rate
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.pipeline.datasets.change_files import read_changes
from millstream.pipeline.datasets.datasets import packed_by_task
from millstream.pipeline.exchange.packing import packer_for
from millstream.pipeline.source.dead_letters import DeadLetters
from millstream.pipeline.source.reading import read_part
from millstream.pipeline.source.splits import Split
from millstream.rdf import Rejected
from millstream.rdf.times import OUT_OF_RANGE

_TEXT = pa.string()
# As Any: the stubs find no type that all Arrow types share.
_ROW_TYPES: Any = {"s": _TEXT, "p": _TEXT, "o": _TEXT, "g": _TEXT, "at_ms": pa.int64(), "element": _TEXT}
_PACKED_TYPES: Any = {"cell": pa.int32(), "blob": pa.binary()}
_ROWS = pa.schema(_ROW_TYPES)
_PACKED = pa.schema(_PACKED_TYPES)
_DATASET_TYPES: Any = {"kind": pa.int32(), **_PACKED_TYPES}
_DATASET = pa.schema(_DATASET_TYPES)


def rows_of(part: Split, before: int, dead_letter: str | None) -> Iterator[pa.RecordBatch]:
    """The triples of a part; under `rate:N` its first element has the number `before`."""
    if not part.has_data:
        return
    dictionary = Dictionary()
    dictionary.forget_before(1)
    elements = 0
    with DeadLetters(dead_letter, part) as letters:
        for reading in read_part(part, dictionary, on_rejected=letters):
            yield _row_batch(part, reading.columns, before, elements, dictionary, letters)
            elements += reading.columns.elements
            # The terms are text now; the next chunk begins with an empty dictionary.
            dictionary.settle()


def _row_batch(
    part: Split, found: Columns, before: int, elements: int, dictionary: Dictionary, letters: DeadLetters
) -> pa.RecordBatch:
    if found.at_ms is not None:
        times = found.at_ms[found.element]
    else:
        assert part.rate is not None
        times = times_at_rate(found.element + elements + before, part.rate)
    fits = times >= 0 if found.at_ms is None else np.ones(len(times), np.bool_)
    if not fits.all():
        reason = f"at this rate the time of {int((~fits).sum())} statements is too large: {OUT_OF_RANGE}"
        letters(Rejected(part.path, None, None, reason, ""))
    triples = found.triples[fits]
    columns: list[pa.Array[Any]] = [dictionary.decode(np.ascontiguousarray(triples[:, i])) for i in range(3)]
    columns.append(_graphs(found, fits, dictionary))
    columns.append(pa.array(times[fits]))
    columns.append(_element_names(part, found.element[fits] + elements))
    return pa.RecordBatch.from_arrays(columns, schema=_ROWS)


def _graphs(found: Columns, fits: Any, dictionary: Dictionary) -> pa.Array[Any]:
    if found.graph is None:
        return pa.nulls(int(fits.sum()), pa.string())
    graph = found.graph[fits]
    named = graph >= 0
    # Few graphs name many triples, and the default graph has no id to decode.
    distinct, place = np.unique(graph[named], return_inverse=True)
    index = np.zeros(len(graph), np.int64)
    index[named] = place
    texts: Any = dictionary.decode(distinct)
    names: pa.Array[Any] = texts.take(pa.array(index, pa.int64(), mask=~named))
    return names


def _element_names(part: Split, number: Ids) -> pa.Array[Any]:
    """Names whose order as texts is the order of the elements."""
    digits: Any = pc.utf8_lpad(pa.array(number).cast(pa.string()), 10, "0")
    names: pa.Array[Any] = pc.binary_join_element_wise(pa.scalar(f"{part.sequence:08d}"), digits, "-")
    return names


def packed_of(
    parts: Iterable[tuple[Split, int]], pack: str, source: int, dead_letter: str | None
) -> Iterator[pa.RecordBatch]:
    """What the packer makes of parts, each with the number of its first element where somebody counted."""
    packer = packer_for(pack, source)
    for part, before in parts:
        packer.begin(before)
        if not part.has_data:
            yield packed_batch(packer.nothing(part))
            continue
        with DeadLetters(dead_letter, part) as letters:
            readings = (
                read_changes(part, packer, letters)
                if part.changes
                else read_part(part, packer.dictionary, packer.summary, on_rejected=letters)
            )
            for number, reading in enumerate(readings):
                packer.add(part.sequence, number, reading)
                if packer.is_full:
                    yield packed_batch(packer.take())
    yield packed_batch(packer.take())


def datasets_of(parts: Iterable[Split], graph: str | None, pack: str, ahead: str | None) -> Iterator[pa.RecordBatch]:
    """What of a dataset's parts a query asks for."""
    for kind, cell, blob in packed_by_task(parts, graph, pack, ahead):
        arrays: list[pa.Array[Any]] = [
            pa.array([kind], pa.int32()),
            pa.array([cell], pa.int32()),
            pa.array([blob], pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=_DATASET)


def packed_batch(pairs: Iterable[tuple[int, bytes]]) -> pa.RecordBatch:
    """Blobs with the keys of their cells."""
    found = list(pairs)
    cells = pa.array([cell for cell, _ in found], pa.int32())
    blobs = pa.array([blob for _, blob in found], pa.binary())
    return pa.RecordBatch.from_arrays([cells, blobs], schema=_PACKED)
