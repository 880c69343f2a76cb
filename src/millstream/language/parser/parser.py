"""The parser: query text to a syntax tree, or an error with its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any

from millstream.errors import QuerySyntaxError
from millstream.language.parser.lexer import END, Lexer, Token
from millstream.language.parser.syntax_errors import complain, place_at
from millstream.language.parser.tables import tables
from millstream.language.syntax import tree as syntax
from millstream.language.syntax.builder import SyntaxBuilder

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
    return _parse(text), text


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


def _parse(text: str) -> syntax.QueryUnit:
    """LALR(1): shifts words and reduces by rules, as the tables say, and builds the tree on the way."""
    lexer, depth = Lexer(text), 0
    states, values = [tables()["start"]], list[Any]()

    def reduce(rule: int, length: int) -> None:
        first = len(values) - length
        values[first:] = [_builders()[rule](values[first:])]

    for number in count():
        token = lexer.next(states[-1])
        depth += (token in _OPENING) - (token in _CLOSING)
        # Such a text would take minutes, and has no meaning that anyone wants.
        if depth > _MOST_OPEN:
            raise _refused(text, token, f"nested too deeply: more than {_MOST_OPEN} open brackets")
        if number >= _MOST_TOKENS:
            raise _refused(text, token, f"too long: more than {_MOST_TOKENS} words")
        if not _advance(states, token.type, reduce):
            # The tables offer more than can really follow; trying each terminal tells.
            allowed = {t for t in tables()["states"][states[-1]] if t.isupper() and _advance(states.copy(), t)}
            raise complain(text, len(text.rstrip()) if token.type == END else token.start_pos, allowed)
        if token.type == END:
            break
        values.append(token)
    unit: syntax.QueryUnit = values[-1]
    return unit


def _advance(states: list[int], terminal: str, reduce: Callable[[int, int], None] | None = None) -> bool:
    """Reduces by the rules that end before a terminal, then shifts it; whether it can stand there."""
    table, rules, end = tables()["states"], tables()["rules"], tables()["end"]
    while (action := table[states[-1]].get(terminal)) is not None:
        if action >= 0:
            states.append(action)
            return True
        symbol, length, *_ = rules[~action]
        if length:
            del states[-length:]
        if reduce:
            reduce(~action, length)
        states.append(table[states[-1]][symbol])
        if states[-1] == end:
            return True
    return False


def _refused(text: str, token: Token, why: str) -> QuerySyntaxError:
    return QuerySyntaxError(f"the query is {why}.", text=text, place=place_at(text, token.start_pos, token.start_pos + 1))


@cache
def _builders() -> list[Callable[[list[Any]], Any]]:
    """What makes a node of the children of a rule, by its number."""
    builder = SyntaxBuilder()

    def inline(children: list[Any]) -> Any:
        return children

    def only(children: list[Any]) -> Any:
        (child,) = children
        return child

    def of(name: str, kept: list[tuple[int, bool]] | None, stands_for_one: bool) -> Callable[[list[Any]], Any]:
        """Rules that begin with an underscore are inlined: their children become those of the rule that has them."""
        build = inline if name.startswith("_") else getattr(builder, name, only)

        def made(children: list[Any]) -> Any:
            if kept is not None:
                chosen: list[Any] = []
                for place, inlined in kept:
                    if not inlined:
                        chosen.append(children[place])
                    elif chosen:
                        chosen += children[place]
                    else:
                        # Repetitions are recursive at their beginning: copied, long ones would take quadratic time.
                        chosen = children[place]
                children = chosen
            return children[0] if stands_for_one and len(children) == 1 else build(children)

        return made

    return [of(name, kept, stands_for_one) for _symbol, _length, name, kept, stands_for_one in tables()["rules"]]
