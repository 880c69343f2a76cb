"""A short way to write elements, queries and what they emit, for tests that state one fact of the engine."""

from __future__ import annotations

from typing import Any

NAMESPACE = "http://example.org/"
S = f"{NAMESPACE}s"
T = f"{NAMESPACE}t"


def nt(*texts: str) -> str:
    """`a p b` as a line of N-Triples, names below the namespace.

    >>> nt("a p b")
    '<http://example.org/a> <http://example.org/p> <http://example.org/b> .'
    """
    return "\n".join(" ".join(f"<{NAMESPACE}{name}>" for name in text.split()) + " ." for text in texts)


def over(window: str, pattern: str = "?x :p ?y", stream: str = S, *, more: str = "") -> str:
    """A query over one window."""
    return f"PREFIX : <{NAMESPACE}> SELECT * WHERE {{ STREAM <{stream}> [{window}] {{ {pattern} }} {more} }}"


def short(term: Any) -> str:
    return str(term.value).removeprefix(NAMESPACE)


def row(query: Any, bindings: Any) -> str:
    return " ".join(short(bindings[v]) for v in query.variables if v in bindings)


def emitted(query: Any) -> list[str]:
    """What a query emitted since it was last asked, one text an answer: `5 +a b`."""
    return [f"{x.at_ms} {'+' if x.weight > 0 else '-'}{row(query, x.bindings)}" for x in query.take()]


def answer_set(query: Any) -> list[str]:
    return sorted(row(query, solution) for solution in query.solutions())
