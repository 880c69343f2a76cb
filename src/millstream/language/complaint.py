"""Says what is wrong with a text that does not parse: what stands there, what was expected, what was likely meant."""

from __future__ import annotations

import difflib
import re

from millstream.errors import Place, QuerySyntaxError
from millstream.language.functions import AGGREGATES, FUNCTIONS

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN = 12

# What people call the terminals that are not keywords.
_NAMES = {
    "$END": "the end of the query",
    "A": "a",
    "AGGREGATE": "an aggregate",
    "ANON": "[]",
    "BLANK_NODE_LABEL": "a blank node",
    "CIRCUMFLEX": "^",
    "COMMA": ",",
    "DBLCIRCUMFLEX": "^^",
    "DECIMAL": "a number",
    "DOT": ".",
    "DOUBLE": "a number",
    "DURATION": "a duration such as 30s or PT30S",
    "EQ": "=",
    "FUNCTION": "a function",
    "GE": ">=",
    "GT": ">",
    "INTEGER": "a number",
    "IRIREF": "an IRI",
    "ISO_DURATION": "a duration such as 30s or PT30S",
    "LANGTAG": "a language tag",
    "LBRACE": "{",
    "LE": "<=",
    "LPAR": "(",
    "LSQB": "[",
    "LT": "<",
    "MINUS_SIGN": "-",
    "NAME": "a name",
    "NE": "!=",
    "NIL": "()",
    "QUESTION": "?",
    "PLUS": "+",
    "PNAME_LN": "an IRI",
    "PNAME_NS": "an IRI",
    "RBRACE": "}",
    "RPAR": ")",
    "RSQB": "]",
    "SEMICOLON": ";",
    "SLASH": "/",
    "STAR": "*",
    "STRING_LITERAL1": "a string",
    "STRING_LITERAL2": "a string",
    "STRING_LITERAL_LONG1": "a string",
    "STRING_LITERAL_LONG2": "a string",
    "VAR": "a variable",
    "VBAR": "|",
}
_UPDATES = {"INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH"}
_QUIET = re.compile(r"(INTEGER|DECIMAL|DOUBLE)_(POSITIVE|NEGATIVE)|WS|COMMENT|__ANON_\d+|BANG")


def complain(text: str, offset: int, allowed: set[str]) -> QuerySyntaxError:
    """The error for a text whose character at `offset` cannot follow what stands before it."""
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    word = _WORD.match(text, offset)
    found = _found(text, offset, word)
    end = word.end() if word else min(offset + 1, len(text))
    expected = _readable(allowed)
    suggestion = _suggest(text, offset, word[0] if word else "", allowed)
    message = f"found {found}"
    if suggestion:
        message += f"; {suggestion}"
    elif expected and not found.startswith("a string"):
        message += f"; expected {_listed(expected)}"
    return QuerySyntaxError(
        message if message.endswith("?") else message + ".",
        text=text,
        place=Place(offset, end, line, column),
        expected=tuple(expected),
        suggestion=suggestion,
    )


def _found(text: str, offset: int, word: re.Match[str] | None) -> str:
    if offset >= len(text.rstrip()):
        return "the end of the query"
    if word:
        return f"`{word[0]}`"
    if text[offset] in "\"'" and "\n" not in text[offset:] and text.count(text[offset], offset) == 1:
        return f"a string that does not end: `{text[offset : offset + 20]}`"
    return f"`{text[offset]}`"


def _readable(allowed: set[str]) -> list[str]:
    """Descriptions first, then keywords, then punctuation, which is set apart by quotes."""
    names = {_NAMES.get(t, t.lstrip("_")) for t in allowed if not _QUIET.fullmatch(t)}
    ordered = sorted(names, key=lambda n: (not n[0].isalpha(), n.isupper(), n))
    return [n if n[0].isalpha() else f"`{n}`" for n in ordered]


def _listed(expected: list[str]) -> str:
    if len(expected) > _SHOWN:
        return ", ".join(expected[:_SHOWN]) + " and other things"
    return " or ".join(filter(None, [", ".join(expected[:-1]), expected[-1]]))


def _suggest(text: str, offset: int, word: str, allowed: set[str]) -> str | None:
    if offset >= len(text.rstrip()) and "RBRACE" in allowed:
        return "a `}` is missing"
    if allowed == {"LSQB"} and text.startswith("{", offset):
        return "a window is missing, such as [RANGE 30s] or [NOW]"
    if not word:
        return None
    if text[offset + len(word) :].startswith(":"):
        return None
    if word.upper() in _UPDATES and not text[:offset].rpartition("}")[0]:
        return "an update is not a query; change datasets with engine.insert, engine.delete or engine.read_changes"
    if word.upper() in ("GROUPBY", "ORDERBY"):
        return f"did you mean {word[:5].upper()} BY?"
    keywords = {t.lstrip("_") for t in allowed if t.lstrip("_").isupper() and t not in _NAMES}
    if "FUNCTION" in allowed:
        keywords |= set(FUNCTIONS)
    if "AGGREGATE" in allowed:
        keywords |= AGGREGATES
    close = difflib.get_close_matches(word.upper(), sorted(keywords - {word.upper()}), n=1, cutoff=0.7)
    if close:
        return f"did you mean {close[0]}?"
    if "VAR" in allowed:
        return f"did you mean ?{word}? A variable begins with ? or $"
    return None
