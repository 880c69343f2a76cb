"""Lines and sentences beyond a limit, cut out of a text as it is read: nobody holds more of one than the limit.

What is too long is passed over up to its end, and what comes behind it is read as ever.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator
from typing import Literal, Protocol, TypeVar

from millstream.limits import Limits
from millstream.rdf.element import Rejections

CHUNK = 1 << 20
SHOWN = 1024
"""How many bytes of what is passed over are kept, to tell it by."""
_LINE_END = re.compile(rb"[\r\n]")
_LINE = re.compile(rb"[^\r\n]++")
_TAIL = 1 << 12

Piece = TypeVar("Piece", bytes, bytes | memoryview)


class ByteSource(Protocol):
    """Bytes in the pieces they come in."""

    def read(self, size: int, /) -> bytes: ...


def pieces_of(source: ByteSource, size: int = CHUNK) -> Iterator[bytes]:
    """The bytes of a source as they come."""
    return iter(lambda: source.read(size), b"")


class Cut(enum.Enum):
    """What stands in a sequence of pieces for the rest of a line that is too long."""

    LINE = "line"


def too_long(limits: Limits) -> str:
    """Why a line or sentence was set aside."""
    return f"a statement of more than {limits.statement_bytes} bytes (limit statement_bytes)"


def bounded_lines(pieces: Iterable[Piece], most: int) -> Iterator[Piece | Literal[Cut.LINE]]:
    """The pieces of a text; behind the beginning of a line that is too long comes `Cut.LINE`, then its end.

    Whoever holds an incomplete line forgets it at that mark; the line still counts, since its end comes.
    """
    before = 0  # how much of an incomplete line there was
    passing = False
    for piece in pieces:
        if passing:
            end = _LINE_END.search(piece)
            if end is None:
                continue
            piece, passing, before = piece[end.start() :], False, 0
        if before + len(piece) <= most:
            behind = _last_line(piece)
            before = len(piece) - behind if behind else before + len(piece)
            yield piece
            continue
        place = 0
        for line in _LINE.finditer(piece):
            start, end_of_line = line.span()
            length = end_of_line - start + (before if start == 0 else 0)
            passing = length > most and end_of_line == len(piece)
            if length > most:
                yield piece[place : min(end_of_line, start + SHOWN)]
                yield Cut.LINE
                place = end_of_line
        behind = _last_line(piece)
        before = len(piece) - behind if behind else before + len(piece)
        if place < len(piece):
            yield piece[place:]


def _last_line(piece: bytes | memoryview) -> int:
    """Where the last line of a piece begins, 0 if it is all one line."""
    for size in (_TAIL, len(piece)):
        tail = bytes(piece[-size:])
        if behind := max(tail.rfind(b"\n"), tail.rfind(b"\r")) + 1:
            return len(piece) - len(tail) + behind
    return 0


def read_whole(source: ByteSource, limits: Limits, rejections: Rejections) -> bytes | None:
    """A text that can only be read as a whole; one that is too large is set aside."""
    found: list[bytes] = []
    size = 0
    for piece in pieces_of(source):
        size += len(piece)
        if size > limits.document_bytes:
            reason = f"a document of more than {limits.document_bytes} bytes (limit document_bytes)"
            rejections.reject(reason, line=1, column=1, text=(found[0] if found else piece)[:SHOWN])
            return None
        found.append(piece)
    return b"".join(found)
