"""Readers of the line formats, N-Triples and N-Quads.

Text is parsed in large chunks that end at a line end. A chunk the parser objects to is parsed again line by line, so
that exactly the bad lines are set aside: the parser's own recovery would lose the lines behind an open quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from pyoxigraph import Quad, RdfFormat, parse

from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.faults import fault_of
from millstream.rdf.nesting import TOO_DEEP, triple_terms_too_deep
from millstream.rdf.statements import Event, Mark, Statement

CHUNK = 1 << 20

# Directives of RDF 1.2 and of RDF Message Logs, which the parser does not know in the line formats.
_DIRECTIVE = re.compile(rb'[ \t]*(?:VERSION[ \t]*(?:"([^"\\]*)"|\'([^\'\\]*)\')|(MESSAGE))[ \t]*(?:#.*)?')


class ByteSource(Protocol):
    """Bytes in the pieces they come in."""

    def read(self, size: int, /) -> bytes: ...


def read_lines(
    source: ByteSource,
    format: RdfFormat,
    scope: BlankScope,
    rejections: Rejections,
    *,
    messages: bool = False,
    chunk: int = CHUNK,
) -> Iterator[Event]:
    """The statements of an N-Triples or N-Quads text, one a line."""
    reader = _LineReader(format, scope, rejections, messages)
    if messages:
        yield Mark.MESSAGES
    for text in _whole_lines(source, chunk):
        yield from reader.read(text)


def _whole_lines(source: ByteSource, chunk: int) -> Iterator[bytes]:
    pieces: list[bytes] = []
    while piece := source.read(chunk):
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
    def __init__(self, format: RdfFormat, scope: BlankScope, rejections: Rejections, messages: bool) -> None:
        self._format = format
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
        quads = None if triple_terms_too_deep(text) else self._parse(text)
        if quads is not None and len(quads) == len(numbers):
            self._begun = True
            for quad, number in zip(self._scope.rename(quads, text), numbers, strict=True):
                yield Statement([quad], number)
            return
        for number in numbers:
            yield from self._read_line(lines[number - first], number)

    def _parse(self, text: bytes) -> list[Quad] | None:
        try:
            return list(parse(input=text, format=self._format))
        except (SyntaxError, ValueError):
            return None

    def _read_line(self, line: bytes, number: int) -> Iterator[Event]:
        if triple_terms_too_deep(line):
            self._rejections.reject(TOO_DEEP, line=number, column=1, text=line)
            return
        try:
            quads = list(parse(input=line, format=self._format))
        except (SyntaxError, ValueError) as error:
            fault = fault_of(error)
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
