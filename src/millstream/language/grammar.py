"""The parser: query text to a syntax tree, what it complains of turned into errors with a place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Token, UnexpectedEOF, UnexpectedInput, UnexpectedToken
from lark.lark import PostLex

from millstream.errors import QuerySyntaxError
from millstream.language import syntax
from millstream.language.builder import SyntaxBuilder
from millstream.language.complaint import complain, place_at
from millstream.language.tables import parser

_SURROGATE = re.compile("[\ud800-\udfff]")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_MOST_OPEN = 10_000
_MOST_TOKENS = 500_000
_CODEPOINT = re.compile(r"\\\\|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


def parse(text: str) -> tuple[syntax.QueryUnit, str]:
    """The syntax tree of a query, with the text that its places point into.

    That text has no byte order mark, and its code point escapes are replaced.
    """
    text = replace_codepoint_escapes(text.removeprefix("\ufeff"))
    surrogate = _SURROGATE.search(text)
    if surrogate:
        place = place_at(text, surrogate.start(), surrogate.end())
        message = f"\\u{ord(surrogate[0]):04X} is half a character; the text was not decoded properly."
        raise QuerySyntaxError(message, text=text[: surrogate.start()], place=place)
    try:
        unit = parser(_BUILDER, _BOUNDED, is_ascii=text.isascii()).parse(text)
    except UnexpectedInput as error:
        raise complain(text, *_where(text, error)) from None
    except _TooLongError as error:
        message, offset = error.args
        raise QuerySyntaxError(message, text=text, place=place_at(text, offset, offset + 1)) from None
    assert isinstance(unit, syntax.QueryUnit)
    return unit, text


def replace_codepoint_escapes(text: str) -> str:
    r"""Section 19.2: `\u00E9` means é anywhere in a query, before it is parsed."""
    if "\\u" not in text and "\\U" not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        digits = match[1] or match[2]
        if digits is None:
            return match[0]
        code = int(digits, 16)
        if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
            place = place_at(text, match.start(), match.end())
            raise QuerySyntaxError(f"{match[0]} is not a character.", text=text, place=place)
        return chr(code)

    return _CODEPOINT.sub(replace, text)


class _Bounded(PostLex):
    """Ends a text that would take the parser minutes, and has no meaning that anyone wants."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth = 0
        for number, token in enumerate(stream):
            if token in _OPENING:
                depth += 1
            elif token in _CLOSING:
                depth -= 1
            if depth > _MOST_OPEN:
                raise _TooLongError(
                    f"the query is nested too deeply: more than {_MOST_OPEN} open brackets.", token.start_pos
                )
            if number >= _MOST_TOKENS:
                raise _TooLongError(f"the query is too long: more than {_MOST_TOKENS} words.", token.start_pos)
            yield token


class _TooLongError(Exception):
    """What to say, and where."""


_BUILDER, _BOUNDED = SyntaxBuilder(), _Bounded()


def _where(text: str, error: UnexpectedInput) -> tuple[int, set[str]]:
    """Offset of what could not be read, and the terminals that could have stood there."""
    # The parser's tables offer more than can really follow; trying each terminal tells.
    interactive = error.interactive_parser
    allowed: set[str] = set(interactive.accepts()) if interactive is not None else set()  # type: ignore[no-untyped-call]
    if isinstance(error, UnexpectedEOF) or (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        return len(text.rstrip()), allowed
    return error.pos_in_stream or 0, allowed
