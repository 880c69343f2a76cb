"""Arrow tables without a fault: all rows as one text for the scanner, times and elements as columns.

A table with anything to complain about (nulls, cells that are no terms, times that differ within an element) is read row
by row, which tells what is wrong with which.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.ingest.columns import Columns, repeats
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scanner import Scanner
from millstream.kernels.scanner_summary import Summary
from millstream.rdf.times import MAX_MS, MIN_MS

_BLANK = r"^\s*$"
_BEGINS_A_TERM = np.isin(np.arange(256), list(b'<"_'))


@dataclass(frozen=True, slots=True)
class CleanTable:
    """Rows as N-Triples lines; for each row its element's place, for each element its time."""

    lines: memoryview
    rows: int
    element: npt.NDArray[np.int64]
    at_ms: npt.NDArray[np.int64]


def clean_table(table: object) -> CleanTable | None:
    """The table in the form the scanner takes, if it is one and nothing is wrong with it at first sight."""
    if not isinstance(table, pa.Table) or not {"s", "p", "o", "at_ms"} <= set(table.column_names) or not table.num_rows:
        return None
    names = [name for name in ("s", "p", "o", "at_ms", "element") if name in table.column_names]
    if len(set(table.column_names)) != len(table.column_names) or any(table[name].null_count for name in names):
        return None
    texts = [_whole(table[name]) for name in ("s", "p", "o")]
    if not all(pa.types.is_string(t.type) or pa.types.is_large_string(t.type) for t in texts):
        return None
    if not all(map(_lies_in_its_memory, texts)):
        return None
    if not pa.types.is_integer(table["at_ms"].type):
        return None
    if pa.types.is_nested(table.schema.field(names[-1]).type) or pa.types.is_uint64(table["at_ms"].type):
        return None
    times = table["at_ms"].cast(pa.int64()).to_numpy()
    first = _first_rows(table)
    element = np.cumsum(first) - 1
    at_ms = times[first]
    if at_ms.min() < MIN_MS or at_ms.max() > MAX_MS or (times != at_ms[element]).any():
        return None
    lines = _as_lines(texts)
    return None if lines is None else CleanTable(lines, table.num_rows, element, at_ms)


def largest_time(table: pa.Table | pa.RecordBatch) -> int | None:
    """The largest time of a table, if it has times."""
    names = [i for i, name in enumerate(table.schema.names) if name == "at_ms"]
    if len(names) != 1 or not pa.types.is_integer(table.schema.field(names[0]).type):
        return None
    from pyarrow import compute as pc

    largest: int | None = pc.max(table.column(names[0])).as_py()
    return largest


def _whole(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    """A column as one array; combining a single chunk would copy it."""
    whole: pa.Array[Any] = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()  # type: ignore[assignment]
    return whole


def _lies_in_its_memory(text: pa.Array[Any]) -> bool:
    """Whether all cells are where the column has text: Arrow believes the offsets of a file. The scanner looks at UTF-8."""
    try:
        text.view(pa.binary() if pa.types.is_string(text.type) else pa.large_binary()).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _as_lines(texts: list[pa.Array[Any]]) -> memoryview | None:
    """The cells of each row with a dot behind them, all in one piece of memory; None if a cell is blank.

    Each cell then has one term or more, and a line has three: so a line that is read has one in each.
    """
    from pyarrow import compute as pc  # 9 MB that only tables need.

    kind = pa.large_string()
    cells: list[Any] = [t.cast(kind) for t in texts]
    if not all(_begin_terms(c) or not pc.any(pc.match_substring_regex(c, _BLANK)).as_py() for c in cells):
        return None
    lines = pc.binary_join_element_wise(*cells, pa.scalar(".\n", kind), pa.scalar(" ", kind))
    _, ends, data = lines.buffers()
    return memoryview(data).cast("B")[: np.frombuffer(ends, np.int64)[len(lines)]]


def _begin_terms(cells: pa.Array[Any]) -> bool:
    """Whether each cell begins with what begins a term, so that none is blank."""
    _, ends, data = cells.buffers()
    if ends is None or data is None:
        return False
    bounds = np.frombuffer(memoryview(ends), np.int64, len(cells) + 1, 8 * cells.offset)
    if not (bounds[1:] > bounds[:-1]).all():
        return False
    return bool(_BEGINS_A_TERM[np.frombuffer(memoryview(data), np.uint8)[bounds[:-1]]].all())


def _first_rows(table: pa.Table) -> npt.NDArray[np.bool_]:
    """Which rows begin an element."""
    first = np.ones(table.num_rows, np.bool_)
    if "element" in table.column_names:
        from pyarrow import compute as pc

        column = _whole(table["element"])
        first[1:] = pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return first


def table_columns(
    clean: CleanTable, dictionary: Dictionary, summary: Summary | None, scope: str, literal_bytes: int
) -> Columns | None:
    """The table as elements; None if a row is malformed."""
    scanner = Scanner(dictionary, summary=summary, scope=scope, literal_bytes=literal_bytes)
    found = scanner.feed(clean.lines, True)
    # More lines than rows: some cell has a line end in it.
    if found.errors or scanner.statements != clean.rows or scanner.lines != clean.rows:
        return None
    table = found.triples
    size = len(clean.at_ms)
    if size == clean.rows:
        return Columns(table, found.index, size, clean.at_ms)
    # Repeats within an element are one triple: the first of each stays.
    element = clean.element[found.index]
    repeat = repeats(element, table)
    sizes = np.bincount(clean.element, minlength=size) - np.bincount(element[repeat], minlength=size)
    return Columns(table[~repeat], element[~repeat], size, clean.at_ms, sizes)
