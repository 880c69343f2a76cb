"""The fast way in: N-Triples and N-Quads where each line is an element and times follow a rate, and N-Quads of graphs.

Bytes go to the scanner kernel in chunks; what no query can match is never encoded. Everything else takes the readers of
`millstream.rdf`, with the same elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from millstream.engine.batch import ElementBatch
from millstream.kernels.scanner import Scanned, Scanner
from millstream.limits import Limits
from millstream.rdf import Format, OnRejected, Rejections, format_of_path, named_format, parse_time_option
from millstream.rdf.bounds import Cut, bounded_lines, too_long
from millstream.rdf.inputs import BOM, ByteStream, Readable, files_of, is_readable, name_of, open_file
from millstream.rdf.lines import is_message_log, pieces_of
from millstream.rdf.times import MAX_MS
from millstream.rdf.timing import TimeKind

CHUNK = 1 << 21
_T = TypeVar("_T")
_LINE_FORMATS = (Format.N_TRIPLES, Format.N_QUADS)
# More elements than this in one source are beyond anybody's reach.
_MOST_ELEMENTS = 1 << 32


@dataclass(frozen=True, slots=True)
class LineSource:
    """Bytes of one file or buffer."""

    name: str
    format: Format
    chunks: Iterator[bytes | memoryview]


def rate_of(time: str | None, element: str | None) -> Fraction | None:
    """The rate of lines, where lines are elements and times follow a rate, and no time can become too large."""
    if time is None or element not in (None, "line"):
        return None
    option = parse_time_option(time)
    rate = option.rate
    return rate if rate is not None and time_at(_MOST_ELEMENTS, rate) <= MAX_MS else None


def graph_sources(
    source: object, format: str | None, time: str | None, element: str | None, receiver: OnRejected
) -> list[LineSource] | None:
    """The parts of a source, if all are N-Quads whose graphs are elements and say when they happened."""
    if element not in (None, "graph") or (time is not None and parse_time_option(time).kind is not TimeKind.PROV):
        return None
    found = line_sources(source, format, "line", receiver)
    return found if found and all(part.format is Format.N_QUADS for part in found) else None


def line_sources(source: object, format: str | None, element: str | None, receiver: OnRejected) -> list[LineSource] | None:
    """The parts of a source, if all of them can be read line by line; None if the readers must do it."""
    if isinstance(source, bytes | bytearray | memoryview):
        chosen = None if format is None else named_format(format).format
        if not _by_line(chosen, element) or is_message_log(bytes(source[:4096])) or bytes(source[:2]) == b"\x1f\x8b":
            return None
        assert chosen is not None
        return [LineSource("<bytes>", chosen, _slices(memoryview(source)))]
    if is_readable(source):
        opened = _opened_source(cast("Any", source), format, element, receiver)
        return None if opened is None else [opened]
    if not isinstance(source, str | Path):
        return None
    found = []
    for file in files_of(source, any_ending=format is not None):
        chosen = format_of_path(file.path) if format is None else named_format(format).format
        if not _by_line(chosen, element):
            return None
        with open_file(file.path) as raw:
            if is_message_log(ByteStream(raw, Rejections(file.name, receiver)).read(4096)):
                return None
        assert chosen is not None
        found.append(LineSource(file.name, chosen, _file_chunks(file.path, receiver)))
    return found


def _opened_source(source: Any, format: str | None, element: str | None, receiver: OnRejected) -> LineSource | None:
    """A file object, if it can be read line by line, and put back to where it was should it turn out that it cannot."""
    name = name_of(source)
    chosen = format_of_path(name) if format is None else named_format(format).format
    seekable = getattr(source, "seekable", None)
    if not _by_line(chosen, element) or not callable(seekable) or not seekable():
        return None
    assert chosen is not None
    place = source.tell()
    # What is wrong with the compression is told when it is read for good.
    head = ByteStream(source, Rejections(name, lambda _: None)).read(4096)
    source.seek(place)
    return None if is_message_log(head) else LineSource(name, chosen, _chunks(source, name, receiver))


def _by_line(format: Format | None, element: str | None) -> bool:
    # A graph of N-Quads is an element unless told otherwise.
    return format is Format.N_TRIPLES or (format is Format.N_QUADS and element == "line")


def _slices(data: memoryview) -> Iterator[memoryview]:
    for start in range(len(BOM) if data[: len(BOM)] == BOM else 0, len(data), CHUNK):
        yield data[start : start + CHUNK]


def _file_chunks(path: Path, receiver: OnRejected) -> Iterator[bytes]:
    with open_file(path) as raw:
        yield from _chunks(raw, str(path), receiver)


def _chunks(raw: Readable, name: str, receiver: OnRejected) -> Iterator[bytes]:
    stream = ByteStream(raw, Rejections(name, receiver))
    yield from pieces_of(stream, CHUNK)


def scanned(
    chunks: Iterator[bytes | memoryview], scanner: Scanner, limits: Limits, rejections: Rejections
) -> Iterator[tuple[Scanned, int, bool]]:
    """What the scanner finds, chunk by chunk, with the number of statements before the chunk, and whether it is the last.

    What is malformed or too long has been set aside.
    """
    before = scanner.statements
    for chunk, last in _with_last(bounded_lines(chunks, limits.statement_bytes)):
        if isinstance(chunk, Cut):
            rejections.reject(too_long(limits), line=scanner.lines + 1, column=1, text=scanner.abandon())
            if not last:
                continue
        found = scanner.feed(b"" if isinstance(chunk, Cut) else chunk, last)
        for line, column, reason, text in found.errors:
            rejections.reject(reason, line=line, column=column, text=text)
        yield found, before, last
        before = scanner.statements


def _with_last(chunks: Iterator[_T]) -> Iterator[tuple[_T | bytes, bool]]:
    """Chunks, one at least, and whether they are the last."""
    held: _T | bytes = next(chunks, b"")
    for chunk in chunks:
        yield held, False
        held = chunk
    yield held, True


def time_at(number: int, rate: Fraction) -> int:
    """The time of the element with a number, from 0."""
    return number * 1000 * rate.denominator // rate.numerator


def first_at(at_ms: int, rate: Fraction) -> int:
    """The number of the first element at or after a time."""
    return max(0, -(-at_ms * rate.numerator // (1000 * rate.denominator)))


def batch_at_rate(
    stream: str, found: Scanned, counts: tuple[int, int, int, int], rate: Fraction, *, sparse: bool
) -> ElementBatch:
    """Statements of a chunk as elements of one triple each.

    `counts`: the number of the first statement and that after the last, and elements and triples of the stream so far. A
    sparse batch leaves out the elements of which nothing was kept, but for the first and the last.
    """
    before, after, elements, triples = counts
    start = int(np.searchsorted(found.index, before))
    ordinal = found.index[start:] - before
    table = np.column_stack([found.s[start:], found.p[start:], found.o[start:]])
    if sparse:
        shown = np.unique(np.concatenate([ordinal, [0, after - before - 1]]))
        element = np.searchsorted(shown, ordinal)
    else:
        shown, element = np.arange(after - before), ordinal
    numbers = before + shown
    if max(after * 1000 * rate.denominator, rate.numerator) >= 1 << 63:
        numbers = numbers.astype(object)
    at_ms: npt.NDArray[np.int64] = (numbers * (1000 * rate.denominator) // rate.numerator).astype(np.int64)
    return ElementBatch(stream, at_ms, table, element, ordinal + triples + 1, triples + shown + 1, triples, elements + 1)
