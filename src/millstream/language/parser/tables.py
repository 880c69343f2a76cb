"""LALR tables of the grammar: made by lark when the package is built, read from a file by every process.

The file also has the grammar that they follow from; where it is missing or has another, lark makes them anew.
Keywords, window words, function names and classes of characters are not spelt out in the grammar file but spliced in here.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from millstream.language.functions import AGGREGATES, FUNCTIONS
from millstream.language.parser.keywords import KEYWORDS, WINDOW_WORDS

_FOLDER = Path(__file__).parent
KEPT = _FOLDER / "lalr.tables"
"""Written by the build."""

# Productions [164] to [167]: what they have beyond ASCII.
BASE_BEYOND = (
    "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
MORE_BEYOND = "\u00b7\u0300-\u036f\u203f-\u2040"
# Terminals that stand for one of several words each.
_NAMED = {"FUNCTION": FUNCTIONS, "AGGREGATE": AGGREGATES}


class Tables(TypedDict):
    """All that parsing takes."""

    grammar: str
    start: int
    end: int
    states: list[dict[str, int]]
    """By state and symbol: a state to go to, or the complement of a rule to reduce by."""
    rules: list[tuple[str, int, str, list[tuple[int, bool]] | None, bool]]
    """Symbol and length, the name of what builds it, of which children (inlined or not; all if None), and if it stands for
    one child."""
    words: dict[str, list[str]]
    """Terminals by what they match, in upper case: followed by no letter."""
    signs: dict[str, str]
    """Terminals by what they match, as it is."""
    patterns: dict[str, str]
    """Terminals with a regular expression, in the order in which they are tried."""
    ignored: list[str]


@cache
def tables() -> Tables:
    """Those of the grammar."""
    return _kept() or _make()


def keep() -> None:
    """Writes the file, unless it has the tables of this grammar."""
    if _kept() is None:
        KEPT.write_text(json.dumps(_make(), separators=(",", ":")), "utf-8")


def _kept() -> Tables | None:
    kept: Tables | None = json.loads(KEPT.read_text("utf-8")) if KEPT.is_file() else None
    return kept if kept is not None and kept["grammar"] == _grammar() else None


def _make() -> Tables:
    # Wheels have the tables, so that only who builds needs it.
    from lark import Lark
    from lark.lexer import PatternStr
    from lark.parsers.lalr_analysis import Shift

    grammar = _grammar()
    made: Any = Lark(grammar, start="query_unit", parser="lalr", lexer="contextual", maybe_placeholders=False)
    table = made.parser.parser._parse_table
    numbers = {rule: number for number, rule in enumerate(made.rules)}
    # The order of lark's own lexer. Words and signs are shorter than what the patterns of others match.
    terminals = sorted(made.terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name))
    words: dict[str, list[str]] = {}
    for terminal in (*KEYWORDS, *_NAMED):
        for word in _NAMED.get(terminal, (terminal.lstrip("_"),)):
            words.setdefault(word, []).append(terminal)
    return Tables(
        grammar=grammar,
        start=table.start_states["query_unit"],
        end=table.end_states["query_unit"],
        states=[
            {symbol: to if action is Shift else ~numbers[to] for symbol, (action, to) in table.states[state].items()}
            for state in range(len(table.states))
        ],
        rules=[_rule(rule) for rule in made.rules],
        words=words,
        signs={t.pattern.value: t.name for t in terminals if isinstance(t.pattern, PatternStr)},
        patterns={
            t.name: t.pattern.to_regexp()
            for t in terminals
            if not isinstance(t.pattern, PatternStr) and t.name not in (*KEYWORDS, *_NAMED)
        },
        ignored=list(made.ignore_tokens),
    )


def _rule(rule: Any) -> tuple[str, int, str, list[tuple[int, bool]] | None, bool]:
    kept = [
        (place, not symbol.is_term and symbol.name.startswith("_"))
        for place, symbol in enumerate(rule.expansion)
        if not (symbol.is_term and symbol.filter_out)
    ]
    is_whole = len(kept) == len(rule.expansion) and not any(inlined for _, inlined in kept)
    stands_for_one = bool(rule.options.expand1 and not rule.alias)
    name = rule.alias or rule.origin.name
    return rule.origin.name, len(rule.expansion), name, None if is_whole else kept, stands_for_one


def _grammar() -> str:
    source = (_FOLDER / "sparql.lark").read_text("utf-8")
    base = f"A-Za-z{BASE_BEYOND}"
    for name, characters in (
        ("PN_CHARS_BASE", base),
        ("PN_CHARS_U", f"{base}_"),
        ("PN_CHARS", f"{base}_\\-0-9{MORE_BEYOND}"),
        ("VARNAME_CHARS", f"{base}_0-9{MORE_BEYOND}"),
    ):
        source = source.replace(name, characters)
    for takes, windows in WINDOW_WORDS.items():
        source = source.replace(f"WINDOWS_OF_{takes.name}", " | ".join(windows))
    keywords = [f"{k}: /{k.lstrip('_')}(?![A-Za-z0-9_])/i" for k in KEYWORDS]
    names = [f"{terminal}: /(?:{'|'.join(sorted(words))})(?![A-Za-z0-9_:])/i" for terminal, words in _NAMED.items()]
    return "\n".join([source, *keywords, *names])
