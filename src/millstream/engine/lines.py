"""The fast way in: N-Triples and N-Quads where each line is an element and times follow a rate, and N-Quads of graphs.

Bytes go to the scanner kernel in chunks; what no query can match is never encoded. Everything else takes the readers of
`millstream.rdf`, with the same elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from millstream.engine.batch import ElementBatch
from millstream.kernels.scanner import Scanned, Scanner
from millstream.rdf import Format, OnRejected, Rejected, Rejections, format_of_path, named_format, parse_time_option
from millstream.rdf.inputs import ByteStream, Readable, files_of, is_readable, name_of, open_file
from millstream.rdf.timing import TimeKind

CHUNK = 1 << 21
_LINE_FORMATS = (Format.N_TRIPLES, Format.N_QUADS)
# A message log says so in its first statement; its messages, not its lines, are elements.
_MESSAGES = re.compile(rb"\s*(?:#[^\n]*\n\s*)*VERSION\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LineSource:
    """Bytes of one file or buffer."""

    name: str
    format: Format
    chunks: Iterator[bytes | memoryview]


def rate_of(time: str | None, element: str | None) -> Fraction | None:
    """The rate of lines, where lines are elements and times follow a rate."""
    if time is None or element not in (None, "line"):
        return None
    option = parse_time_option(time)
    return option.rate if option.kind is TimeKind.RATE else None


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
        if not _by_line(chosen, element) or _MESSAGES.match(bytes(source[:4096])) or bytes(source[:2]) == b"\x1f\x8b":
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
            if _MESSAGES.match(ByteStream(raw, Rejections(file.name, receiver)).read(4096)):
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
    return None if _MESSAGES.match(head) else LineSource(name, chosen, _chunks(source, name, receiver))


def _by_line(format: Format | None, element: str | None) -> bool:
    # A graph of N-Quads is an element unless told otherwise.
    return format is Format.N_TRIPLES or (format is Format.N_QUADS and element == "line")


def _slices(data: memoryview) -> Iterator[memoryview]:
    for start in range(0, len(data), CHUNK):
        yield data[start : start + CHUNK]


def _file_chunks(path: Path, receiver: OnRejected) -> Iterator[bytes]:
    with open_file(path) as raw:
        yield from _chunks(raw, str(path), receiver)


def _chunks(raw: Readable, name: str, receiver: OnRejected) -> Iterator[bytes]:
    stream = ByteStream(raw, Rejections(name, receiver))
    while chunk := stream.read(CHUNK):
        yield chunk


def scanned(source: LineSource, scanner: Scanner) -> Iterator[tuple[Scanned, int]]:
    """What the scanner finds, chunk by chunk, with the number of statements seen before the chunk."""
    before = scanner.statements
    for chunk in source.chunks:
        found = scanner.feed(chunk)
        yield found, before
        before = scanner.statements
    yield scanner.feed(b"", True), before


def set_aside(source: LineSource, found: Scanned, receiver: OnRejected) -> None:
    for line, column, reason, text in found.errors:
        receiver(Rejected(source.name, line, column, reason, text))


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
