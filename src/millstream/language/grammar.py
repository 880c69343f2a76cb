"""The parser: lark's LALR tables for `sparql.lark`, made once, and its complaints turned into errors with a place.

Keywords and function names are not spelt out in the grammar file but added here, each ending at a word boundary.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from lark import Lark, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from millstream.errors import QuerySyntaxError
from millstream.language import syntax
from millstream.language.builder import SyntaxBuilder
from millstream.language.complaint import complain, place_at
from millstream.language.functions import AGGREGATES, FUNCTIONS
from millstream.language.keywords import KEYWORDS

# Productions [164] to [167]; the classes are spliced into the grammar's regular expressions.
_PN_CHARS_BASE = (
    "A-Za-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F"
    "\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\U00010000-\\U000EFFFF"
)
_PN_CHARS_U = _PN_CHARS_BASE + "_"
_PN_CHARS = _PN_CHARS_U + "\\-0-9\\u00B7\\u0300-\\u036F\\u203F-\\u2040"

_SURROGATE = re.compile("[\ud800-\udfff]")
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
        unit = _parser().parse(text)
    except UnexpectedInput as error:
        raise complain(text, *_where(text, error)) from None
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


@cache
def _parser() -> Lark:
    source = files("millstream.language").joinpath("sparql.lark").read_text("utf-8")
    for name, characters in (
        ("PN_CHARS_BASE", _PN_CHARS_BASE),
        ("PN_CHARS_U", _PN_CHARS_U),
        ("PN_CHARS", _PN_CHARS),
    ):
        source = source.replace(name, characters)
    keywords = [f"{k}: /{k.lstrip('_')}(?![A-Za-z0-9_])/i" for k in KEYWORDS]
    names = [
        f"{terminal}: /(?:{'|'.join(sorted(words, key=len, reverse=True))})(?![A-Za-z0-9_:])/i"
        for terminal, words in (("FUNCTION", FUNCTIONS), ("AGGREGATE", AGGREGATES))
    ]
    return Lark(
        "\n".join([source, *keywords, *names]),
        start="query_unit",
        parser="lalr",
        lexer="contextual",
        transformer=SyntaxBuilder(),
        maybe_placeholders=False,
    )


def _where(text: str, error: UnexpectedInput) -> tuple[int, set[str]]:
    """Offset of what could not be read, and the terminals that could have stood there."""
    # The parser's tables offer more than can really follow; trying each terminal tells.
    interactive = error.interactive_parser
    allowed: set[str] = set(interactive.accepts()) if interactive is not None else set()  # type: ignore[no-untyped-call]
    if isinstance(error, UnexpectedEOF) or (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        return len(text.rstrip()), allowed
    return error.pos_in_stream or 0, allowed
