"""Readers of the line formats, N-Triples and N-Quads.

Text is parsed in large chunks that end at a line end. A chunk the parser objects to is parsed again line by line, so
that exactly the bad lines are set aside: the parser's own recovery would lose the lines behind an open quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pyoxigraph import Quad, RdfFormat

from millstream.errors import DataError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.inputs import BOM
from millstream.rdf.readers.bounds import CHUNK, SHOWN, ByteSource, Cut, bounded_lines, pieces_of, too_long
from millstream.rdf.readers.parsing import quads_of
from millstream.rdf.statements import Event, Mark, Statement

# Directives of RDF 1.2 and of RDF Message Logs, which the parser does not know in the line formats.
_DIRECTIVE = re.compile(rb'[ \t]*(?:VERSION[ \t]*(?:"([^"\\]*)"|\'([^\'\\]*)\')|(MESSAGE))[ \t]*(?:#.*)?')

_ANNOUNCED = re.compile(rb"\s*(?:#[^\n]*\n\s*)*VERSION\b", re.IGNORECASE)


def is_message_log(head: bytes) -> bool:
    """Whether the beginning of a text may announce a message log: its messages, not its lines, are elements."""
    return _ANNOUNCED.match(head.removeprefix(BOM)) is not None


def read_lines(
    source: ByteSource,
    format: RdfFormat,
    scope: BlankScope,
    rejections: Rejections,
    *,
    messages: bool = False,
    chunk: int = CHUNK,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Event]:
    """The statements of an N-Triples or N-Quads text, one a line."""
    reader = _LineReader(format, scope, rejections, messages, limits)
    if messages:
        yield Mark.MESSAGES
    for text in _whole_lines(bounded_lines(pieces_of(source, chunk), limits.statement_bytes)):
        if isinstance(text, bytes):
            yield from reader.read(text)
        else:
            reader.reject_long(text.beginning)


@dataclass(frozen=True, slots=True)
class _Long:
    """A line that is too long: how it begins."""

    beginning: bytes


def _whole_lines(found: Iterator[bytes | Literal[Cut.LINE]]) -> Iterator[bytes | _Long]:
    pieces: list[bytes] = []
    for piece in found:
        if isinstance(piece, Cut):
            line = b"".join(pieces)
            behind = max(line.rfind(b"\n"), line.rfind(b"\r")) + 1
            if behind:
                yield line[:behind]
            yield _Long(line[behind:][:SHOWN])
            pieces = []
            continue
        cut = piece.rfind(b"\n") + 1
        if not cut:
            # A carriage return ends a line too, unless it is the last byte and a line feed may follow.
            cut = piece.rfind(b"\r", 0, len(piece) - 1) + 1
        if cut:
            pieces.append(piece[:cut])
            yield b"".join(pieces)
            pieces = [piece[cut:]] if cut < len(piece) else []
        else:
            pieces.append(piece)
    if pieces:
        yield b"".join(pieces)


class _LineReader:
    def __init__(self, format: RdfFormat, scope: BlankScope, rejections: Rejections, messages: bool, limits: Limits) -> None:
        self._format = format
        self._limits = limits
        self._source_scope = scope
        self._scope = scope.next_document() if messages else scope
        self._rejections = rejections
        self._messages = messages
        self._begun = False
        self._line = 0

    def read(self, text: bytes) -> Iterator[Event]:
        lines = text.splitlines()
        first = self._line + 1
        self._line += len(lines)
        if b"VERSION" not in text and b"MESSAGE" not in text:
            yield from self._read_block(lines, text, first)
            return
        start = 0
        for index, line in enumerate(lines):
            if directive := _DIRECTIVE.fullmatch(line):
                yield from self._read_block(lines[start:index], b"\n".join(lines[start:index]), first + start)
                yield from self._obey(directive, line, first + index)
                start = index + 1
        yield from self._read_block(lines[start:], b"\n".join(lines[start:]), first + start)

    def _read_block(self, lines: list[bytes], text: bytes, first: int) -> Iterator[Event]:
        """Lines without directives: at once if the parser takes them all, else one by one."""
        numbers = [n for n, line in enumerate(lines, first) if _holds_statement(line)]
        if not numbers:
            return
        quads = self._parse(text)
        if quads is not None and len(quads) == len(numbers):
            self._begun = True
            for quad, number in zip(self._scope.rename(quads, text), numbers, strict=True):
                yield Statement([quad], number)
            return
        for number in numbers:
            yield from self._read_line(lines[number - first], number)

    def _parse(self, text: bytes) -> list[Quad] | None:
        try:
            return quads_of(text, self._format, limits=self._limits)
        except DataError:
            return None

    def reject_long(self, line: bytes) -> None:
        """Sets a line aside of which only the beginning is there; its end is still to come."""
        self._rejections.reject(too_long(self._limits), line=self._line + 1, column=1, text=line)

    def _read_line(self, line: bytes, number: int) -> Iterator[Event]:
        try:
            quads = quads_of(line, self._format, limits=self._limits)
        except DataError as fault:
            self._rejections.reject(fault.reason, line=number, column=fault.column or 1, text=line)
            return
        self._begun = True
        yield Statement(self._scope.rename(quads, line), number)

    def _obey(self, directive: re.Match[bytes], line: bytes, number: int) -> Iterator[Event]:
        if directive[3] is not None:
            if self._messages:
                self._scope = self._source_scope.next_document()
                self._begun = True
                yield Mark.END
            else:
                reason = 'MESSAGE stands only in an RDF Message Log, which begins with VERSION "1.2-messages"'
                self._rejections.reject(reason, line=number, column=1, text=line)
            return
        label = directive[1] if directive[1] is not None else directive[2]
        if not label.endswith(b"-messages") or self._messages:
            return
        if self._begun:
            reason = "an RDF Message Log is announced before the first statement"
            self._rejections.reject(reason, line=number, column=1, text=line)
            return
        self._messages = True
        self._scope = self._source_scope.next_document()
        yield Mark.MESSAGES


def _holds_statement(line: bytes) -> bool:
    stripped = line.strip(b" \t")
    return bool(stripped) and not stripped.startswith(b"#")
