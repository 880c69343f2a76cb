"""Readers of formats whose unit is a JSON-LD document: JSON-LD and JSON-LD lines.

Of malformed JSON-LD nothing is kept, since a context or key that comes later can change what came before.
In JSON-LD lines a line of `{"@context": ...}` alone sets the context of the lines after it, and `{}` is an empty
message (RDF Messages, section JSON-LD). Remote contexts are never fetched. A base direction is dropped, as JSON-LD does
without the option rdfDirection.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pyoxigraph import Literal, Quad, RdfFormat, parse

from millstream.errors import DataError, OptionError
from millstream.limits import Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.readers.bounds import SHOWN, ByteSource, Cut, bounded_lines, pieces_of, read_whole, too_long
from millstream.rdf.readers.faults import fault_of
from millstream.rdf.readers.nesting import TOO_DEEP, json_too_deep
from millstream.rdf.readers.parsing import check_sizes, names_size
from millstream.rdf.readers.rdf_xml import too_large
from millstream.rdf.statements import Event, Mark, Statement


def read_json_ld(
    source: ByteSource, scope: BlankScope, rejections: Rejections, *, base: str | None, limits: Limits
) -> Iterator[Event]:
    """The one statement of a JSON-LD document: all its quads."""
    text = read_whole(source, limits, rejections)
    if text is None or not text.strip():
        return
    quads = _parse_json(text, None, scope.next_document(), rejections, limits, base=base, line=None)
    if quads is not None:
        yield Statement(quads, 1)
        yield Mark.END


def read_json_lines(
    source: ByteSource, scope: BlankScope, rejections: Rejections, *, base: str | None, limits: Limits
) -> Iterator[Event]:
    """The statements of JSON-LD lines, one a document; each is followed by the end of its scope."""
    context: bytes | None = None
    for number, line in text_lines(source, limits, rejections):
        text = line.strip()
        if not text:
            continue
        if text.startswith(b"{") and len(text) > 2 and (found := _lone_context(text)) is not None:
            context = found
            continue
        if text.startswith(b"{") and not text[1:-1].strip() and text.endswith(b"}"):
            yield Mark.END
            continue
        quads = _parse_json(text, context, scope.next_document(), rejections, limits, base=base, line=number)
        if quads is not None:
            yield Statement(quads, number)
            yield Mark.END


def text_lines(source: ByteSource, limits: Limits, rejections: Rejections) -> Iterator[tuple[int, bytes]]:
    """The lines of a text with their numbers, without their ends; those that are too long are set aside."""
    pieces: list[bytes] = []
    number = 1
    for piece in bounded_lines(pieces_of(source), limits.statement_bytes):
        if isinstance(piece, Cut):
            rejections.reject(too_long(limits), line=number, column=1, text=b"".join(pieces)[:SHOWN])
            pieces = []
            continue
        *whole, rest = piece.split(b"\n")
        for line in whole:
            pieces.append(line)
            yield number, b"".join(pieces)
            number += 1
            pieces = []
        if rest:
            pieces.append(rest)
    if pieces:
        yield number, b"".join(pieces)


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
    limits: Limits,
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
        found = list(scope.rename_document(_bounded(quads, limits)))
        if len(whole) > limits.literal_bytes // 8:
            check_sizes(found, limits)
        return found
    except DataError as refused:
        rejections.reject(refused.reason, line=line or 1, column=1, text=text)
        return None
    except BaseException as error:
        fault = fault_of(error)
        column = fault.column
        if column is not None and (line is not None):
            column = max(1, column - len(before))
        rejections.reject(fault.reason, line=line if line is not None else fault.line, column=column, text=text)
        return None


def _bounded(quads: Iterable[Quad], limits: Limits) -> Iterator[Quad]:
    """Quads without directions, as long as their names, which a context makes long and a key repeats, are not too large."""
    size = 0
    for quad in quads:
        size += names_size(quad)
        if size > limits.document_bytes:
            raise DataError(too_large(limits))
        found = quad.object
        if isinstance(found, Literal) and found.direction is not None:
            yield Quad(quad.subject, quad.predicate, Literal(found.value, language=found.language), quad.graph_name)
        else:
            yield quad
