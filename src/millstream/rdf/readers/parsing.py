"""The parser of Turtle and the line formats, asked safely: any text becomes quads or a DataError.

By itself the parser overflows the stack over nested triple terms, and raises MemoryError for a token of 16 MiB. So nesting
is looked at first, and strings that are too long for it are taken out of the text, read in pieces and put back.
What the engine has no terms for, the triple terms and base directions of RDF 1.2, is refused here, statement by statement.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple, parse

from millstream.errors import DataError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf.readers.faults import fault_of
from millstream.rdf.readers.nesting import TOO_DEEP, triple_terms_too_deep
from millstream.rdf.readers.sentences import COMMENT, LONG_STRING, NAME, SHORT_STRING, WHOLE_IRI

TRIPLE_TERMS = "triple terms of RDF 1.2 are not supported"
DIRECTIONS = "base directions of RDF 1.2 are not supported"
LONGEST_NAME = 8 << 20
"""Of an IRI or a label, in bytes: twice as long, the parser refuses it."""

# What else brings a triple term, or a base direction, into a text.
_SIGNS = (b"{|", b"~", b"--")
# The canonical form of a character can be an escape of six bytes.
_MOST_ESCAPED = 6
_LONG = 4 << 20
_PIECE = 1 << 20
_LONG_COMMENT = rb"#[^\r\n]{%d,}+" % _LONG
_PARTS = re.compile(
    rb"(?:[\x20\t\r\n]++|(?!" + _LONG_COMMENT + rb")" + COMMENT + rb"|" + WHOLE_IRI + rb"|" + NAME + rb"|[^\"'#<])*+"
    rb"(?:(?P<comment>" + _LONG_COMMENT + rb")|(?P<string>" + LONG_STRING + rb"|" + SHORT_STRING + rb")|.|\Z)",
    re.DOTALL,
)


def quads_of(
    text: bytes, format: RdfFormat, *, base: str | None = None, limits: Limits = DEFAULT_LIMITS, any_terms: bool = False
) -> list[Quad]:
    """The quads of a text; line and column of a DataError count from 1. With `any_terms` RDF 1.2 is taken."""
    nested = b"<<" in text
    if nested and triple_terms_too_deep(text):
        raise DataError(TOO_DEEP)
    try:
        quads = list(parse(input=text, format=format, base_iri=base))
    except MemoryError:
        quads = _with_long_strings(text, format, base)
    except BaseException as error:
        raise fault_of(error) from None
    if not any_terms and (nested or any(sign in text for sign in _SIGNS)):
        check_supported(quads)
    if len(text) > LONGEST_NAME or len(text) * _MOST_ESCAPED > limits.literal_bytes:
        check_sizes(quads, limits)
    return quads


def check_supported(quads: Iterable[Quad]) -> None:
    """Refuses terms that the engine does not have."""
    for quad in quads:
        found = quad.object
        if isinstance(found, Triple):
            raise DataError(TRIPLE_TERMS)
        if isinstance(found, Literal) and found.direction is not None:
            raise DataError(DIRECTIONS)


def check_sizes(quads: Iterable[Quad], limits: Limits) -> None:
    """Refuses terms that are larger than may be, as N-Triples has them."""
    most = min(limits.literal_bytes, LONGEST_NAME)
    for quad in quads:
        for term in quad:
            size = len(getattr(term, "value", "")) * _MOST_ESCAPED
            limit = limits.literal_bytes if isinstance(term, Literal) else most
            if size > limit and len(str(term).encode()) > limit:
                either = f"a name of more than {most} bytes, or a literal of more than {limits.literal_bytes}"
                raise DataError(f"{either} (limit literal_bytes)")


def names_size(quad: Quad) -> int:
    """How long the names of a quad are that a text need not repeat although every quad has them."""
    return sum(len(getattr(term, "value", "")) for term in (quad.subject, quad.predicate, quad.graph_name))


def _with_long_strings(text: bytes, format: RdfFormat, base: str | None) -> list[Quad]:
    """As the parser would read it, had it the room: what is long is read apart."""
    mark = os.urandom(16).hex()
    strings: dict[str, str] = {}
    rest: list[bytes] = []
    place = 0
    for match in _PARTS.finditer(text):
        group = match.lastgroup
        if group is None or match.end(group) - match.start(group) < _LONG:
            continue
        rest.append(text[place : match.start(group)])
        place = match.end(group)
        if group == "string":
            name = f"{mark}{len(strings)}"
            strings[name] = _string_value(match[group], format)
            rest.append(f'"{name}"'.encode())
    rest.append(text[place:])
    try:
        quads = list(parse(input=b"".join(rest), format=format, base_iri=base))
    except BaseException as error:
        # Its place would be that in a text nobody has seen.
        raise DataError(fault_of(error).reason) from None
    return [_restored(quad, strings) for quad in quads]


def _restored(quad: Quad, strings: dict[str, str]) -> Quad:
    found = quad.object
    if not isinstance(found, Literal) or found.value not in strings:
        return quad
    value = strings[found.value]
    if found.language is not None:
        literal = Literal(value, language=found.language, direction=found.direction)
    else:
        literal = Literal(value, datatype=NamedNode(found.datatype.value))
    return Quad(quad.subject, quad.predicate, literal, quad.graph_name)


def _string_value(token: bytes, format: RdfFormat) -> str:
    """What a string means, quotes and all, read in pieces by the parser itself."""
    quote = token[:3] if token[:3] in (b'"""', b"'''") and len(token) >= 6 else token[:1]
    body = token[len(quote) : -len(quote)]
    values: list[str] = []
    start = 0
    while start < len(body):
        end = _cut(body, start)
        piece = b"<x:s> <x:p> " + quote + body[start:end] + quote + b" ."
        try:
            values += [quad.object.value for quad in parse(input=piece, format=format)]
        except BaseException as error:
            raise DataError(fault_of(error).reason) from None
        start = end
    return "".join(values)


def _cut(body: bytes, start: int) -> int:
    """Where a piece of a string may end: not within a character, an escape or a run of quotes."""
    size = _PIECE
    while start + size < len(body):
        end, before = start + size, -1
        while end != before:
            before = end
            while end > start and (body[end] & 0xC0 == 0x80 or body[end - 1] in b"\"'"):
                end -= 1
            # An escape has ten bytes at most; the backslash that begins it is the last of an odd number.
            slash = body.rfind(b"\\", max(start, end - 10), end)
            if slash >= 0 and (slash + 1 - start - len(body[start : slash + 1].rstrip(b"\\"))) % 2:
                end = slash
        if end > start:
            return end
        size *= 2
    return len(body)
