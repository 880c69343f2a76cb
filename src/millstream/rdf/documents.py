"""Readers of formats whose unit is a document: RDF/XML, JSON-LD and JSON-LD lines.

Of a malformed RDF/XML document the statements before the fault are kept, for its statements are complete where they
end. Of malformed JSON-LD nothing is kept, since a context or key that comes later can change what came before.
In JSON-LD lines a line of `{"@context": ...}` alone sets the context of the lines after it, and `{}` is an empty
message (RDF Messages, section JSON-LD). Remote contexts are never fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from pyoxigraph import Quad, RdfFormat, parse

from millstream.errors import OptionError
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.faults import fault_of
from millstream.rdf.lines import ByteSource
from millstream.rdf.nesting import TOO_DEEP, json_too_deep
from millstream.rdf.statements import Event, Mark, Statement

CHUNK = 1 << 20
# Elements, not triples: RDF/XML nests two a step, and the parser frees them recursively.
MAX_XML_DEPTH = 2000


def read_rdf_xml(
    source: ByteSource, scope: BlankScope, rejections: Rejections, *, base: str | None = None
) -> Iterator[Event]:
    """The statements of an RDF/XML document, one quad each."""
    watched = _WatchedXml(source)
    try:
        quads: Iterator[Quad] = parse(input=watched, format=RdfFormat.RDF_XML, base_iri=base)  # type: ignore[arg-type]
    except ValueError as error:
        raise OptionError(f"base: {error}") from None
    renamed = scope.rename_document(quads)
    while True:
        try:
            quad = next(renamed, None)
        except (SyntaxError, ValueError, _TooDeepError) as error:
            fault = fault_of(error)
            line, column = watched.fault or (fault.line, fault.column)
            reason = f"{fault.reason}; the document is kept up to here"
            rejections.reject(reason, line=line, column=column, text=watched.text)
            return
        if quad is None:
            return
        yield Statement([quad], None)


class _TooDeepError(Exception):
    pass


class _WatchedXml:
    """Passes XML on while a second parser follows, for the places of faults, which the first does not tell."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._pending = b""
        self._read = 0
        self._depth = 0
        self._expat = expat.ParserCreate(namespace_separator=" ")
        self._expat.StartElementHandler = self._enter
        self._expat.EndElementHandler = self._leave
        self.fault: tuple[int, int] | None = None
        self.text = b""

    def read(self, size: int = CHUNK, /) -> bytes:
        if not self._pending:
            self._pending = self._source.read(CHUNK)
            self._follow(self._pending)
        found, self._pending = self._pending[:size], self._pending[size:]
        return found

    def _follow(self, data: bytes) -> None:
        if self.fault is not None:
            return
        try:
            self._expat.Parse(data, not data)
        except expat.ExpatError as error:
            self.fault = (error.lineno, error.offset + 1)
            inside = max(0, self._expat.ErrorByteIndex - self._read)
            line_start = data.rfind(b"\n", 0, inside) + 1
            self.text = data[max(line_start, inside - 100) :].split(b"\n", 1)[0]
        self._read += len(data)

    def _enter(self, name: str, attributes: Any) -> None:
        self._depth += 1
        if self._depth > MAX_XML_DEPTH:
            raise _TooDeepError(f"nested more than {MAX_XML_DEPTH} deep")

    def _leave(self, name: str) -> None:
        self._depth -= 1


def read_json_ld(
    source: ByteSource, scope: BlankScope, rejections: Rejections, *, base: str | None = None
) -> Iterator[Event]:
    """The one statement of a JSON-LD document: all its quads."""
    text = b"".join(iter(lambda: source.read(CHUNK), b""))
    if not text.strip():
        return
    quads = _parse_json(text, None, scope.next_document(), rejections, base=base, line=None)
    if quads is not None:
        yield Statement(quads, 1)
        yield Mark.END


def read_json_lines(
    source: ByteSource, scope: BlankScope, rejections: Rejections, *, base: str | None = None
) -> Iterator[Event]:
    """The statements of JSON-LD lines, one a document; each is followed by the end of its scope."""
    context: bytes | None = None
    for number, line in enumerate(text_lines(source), 1):
        text = line.strip()
        if not text:
            continue
        if text.startswith(b"{") and len(text) > 2 and (found := _lone_context(text)) is not None:
            context = found
            continue
        if text.startswith(b"{") and not text[1:-1].strip() and text.endswith(b"}"):
            yield Mark.END
            continue
        quads = _parse_json(text, context, scope.next_document(), rejections, base=base, line=number)
        if quads is not None:
            yield Statement(quads, number)
            yield Mark.END


def text_lines(source: ByteSource) -> Iterator[bytes]:
    """The lines of a text, without their ends."""
    pieces: list[bytes] = []
    while piece := source.read(CHUNK):
        *whole, rest = piece.split(b"\n")
        for line in whole:
            pieces.append(line)
            yield b"".join(pieces)
            pieces = []
        if rest:
            pieces.append(rest)
    if pieces:
        yield b"".join(pieces)


def _lone_context(text: bytes) -> bytes | None:
    """The context of a line that holds nothing else."""
    if not text[1:].lstrip().startswith(b'"@context"') or json_too_deep(text):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or set(document) != {"@context"}:
        return None
    return json.dumps(document["@context"]).encode()


def _parse_json(
    text: bytes,
    context: bytes | None,
    scope: BlankScope,
    rejections: Rejections,
    *,
    base: str | None,
    line: int | None,
) -> list[Quad] | None:
    if json_too_deep(text):
        rejections.reject(TOO_DEEP, line=line or 1, column=1, text=text)
        return None
    before = b"" if context is None else b'{"@context":' + context + b',"@graph":'
    whole = text if context is None else before + text + b"}"
    try:
        quads: Iterator[Quad] = parse(input=whole, format=RdfFormat.JSON_LD, base_iri=base)
    except ValueError as error:
        raise OptionError(f"base: {error}") from None
    try:
        return list(scope.rename_document(quads))
    except (SyntaxError, ValueError) as error:
        fault = fault_of(error)
        column = fault.column
        if column is not None and (line is not None):
            column = max(1, column - len(before))
        rejections.reject(fault.reason, line=line if line is not None else fault.line, column=column, text=text)
        return None
