"""The end of a Turtle or TriG sentence that is too long to be held, found piece by piece.

The tokens are those of `sentences`; of a string, IRI, comment or name that is cut off by the end of a piece only its kind
is kept. So the text within a string never passes for statements, however long it is.
"""

from __future__ import annotations

import re

from millstream.rdf.readers.sentences import (
    BLANK_REST,
    NAME_CHAR,
    PLAIN,
    TOKEN,
    UNDECIDED,
    Kind,
    directive_begins,
    skip_space,
)

_RUN = re.compile(rb"(?:(?P<last>" + PLAIN + rb"))++", re.DOTALL)
# What a cut-off token goes on with, by what it began with.
_BODIES = {
    b'"""': re.compile(rb'(?:[^"\\]++|\\.|""?+(?!"|\Z))*+', re.DOTALL),
    b"'''": re.compile(rb"(?:[^'\\]++|\\.|''?+(?!'|\Z))*+", re.DOTALL),
    b'"': re.compile(rb'(?:[^"\\\r\n]++|\\[^\r\n])*+'),
    b"'": re.compile(rb"(?:[^'\\\r\n]++|\\[^\r\n])*+"),
    b"<": re.compile(rb"[^<>\r\n]*+"),
    b"#": re.compile(rb"[^\r\n]*+"),
    b"name": re.compile(rb"(?:" + NAME_CHAR + rb"|\.++(?=" + NAME_CHAR + rb"))*+", re.DOTALL),
}
# A dot may turn out to be within a name or a number.
_MAY_GO_ON = re.compile(rb"\.*+\\?\Z")
_CLOSED_BY = {b'"""': b'"""', b"'''": b"'''", b'"': b'"', b"'": b"'", b"<": b">"}
# Shorter tokens are kept whole until the next piece tells how they go on.
_KEPT = 1024


class SentenceEnd:
    """Follows one sentence; `depth` counts the brackets that are open, `_inside` is how the token it is in began."""

    def __init__(self, *, graphs: bool, in_graph: bool) -> None:
        self._graphs = graphs
        self._in_graph = in_graph
        self._depth = 0
        self._inside: bytes | None = None
        self._begun = False
        self._directive = False

    def find(self, text: bytes, *, ended: bool) -> tuple[Kind | None, int]:
        """How much of a text belongs to the sentence, and its kind if it ends there; what is left comes again, with more."""
        place = 0
        if not self._begun:
            place = skip_space(text, 0)
            self._begun = True
            if directive_begins(text, place):
                # One that is this long is malformed, and ends at its line.
                self._directive, self._inside = True, b"#"
        while place < len(text):
            if self._inside is not None:
                moved = self._pass_token(text, place, ended=ended)
                if moved is None:
                    return None, _body_end(self._inside, text, place)
                place = moved
                if self._directive:
                    return Kind.DIRECTIVE, place
                continue
            found = self._pass_plain(text, place, ended=ended)
            if isinstance(found, tuple):
                return found
            place = found
        return (Kind.UNFINISHED if ended else None), len(text)

    def _pass_token(self, text: bytes, place: int, *, ended: bool) -> int | None:
        """Behind the token it is in, or None if that goes on in the next piece."""
        inside = self._inside
        assert inside is not None
        end = _body_end(inside, text, place)
        closed_by = _CLOSED_BY.get(inside)
        if closed_by is not None and text.startswith(closed_by, end):
            self._inside = None
            return end + len(closed_by)
        left = len(text) - end
        undecided = left == 0 or (left < 3 and inside in (b'"""', b"'''")) or (left == 1 and text[end:] == b"\\")
        if undecided and not ended:
            return None
        if inside == b"name" and not ended and left < _KEPT and UNDECIDED.match(text, end):
            return None
        # A quote or IRI left open ends at its line.
        self._inside = None
        return max(end, place + 1) if closed_by is not None and left else end

    def _pass_plain(self, text: bytes, place: int, *, ended: bool) -> int | tuple[Kind | None, int]:
        if run := _RUN.match(text, place):
            if ended or not _MAY_GO_ON.match(text, run.end()):
                return run.end()
            start, token = run.start("last"), text[run.start("last") : run.start("last") + 1]
            if token == b"#":
                self._inside = b"#"
            elif len(text) - start <= _KEPT:
                return None, start
            elif token not in b"\"'<" and not token.isspace():
                self._inside = b"name"
            return None, run.end()
        match = TOKEN.match(text, place)
        assert match is not None  # any byte is at least odd
        start, end = match.span()
        if end == len(text) and not ended:
            if match.lastgroup == "cut" and end - start >= 3:
                opener = text[start : start + 3]
                self._inside = opener if opener in _BODIES else opener[:1]
                return start + len(self._inside)
            return None, start
        match match.lastgroup:
            case "cut":
                return start + (3 if text[start : start + 3] in (b'"""', b"'''") else 1)
            case "open":
                self._depth += 1
            case "close":
                self._depth = max(0, self._depth - 1)
            case "begin":
                if self._graphs and self._depth == 0:
                    return Kind.OPEN, end
                self._depth += 1
            case "finish":
                if self._graphs and (self._depth == 0 or self._in_graph):
                    return Kind.TRIPLES, start
                self._depth = max(0, self._depth - 1)
            case "dot":
                if not ended and len(text) - end < _KEPT and UNDECIDED.match(text, end):
                    return None, start
                if self._depth == 0 or BLANK_REST.match(text, end):
                    if self._depth and not ended and BLANK_REST.fullmatch(text, end):
                        return None, start
                    return Kind.TRIPLES, end
        return end


def _body_end(inside: bytes, text: bytes, place: int) -> int:
    found = _BODIES[inside].match(text, place)
    return found.end() if found else place
