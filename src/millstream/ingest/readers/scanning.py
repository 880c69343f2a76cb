"""Readers on the scanner kernel: N-Triples and N-Quads whose lines are elements, N-Quads whose graphs are.

Bytes go to the scanner in chunks; what no query can match is never encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import numpy as np

from millstream.errors import DataError
from millstream.ingest.chunk import Chunk, Want
from millstream.ingest.columns import Columns
from millstream.ingest.parts import Part
from millstream.ingest.readers.graph_log import GraphLog
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.scanner import Scanned, Scanner
from millstream.kernels.scanning.summary import Summary
from millstream.rdf import Format, Rejected, Rejections
from millstream.rdf.inputs import BOM, ByteStream
from millstream.rdf.readers.bounds import Cut, bounded_lines, too_long
from millstream.rdf.timing import TimeKind, readings_of

CHUNK_BYTES = 1 << 21
Piece: TypeAlias = bytes | memoryview | Cut


def read_lines(part: Part, stream: ByteStream, want: Want) -> Iterator[Chunk]:
    """Each statement an element."""
    lines = _Lines(part, want)
    yield from lines.chunks(stream, lines.elements, is_single=True)


def read_graphs(part: Part, stream: ByteStream, want: Want) -> Iterator[Chunk]:
    """Each named graph an element, `prov:generatedAtTime` its time."""
    lines = _Lines(part, want)
    graphs = _Graphs(lines, part)
    yield from lines.chunks(stream, graphs.elements, is_single=False)
    yield Chunk(graphs.rest)


class _Lines:
    """The scanner of one part; it is made for the dictionary of whoever takes the first chunk."""

    def __init__(self, part: Part, want: Want) -> None:
        self._part = part
        self._want = want
        self._limits = part.limits
        self._scanner: Scanner | None = None
        self._summary: Summary | None = None
        # Strict readers take what comes before a fault, and then raise.
        self._strict = part.rejections.receiver is None
        self._faults: list[Rejected] = []
        self._rejections = Rejections(part.rejections.source, self._faults.append) if self._strict else part.rejections

    def chunks(self, stream: ByteStream, encode: Callable[..., Columns], *, is_single: bool) -> Iterator[Chunk]:
        """All of a stream; the last chunk is empty unless the text ends within a line."""
        pieces = pieces_of(self._part, stream, CHUNK_BYTES)
        for piece in bounded_lines(pieces, self._limits.statement_bytes):
            yield Chunk(partial(encode, piece, False), is_single=is_single)
        yield Chunk(partial(encode, b"", True), is_single=is_single)

    def elements(self, piece: Piece, last: bool, dictionary: Dictionary, summary: Summary | None) -> Columns:
        found, before, after, fault = self.scan(piece, last, dictionary, summary)
        at_ms = None
        option = self._want.option
        if option is not None and option.kind is TimeKind.ARRIVAL:
            assert self._want.clock_ms is not None
            at_ms = readings_of(self._want.clock_ms, after - before)
        rate = None if option is None else option.rate
        return Columns(found.triples, found.index - before, after - before, at_ms, None, found.g, rate=rate, fault=fault)

    def scan(
        self, piece: Piece, last: bool, dictionary: Dictionary, summary: Summary | None
    ) -> tuple[Scanned, int, int, DataError | None]:
        """What a piece has, the numbers of its first statement and of that after its last, and what ends the reading."""
        scanner = self._scanner
        if scanner is None:
            scanner = self._scanner = Scanner(
                dictionary,
                graphs=self._part.format is Format.N_QUADS,
                summary=None if self._strict else summary,
                # The label behind the scope as the parsers name it: the same nodes whichever reader a text has.
                scope=self._part.scope.prefix + "l",
                literal_bytes=self._limits.literal_bytes,
            )
            self._summary = summary
        elif summary is not self._summary and not self._strict:
            self._summary = summary
            scanner.watch(summary)
        before = scanner.statements
        if isinstance(piece, Cut):
            self._rejections.reject(too_long(self._limits), line=scanner.lines + 1, column=1, text=scanner.abandon())
            piece = b""
        found = scanner.feed(piece, last)
        for line, column, reason, text in found.errors:
            self._rejections.reject(reason, line=line, column=column, text=text)
        if not self._faults:
            return found, before, scanner.statements, None
        first = self._faults[0]
        kept = int(np.searchsorted(found.line, first.line or 0))
        g = None if found.g is None else found.g[:kept]
        cut = Scanned(found.triples[:kept], g, found.index[:kept], found.line[:kept], [])
        return cut, before, before + kept, first.as_error()


class _Graphs:
    """Named graphs of what a scanner finds: only who sees every quad knows where one ends, and which quads repeat others."""

    def __init__(self, lines: _Lines, part: Part) -> None:
        self._lines = lines
        self._part = part
        self._log: GraphLog | None = None

    def elements(self, piece: Piece, last: bool, dictionary: Dictionary, summary: Summary | None) -> Columns:
        found, _, _, fault = self._lines.scan(piece, last, dictionary, None)
        return self._log_of(dictionary).take(found, fault)

    def rest(self, dictionary: Dictionary, summary: Summary | None) -> Columns:
        return self._log_of(dictionary).finish()

    def _log_of(self, dictionary: Dictionary) -> GraphLog:
        if self._log is None:
            self._log = GraphLog(dictionary, self._part.rejections)
        return self._log


def pieces_of(part: Part, stream: ByteStream, size: int) -> Iterator[bytes | memoryview]:
    """The bytes of a stream; what is all there in pieces of one length, since compressed files come in smaller bites."""
    if part.data is not None and not stream.is_compressed:
        # Without a copy, which would cost half of what scanning does.
        for start in range(len(BOM) if part.data[: len(BOM)] == BOM else 0, len(part.data), size):
            yield part.data[start : start + size]
        return
    while text := stream.read(size):
        pieces = [text]
        length = len(text)
        while part.is_all_there and length < size and (text := stream.read(size - length)):
            pieces.append(text)
            length += len(text)
        yield pieces[0] if len(pieces) == 1 else b"".join(pieces)
