"""Says what is wrong with a text that does not parse: what stands there, what was expected, what was likely meant."""

from __future__ import annotations

import difflib
import re

from millstream.errors import Place, QuerySyntaxError
from millstream.language.functions import AGGREGATES, FUNCTIONS
from millstream.language.parser.keywords import KEYWORDS
from millstream.language.parser.tables import tables

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_IRI = re.compile(r'<[^<>"{}|^`\\\x00-\x20]*>')
_NODE = re.compile(r"[?$]\w+|_:\w+|(?!\d)[\w-]*:[\w.-]*\w|(?!\d)[\w-]*:")
_STRING = re.compile(r"""(['"])(?:(?!\1)[^\\\n\r]|\\[tbnrf"'\\])*""")
_SHOWN, _LONG = 12, 60

# What people call the terminals that are neither keywords nor signs.
_NAMES = {
    "$END": "the end of the query",
    "A": "a",
    "AGGREGATE": "an aggregate",
    "ANON": "[]",
    "BLANK_NODE_LABEL": "a blank node",
    "DURATION": "a duration such as 30s or PT30S",
    "FUNCTION": "a function",
    "IRIREF": "an IRI",
    "ISO_DURATION": "a duration such as 30s or PT30S",
    "LANGTAG": "a language tag",
    "NAME": "a name",
    "NIL": "()",
    "PNAME_LN": "an IRI",
    "PNAME_NS": "an IRI",
    "VAR": "a variable",
    **dict.fromkeys(("INTEGER", "DECIMAL", "DOUBLE"), "a number"),
    **{f"STRING_LITERAL{kind}": "a string" for kind in ("1", "2", "_LONG1", "_LONG2")},
    **{terminal: sign for sign, terminal in tables()["signs"].items()},
}
_UPDATES = {"INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH"}
_MODIFIERS = {"GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET"}
_WORDS = {k.lstrip("_") for k in KEYWORDS} | set(FUNCTIONS)
_QUIET = re.compile(r"(INTEGER|DECIMAL|DOUBLE)_(POSITIVE|NEGATIVE)|WS|COMMENT|__ANON_\d+|BANG")


def place_at(text: str, start: int, end: int) -> Place:
    """The place between two offsets."""
    return Place(start, end, text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))


def complain(text: str, offset: int, allowed: set[str]) -> QuerySyntaxError:
    """The error for a text whose character at `offset` cannot follow what stands before it."""
    if offset >= len(text.rstrip()):
        found, end = "the end of the query", len(text)
    else:
        found, end = _found(text, offset)
    expected = _readable(allowed)
    suggestion = _suggest(text, offset, text[offset:end], allowed)
    message = f"found {found}"
    if suggestion:
        message += f"; {suggestion}"
    elif expected and not found.startswith("a string"):
        message += f"; expected {_listed(expected)}"
    return QuerySyntaxError(
        message if message.endswith("?") else message + ".",
        text=text,
        place=place_at(text, offset, end),
        expected=tuple(expected),
        suggestion=suggestion,
    )


def _found(text: str, offset: int) -> tuple[str, int]:
    """What stands at the offset, as people would call it, and where it ends."""
    for kind in (_NODE, _IRI, _WORD):
        thing = kind.match(text, offset)
        if thing:
            shown = thing[0] if len(thing[0]) <= _LONG else thing[0][:_LONG] + "..."
            return f"`{shown}`", thing.end()
    character = text[offset]
    if character in "\"'":
        return _found_string(text, offset)
    if character == "`":
        return "a backtick", offset + 1
    return (f"`{character}`" if character.isprintable() else f"the character {character!a}"), offset + 1


def _found_string(text: str, offset: int) -> tuple[str, int]:
    """A string that stands at the wrong place, or one that is none: not ended, or with an unknown escape."""
    quote = text[offset]
    # Three quotes that nothing ends are read as an empty string and a quote.
    opening = offset - 2 if text.endswith(quote * 2, 0, offset) else offset
    if text.startswith(quote * 3, opening):
        return f"a string that does not end: `{text[opening : opening + 20].splitlines()[0]}`", opening + 3
    body = _STRING.match(text, offset)
    assert body is not None
    end = body.end()
    shown = f"`{text[offset : min(end, offset + 20)]}`"
    if text.startswith(quote, end):
        return f"the string {text[offset : end + 1]}", end + 1
    if text.startswith("\\", end):
        return f"a string with `{text[end : end + 2]}`, which is no escape; a backslash is written `\\\\`", end
    if "\n" in text[end:]:
        return f"a string that does not end on its line: {shown}; several lines take {quote * 3}", end
    return f"a string that does not end: {shown}", end


def _readable(allowed: set[str]) -> list[str]:
    """Descriptions first, then keywords, then punctuation, which is set apart by quotes."""
    names = {_NAMES.get(t, t.lstrip("_")) for t in allowed if not _QUIET.fullmatch(t)}
    ordered = sorted(names, key=lambda n: (not n[0].isalpha(), n.isupper(), n))
    return [n if n[0].isalpha() else f"`{n}`" for n in ordered]


def _listed(expected: list[str]) -> str:
    if len(expected) > _SHOWN:
        return ", ".join(expected[:_SHOWN]) + " and other things"
    return " or ".join(filter(None, [", ".join(expected[:-1]), expected[-1]]))


def _suggest(text: str, offset: int, found: str, allowed: set[str]) -> str | None:
    missing = _missing(text, offset, found, allowed)
    if missing or not _WORD.fullmatch(found):
        return missing
    word = found.upper()
    if word in _UPDATES and not text[:offset].rpartition("}")[0]:
        return "an update is not a query; change datasets with engine.insert, engine.delete or engine.read_changes"
    if word in ("GROUPBY", "ORDERBY"):
        return f"did you mean {word[:5]} BY?"
    if word in AGGREGATES:
        return "an aggregate stands only in SELECT, HAVING and ORDER BY"
    keywords = {t.lstrip("_") for t in allowed if t.lstrip("_").isupper() and t not in _NAMES}
    if "FUNCTION" in allowed:
        keywords |= set(FUNCTIONS)
    if "AGGREGATE" in allowed:
        keywords |= AGGREGATES
    if word not in _WORDS:
        close = difflib.get_close_matches(word, sorted(keywords), n=1, cutoff=0.7)
        if close:
            return f"did you mean {close[0]}?"
        if "VAR" in allowed:
            return f"did you mean ?{found}? A variable begins with ? or $"
    return None


def _missing(text: str, offset: int, found: str, allowed: set[str]) -> str | None:
    """What was likely left out in front of the offset, or is one too many."""
    for terminal, bracket in (("RPAR", ")"), ("RSQB", "]"), ("RBRACE", "}")):
        closing = found.strip() in ("", "}") and bracket != found.strip()
        if terminal in allowed and (closing or allowed == {terminal}):
            return f"a `{bracket}` is missing"
    if found.upper() in _MODIFIERS and "RBRACE" in allowed:
        return f"a `}}` is missing, which ends the pattern before {found.upper()}"
    if found == "}" and "$END" in allowed:
        return "there is a `}` too many"
    if found == "{" and allowed == {"LSQB"}:
        return "a window is missing, such as [RANGE 30s] or [NOW]"
    if found == ")" and allowed == {"AS"}:
        return "an expression is selected under a name: (... AS ?name)"
    if "TUMBLING" in allowed and text[:offset][-1:].isdigit():
        return "a duration is a number with one of the units ms, s, m, h and d, or whole milliseconds"
    if found.startswith("<") and "LT" in allowed:
        return "it reads as an IRI; put a space behind the `<`"
    if {"DOT", "SEMICOLON"} <= allowed and (_NODE.fullmatch(found) or found[:1] in ("<", "[")):
        return "is a `.` missing before it?"
    return None
