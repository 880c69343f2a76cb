"""Tables as streams: rows with `s`, `p`, `o` in N-Triples syntax, `at_ms`, and optionally `element` and `g`.

Consecutive rows with an equal `element` form an element; without that column each row is one. A malformed row is set
aside and its element goes on without it; rows of an element that disagree on the time are set aside as a whole. Lines
are counted as in the file for CSV (the header is line 1, a row is one line) and as rows from 1 otherwise.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Container, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa
from pyoxigraph import Quad, RdfFormat

from millstream.errors import DataError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.formats import Format
from millstream.rdf.readers.bounds import ByteSource, read_whole
from millstream.rdf.readers.parsing import check_sizes, check_supported, quads_of
from millstream.rdf.terms import is_one_term, parse_term
from millstream.rdf.times import MAX_MS, MIN_MS, OUT_OF_RANGE, integer_ms
from millstream.rdf.timing import Group

_ROWS = 50_000
_ARROW_FILE = b"ARROW1"


class Row(NamedTuple):
    """A good row: its quad, and the values of its columns at_ms, element and op."""

    quad: Quad
    at_ms: int | None
    element: Any
    line: int
    op: Any = None


def open_table(
    format: Format,
    source: ByteSource,
    rejections: Rejections,
    limits: Limits,
    *,
    path: Path | None = None,
    skipped: set[int],
) -> Iterator[pa.RecordBatch]:
    """The batches of a table file; `path` is given where the bytes on disk are the table, so that parts can be read.

    The numbers of CSV rows that are left out of the batches, for having too few or too many cells, go to `skipped`.
    """
    try:
        match format:
            case Format.CSV:
                yield from _open_csv(source, rejections, skipped)
            case Format.PARQUET:
                # With all the file systems that Arrow knows: nobody else should pay for it.
                import pyarrow.parquet

                found = None if path is not None else read_whole(source, limits, rejections)
                whole = str(path) if path is not None else None if found is None else pa.BufferReader(found)
                if whole is not None:
                    yield from map(_sound, pyarrow.parquet.ParquetFile(whole).iter_batches(batch_size=_ROWS))
            case _:
                data = read_whole(source, limits, rejections)
                if data is None:
                    return
                if data.startswith(_ARROW_FILE):
                    file = pa.ipc.open_file(data)
                    yield from (_sound(file.get_batch(index)) for index in range(file.num_record_batches))
                else:
                    yield from map(_sound, pa.ipc.open_stream(data))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        rejections.reject(f"not a readable {format.value} table: {error}")


def _sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose values can be looked at: Arrow takes offsets and texts of files as they are.

    Text that is not UTF-8 comes as bytes, so that only its row is malformed.
    """
    _ = batch.schema.names  # Raises for names that are not UTF-8.
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        columns = [_as_bytes(column) for column in batch.columns]
        batch = pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
        batch.validate(full=True)
    return batch


def _as_bytes(column: pa.Array[Any]) -> pa.Array[Any]:
    if pa.types.is_string(column.type):
        return column.view(pa.binary())
    return column.view(pa.large_binary()) if pa.types.is_large_string(column.type) else column


def batches_of(table: Any, rejections: Rejections) -> Iterator[pa.RecordBatch]:
    """The batches of a table in memory, which may have come from a file as well."""
    batches = [table] if isinstance(table, pa.RecordBatch) else table
    try:
        yield from map(_sound, table.to_batches(max_chunksize=_ROWS) if isinstance(table, pa.Table) else batches)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        rejections.reject(f"not a readable table: {error}")


def read_rows(
    batches: Iterator[pa.RecordBatch],
    scope: BlankScope,
    rejections: Rejections,
    *,
    timed: bool | None = True,
    first_line: int = 1,
    skipped: Container[int] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Row]:
    """The rows of a table; with `timed` those without a time are set aside; None: if there is such a column."""
    numbers = (number for number in count(first_line) if number not in skipped)
    for batch in batches:
        timed = "at_ms" in batch.schema.names if timed is None else timed
        _check_columns(batch.schema, rejections.source, timed=timed)
        texts = [_cells(batch, name) for name in ("s", "p", "o")]
        graphs = _cells(batch, "g")
        times = _times(batch) if "at_ms" in batch.schema.names else [None] * batch.num_rows
        elements, ops = _cells(batch, "element"), _cells(batch, "op")
        quads = _parse_rows(texts, scope, limits)
        for index, (s, p, o) in enumerate(zip(*texts, strict=True)):
            line = next(numbers)
            quad, at_ms = quads[index] if quads else None, times[index]
            try:
                if quad is None:
                    quad = _parse_row((s, p, o), scope)
                    check_supported((quad,))
                    check_sizes((quad,), limits)
                if graphs[index] not in (None, ""):
                    quad = _in_graph(quad, graphs[index], scope)
                checked = _checked_time(at_ms) if timed else None
            except DataError as error:
                text = " ".join("" if cell is None else str(cell) for cell in (s, p, o))
                rejections.reject(error.reason, line=line, text=text)
                continue
            yield Row(quad, checked, elements[index], line, ops[index])


def group_rows(rows: Iterator[Row], rejections: Rejections, *, by_row: bool) -> Iterator[Group]:
    """Elements of rows: each row, or consecutive ones with an equal element."""
    waiting: list[Row] = []
    for row in rows:
        if waiting and (by_row or row.element is None or row.element != waiting[0].element):
            yield from _group(waiting, rejections)
            waiting = []
        waiting.append(row)
    if waiting:
        yield from _group(waiting, rejections)


def _group(rows: list[Row], rejections: Rejections) -> Iterator[Group]:
    first = rows[0]
    other = next((row for row in rows if row.at_ms != first.at_ms), None)
    if other is not None:
        rejections.reject(
            f"rows of element {first.element!r} disagree on at_ms: {first.at_ms} and {other.at_ms}",
            line=other.line,
            text=f"{first.quad} .",
        )
        return
    yield Group([row.quad for row in rows], first.line, first.at_ms)


def _check_columns(schema: pa.Schema, source: str, *, timed: bool) -> None:
    needed = ("s", "p", "o", "at_ms") if timed else ("s", "p", "o")
    missing = [name for name in needed if schema.names.count(name) != 1]
    if missing:
        reason = f"needs one column each of {', '.join(missing)}; it has {', '.join(schema.names)}"
        raise DataError(f"{reason}. `millstream map` makes a stream of other rows", source=source)


def _cells(batch: pa.RecordBatch, name: str) -> list[Any]:
    if name not in batch.schema.names:
        return [None] * batch.num_rows
    cells: list[Any] = batch.column(name).to_pylist()
    return [_text(cell) if isinstance(cell, bytes) else cell for cell in cells]


def _text(cell: bytes) -> str | bytes:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return cell


def _times(batch: pa.RecordBatch) -> list[Any]:
    column = batch.column("at_ms")
    if pa.types.is_timestamp(column.type):
        # Floor to milliseconds, as for literals; a cast would round towards zero.
        unit = {"s": 1000, "ms": 1}.get(column.type.unit)
        parts = {"us": 1000, "ns": 1_000_000}.get(column.type.unit, 1)
        counts = column.cast(pa.int64()).to_pylist()
        return [None if n is None else n * unit if unit else n // parts for n in counts]
    return _cells(batch, "at_ms")


def _checked_time(value: Any) -> int:
    if isinstance(value, str):
        return integer_ms(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise DataError("no time in the column at_ms" if value is None else f"at_ms is not an integer: {value!r}")
    if not MIN_MS <= value <= MAX_MS:
        raise DataError(f"at_ms is {value}: {OUT_OF_RANGE}")
    return value


def _parse_rows(texts: list[list[Any]], scope: BlankScope, limits: Limits) -> list[Quad] | None:
    """All rows at once, or nothing if any is bad."""
    if not all(isinstance(cell, str) and is_one_term(cell) for column in texts for cell in column):
        return None
    lines = "\n".join(f"{s} {p} {o} ." for s, p, o in zip(*texts, strict=True)).encode("utf-8", "surrogatepass")
    try:
        quads = quads_of(lines, RdfFormat.N_TRIPLES, limits=limits)
    except DataError:
        return None
    return scope.rename(quads, lines) if len(quads) == len(texts[0]) else None


def _parse_row(cells: tuple[Any, Any, Any], scope: BlankScope) -> Quad:
    for name, cell in zip("spo", cells, strict=True):
        if not isinstance(cell, str):
            raise DataError(f"column {name} holds {'nothing' if cell is None else repr(cell)}, not an N-Triples term")
    s, p, o = (parse_term(cell, scope=scope) for cell in cells)
    try:
        return Quad(s, p, o)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise DataError(f"not a triple: {error}") from None


def _in_graph(quad: Quad, name: Any, scope: BlankScope) -> Quad:
    graph: Any = parse_term(name, scope=scope) if isinstance(name, str) else name
    try:
        return Quad(quad.subject, quad.predicate, quad.object, graph)
    except (TypeError, ValueError):
        raise DataError(f"column g must hold an IRI or a blank node, got {name!r}") from None


def _open_csv(source: ByteSource, rejections: Rejections, skipped: set[int]) -> Iterator[pa.RecordBatch]:
    refused: list[Exception] = []

    def skip(row: Any) -> Literal["skip", "error"]:
        reason = f"the row has {row.actual_columns} cells, the header {row.expected_columns}"
        try:
            rejections.reject(reason, line=row.number, text=row.text or "")
        except Exception as error:  # Arrow would print and forget it
            refused.append(error)
            return "error"
        skipped.add(row.number)
        return "skip"

    import pyarrow.csv

    types = dict.fromkeys(("s", "p", "o", "g", "at_ms", "element"), pa.binary())
    try:
        yield from pyarrow.csv.open_csv(
            io.BufferedReader(_Utf8(source)),
            # One thread, or malformed rows would have no numbers.
            read_options=pyarrow.csv.ReadOptions(use_threads=False),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
            convert_options=pyarrow.csv.ConvertOptions(column_types=types),
        )
    except pa.ArrowInvalid:
        if refused:
            raise refused[0] from None
        raise


def _not_utf8(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not UTF-8 as text that no term has, wherever it stands: twice, since a backslash may be before it."""
    assert isinstance(error, UnicodeDecodeError)
    found = error.object[error.start : error.end]
    return "".join(f"\\x{byte:02x}\\x{byte:02x}" for byte in found), error.end


codecs.register_error("millstream-not-utf8", _not_utf8)


class _Utf8(io.RawIOBase):
    """A byte source as Python's own kind of file, always UTF-8: one cell that is not would make all unreadable to Arrow."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-8")("millstream-not-utf8")
        self._waiting = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._waiting:
            data = self._source.read(len(buffer))
            self._waiting = memoryview(self._decoder.decode(data, final=not data).encode())
            if not data:
                break
        size = min(len(buffer), len(self._waiting))
        buffer[:size] = self._waiting[:size]
        self._waiting = self._waiting[size:]
        return size
