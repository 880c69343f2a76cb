"""The lexer: a query text word by word, as the parser asks for them.

It is contextual: a word is looked for only where it can stand, so what is a keyword here may be a name there.
"""

from __future__ import annotations

import re
from functools import cache

from millstream.language.parser.tables import BASE_BEYOND, MORE_BEYOND, tables

END = "$END"
UNKNOWN = ""
_WORD = re.compile("[A-Za-z0-9_]+")


class Token(str):
    """A word of the text: its terminal, and where it stands."""

    __slots__ = ("column", "end_pos", "line", "start_pos", "type")

    def __new__(cls, text: str, type: str, start_pos: int, line: int, column: int) -> Token:
        token = super().__new__(cls, text)
        token.type = type
        token.start_pos = start_pos
        token.end_pos = start_pos + len(text)
        token.line = line
        token.column = column
        return token

    type: str
    start_pos: int
    end_pos: int
    line: int
    column: int


class Lexer:
    """One text, read once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_ascii = text.isascii()
        self._start, self._end = 0, 0
        self._line, self._line_start = 1, 0

    def next(self, state: int) -> Token:
        """What stands next, if it can stand there in this state of the parser; else its type is UNKNOWN."""
        text, before = self._text, self._start
        start = _ignored().match(text, self._end).end()  # type: ignore[union-attr]  # It matches nothing as well.
        newline = text.rfind("\n", before, start)
        if newline >= 0:
            self._line += text.count("\n", before, start)
            self._line_start = newline + 1
        type, word = self._find(state, start)
        self._start, self._end = start, start + len(word)
        return Token(word, type, start, self._line, start - self._line_start + 1)

    def _find(self, state: int, start: int) -> tuple[str, str]:
        """A terminal and what it matches. Names come before keywords, as longer things do before shorter ones."""
        text = self._text
        for terminal, pattern in _patterns(state, self._is_ascii):
            found = pattern.match(text, start)
            if found:
                return terminal, found[0]
        accepted = tables()["states"][state]
        found = _WORD.match(text, start)
        if found:
            for terminal in tables()["words"].get(found[0].upper(), ()):
                if terminal in accepted:
                    return terminal, found[0]
        for sign in (text[start : start + 2], text[start : start + 1]):
            if tables()["signs"].get(sign) in accepted:
                return tables()["signs"][sign], sign
        return (UNKNOWN if start < len(text) else END), ""


@cache
def _patterns(state: int, is_ascii: bool) -> list[tuple[str, re.Pattern[str]]]:
    accepted = tables()["states"][state]
    return [(terminal, _compiled(terminal, is_ascii)) for terminal in tables()["patterns"] if terminal in accepted]


@cache
def _compiled(terminal: str, is_ascii: bool) -> re.Pattern[str]:
    """Python takes long to compile classes of characters beyond Latin-1, which most queries do without."""
    pattern = tables()["patterns"][terminal]
    return re.compile(pattern.replace(BASE_BEYOND, "").replace(MORE_BEYOND, "") if is_ascii else pattern)


@cache
def _ignored() -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(tables()['patterns'][terminal] for terminal in tables()['ignored'])})*+")
