"""The short notation of these tests: triples, queries and what a query emits, each on one line.

Names are those of `http://example.org/`, which queries and triples call `:`.

Triples are Turtle: `:a :p :b . :c :p 5`. Streams and graphs are called by their local name: `push("s", ...)` pushes to
the stream that a query calls `:s`.

Emissions are changes separated by `|`, each a time and rows with a sign for their weight:

    3 +a +b | 7 -a                at 3, a and b appear; at 7, a disappears
    3 +a,5 +a,5 | 3 -a,5          two variables, equal rows; a second change in the same millisecond
    3 +a,_ | 4 +true              an unbound variable; the answer of an ASK
    3 +a,p,b                      a triple of a CONSTRUCT
    -5 +"9 10"                    a string, at a time before 0

IRIs are their local names, numbers stand for their value whatever their datatype, a blank node is `[]`. Order within a
change means nothing, order of changes does. An empty answer set emits nothing, so RSTREAM shows no change for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import pyoxigraph as ox

NAMESPACE = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
PROLOGUE = f"PREFIX : <{NAMESPACE}> PREFIX xsd: <{XSD}> "

_NUMBERS = {XSD + kind for kind in ("integer", "decimal", "double", "float")}
_ROW = re.compile(r'[+-](?:"[^"]*"|[^\s|"])+')
_CHANGE = re.compile(rf"\s*(-?\d+)((?:\s+{_ROW.pattern})+)\s*")

Emission: TypeAlias = tuple[int, int, tuple[Any, ...]]
"""One row that a query emitted: time, weight (1 or -1), terms."""


def iri(name: str | None) -> str | None:
    """The IRI of a local name; None, for the default graph, stays None."""
    return None if name is None else NAMESPACE + name


def triples(text: str) -> str:
    """Turtle in the short notation as N-Triples, in the order written."""
    turtle = f"@prefix : <{NAMESPACE}> . @prefix xsd: <{XSD}> . {text} {'.' if text else ''}"
    return "".join(f"{quad.triple} .\n" for quad in ox.parse(turtle.encode(), format=ox.RdfFormat.TURTLE))


def over(window: str, pattern: str = "?x :p ?y", select: str = "?x") -> str:
    """The query most tests ask: a pattern over one window of the stream `:s`."""
    return f"SELECT {select} {{ STREAM :s [{window}] {{ {pattern} }} }}"


def over_any(*windows: str, select: str = "?x") -> str:
    """The same pattern over any of several windows: `over_any(":s [RANGE 10]", ":t [ALL]")`."""
    return f"SELECT {select} {{ {' UNION '.join(f'{{ STREAM {window} {{ ?x :p ?y }} }}' for window in windows)} }}"


# What is emitted -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Change:
    at_ms: str
    rows: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.at_ms, *sorted(self.rows)))


def parse_changes(text: str) -> list[_Change]:
    """Expected emissions: `3 +a +b | 7 -a`."""
    if not text.strip():
        return []
    found = [(part, _CHANGE.fullmatch(part)) for part in text.split("|")]
    for part, match in found:
        assert match is not None, f"not a time and rows: {part.strip()!r}"
    return [_Change(m[1], tuple(_ROW.findall(m[2]))) for _, m in found if m is not None]


def cut_changes(emissions: Iterable[Emission], like: Iterable[_Change]) -> list[_Change]:
    """A flat sequence of rows cut where the expected changes end.

    An engine does not say where one change ends and the next begins, so each expected change takes as many rows of its
    time as it names; what is left over is cut by time.
    """
    rest = [(str(at_ms), ("+" if weight > 0 else "-") + row_text(row)) for at_ms, weight, row in emissions]
    changes: list[_Change] = []
    sizes = [len(change.rows) for change in like]
    while rest:
        size = sizes.pop(0) if sizes else len(rest)
        at_ms = rest[0][0]
        taken = 0
        while taken < min(size, len(rest)) and rest[taken][0] == at_ms:
            taken += 1
        changes.append(_Change(at_ms, tuple(row for _, row in rest[:taken])))
        rest = rest[taken:]
    return changes


def row_text(row: tuple[Any, ...]) -> str:
    """A row in the short notation."""
    if len(row) == 1 and isinstance(row[0], ox.Triple):
        row = (row[0].subject, row[0].predicate, row[0].object)
    return ",".join(term_text(term) for term in row)


def term_text(term: Any) -> str:
    """A term in the short notation."""
    match term:
        case None:
            return "_"
        case bool():
            return str(term).lower()
        case ox.NamedNode():
            return str(term.value.removeprefix(NAMESPACE))
        case ox.BlankNode():
            return "[]"
        case ox.Literal() if term.datatype.value in _NUMBERS:
            return number_text(term.value)
        case ox.Literal() if term.datatype.value == XSD + "boolean":
            return str(term.value)
        case _:
            return f'"{term.value}"'


def number_text(lexical: str) -> str:
    """A number by value: `1.50` and `15e-1` are both `1.5`."""
    number = Decimal(lexical)
    return format(number.normalize(), "f") if number.is_finite() else lexical
