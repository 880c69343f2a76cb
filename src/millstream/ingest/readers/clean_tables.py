"""Arrow tables without a fault: terms where they lie in memory, times and elements as columns.

A table with anything to complain about (nulls, cells that are no terms, times that differ within an element) is read row
by row, which tells what is wrong with which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.ingest.columns import NOTHING, Columns
from millstream.ingest.parts import Part
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.repeats import element_places, repeats
from millstream.kernels.scanning.summary import Summary
from millstream.kernels.scanning.table_scanner import TableScanner
from millstream.rdf.times import MAX_MS, MIN_MS

_NEEDED = frozenset(("s", "p", "o", "at_ms"))
_TAKEN = _NEEDED | {"element"}
_ENDS: dict[int, np.dtype[np.int32] | np.dtype[np.int64]] = {
    pa.string().id: np.dtype(np.int32),
    pa.large_string().id: np.dtype(np.int64),
}

Cells: TypeAlias = tuple[npt.NDArray[np.int32] | npt.NDArray[np.int64], memoryview]
"""Where each cell of a column ends, from the beginning of the first on, and the bytes of all."""


@dataclass(slots=True)
class CleanTable:
    """The cells of s, p and o; for each row its element's place, for each element its time and its number of rows."""

    cells: list[Cells]
    rows: int
    element: npt.NDArray[np.int64]
    at_ms: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]


def clean_table(table: object) -> CleanTable | None:
    """The table in the form the scanner takes, if it is one and nothing is wrong with it at first sight."""
    if not isinstance(table, pa.Table) or not table.num_rows:
        return None
    names = table.column_names
    if len(set(names)) != len(names) or not _NEEDED.issubset(names):
        return None
    columns = {name: _whole(table.column(place)) for place, name in enumerate(names) if name in _TAKEN}
    for column in columns.values():
        if column.null_count:
            return None
    times, named, texts = columns["at_ms"], columns.get("element"), [columns[name] for name in "spo"]
    if not pa.types.is_integer(times.type) or pa.types.is_uint64(times.type):
        return None
    if named is not None and pa.types.is_nested(named.type):
        return None
    found = element_places(_begins(named, table.num_rows).view(np.uint8), _numbers(times), MIN_MS, MAX_MS)
    if found is None:
        return None
    cells = []
    for text in texts:
        if (cell := _cells(text)) is None:
            return None
        cells.append(cell)
    return CleanTable(cells, table.num_rows, *found)


class Attempt:
    """A table that looks clean; whether it is, shows when it is encoded."""

    def __init__(self, columns: Callable[[Dictionary, Summary | None], Columns | None]) -> None:
        self._columns = columns
        self.is_malformed = True

    def encode(self, dictionary: Dictionary, summary: Summary | None) -> Columns:
        found = self._columns(dictionary, summary)
        self.is_malformed = found is None
        return NOTHING if found is None else found


def _whole(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    """A column as one array; combining a single chunk would copy it."""
    whole: pa.Array[Any] = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()  # type: ignore[assignment]
    return whole


def _cells(text: pa.Array[Any]) -> Cells | None:
    """The cells of a column of text, unless there is too little memory for so many: Arrow believes what files say.

    Whether each lies within the bytes, and has UTF-8, the scanner sees.
    """
    if (kind := _ENDS.get(text.type.id)) is None:
        return None
    _, ends, data = text.buffers()
    width, rows = kind.itemsize, len(text) + 1
    if ends is None or data is None or ends.size < (text.offset + rows) * width:
        return None
    offsets: npt.NDArray[Any] = np.frombuffer(memoryview(ends), kind, rows, width * text.offset)
    return offsets, memoryview(data).cast("B")


def first_rows(table: pa.Table | pa.RecordBatch) -> npt.NDArray[np.bool_]:
    """Which rows begin an element; one without a name is an element of its own."""
    named: Any = table.column("element") if "element" in table.schema.names else None
    return _begins(_whole(named) if isinstance(named, pa.ChunkedArray) else named, table.num_rows)


def _begins(named: pa.Array[Any] | None, rows: int) -> npt.NDArray[np.bool_]:
    first = np.ones(rows, np.bool_)
    if named is None:
        return first
    if pa.types.is_integer(named.type) and not named.null_count:
        numbers = named.to_numpy()
        np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    elif not pa.types.is_null(named.type):
        from pyarrow import compute as pc

        first[1:] = pc.not_equal(named[1:], named[:-1]).fill_null(True).to_numpy(zero_copy_only=False)
    return first


def _numbers(column: pa.Array[Any]) -> npt.NDArray[np.int64]:
    found: npt.NDArray[np.int64] = (column if pa.types.is_int64(column.type) else column.cast(pa.int64())).to_numpy()
    return found


def table_columns(clean: CleanTable, part: Part, dictionary: Dictionary, summary: Summary | None) -> Columns | None:
    """The table as elements; None if a row is malformed."""
    scope, literal_bytes = part.scope.prefix + "l", part.limits.literal_bytes
    scanner = TableScanner(dictionary, summary=summary, scope=scope, literal_bytes=literal_bytes)
    found = scanner.cells(clean.cells, clean.rows)
    if found is None:
        return None
    table = found.triples
    size = len(clean.at_ms)
    if size == clean.rows:
        return Columns(table, found.index, size, clean.at_ms)
    # Repeats within an element are one triple: the first of each stays.
    element = clean.element[found.index]
    sizes = clean.sizes
    repeat = repeats(element, table)
    if repeat.any():
        sizes = sizes - np.bincount(element[repeat], minlength=size)
        table, element = table[~repeat], element[~repeat]
    return Columns(table, element, size, clean.at_ms, sizes)
