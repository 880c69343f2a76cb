"""How deep a query may be: everything behind the parser walks its algebra by recursion, within Python's own limit.

Parentheses that only group add nothing. A chain counts as long as it is: `?a || ?b || ?c` is an Or in an Or.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

from millstream.errors import QuerySyntaxError
from millstream.language import algebra as a
from millstream.language.parser.syntax_errors import place_at

MAX_DEPTH = 200
"""Levels of algebra, patterns and expressions together."""


def check_depth(query: a.Query) -> None:
    """Refuses a query that is nested too deeply."""
    if depth_of(query.pattern) > MAX_DEPTH:
        raise too_deep(query.text)


def depth_of(node: object) -> int:
    """The levels of a tree of dataclasses, counted without recursion."""
    deepest = 0
    waiting: list[tuple[Any, int]] = [(node, 1)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend((part, depth) for part in node)
        elif is_dataclass(node):
            deepest = max(deepest, depth)
            waiting.extend((getattr(node, name), depth + _levels(node)) for name in node.__dataclass_fields__)
    return deepest


def _levels(node: object) -> int:
    """How many levels a node becomes: keys of groups and orders are computed one after the other, before anything else."""
    match node:
        case a.Group(_, keys):
            return 1 + len(keys)
        case a.OrderBy(_, conditions):
            return 1 + len(conditions)
        case _:
            return 1


def too_deep(text: str) -> QuerySyntaxError:
    """The error, at the bracket where most others are open."""
    depth, deepest, offset = 0, 0, 0
    for i, character in enumerate(text):
        if character in "{([":
            depth += 1
            if depth > deepest:
                deepest, offset = depth, i
        elif character in "})]":
            depth -= 1
    return QuerySyntaxError(
        f"the query is nested too deeply: more than {MAX_DEPTH} levels of patterns and expressions. "
        "Long chains of || or UNION are shorter as IN or VALUES.",
        text=text,
        place=place_at(text, offset, offset + 1 if text else 0),
    )
