"""Which constants of a query may become variables, so that queries that differ in these alone are of one shape.

Those are IRIs and literals at the ends of triple patterns and of templates, and in expressions. What decides how a query is
run stays as it is: predicates, graphs, windows, numbers of LIMIT, patterns of REGEX, VALUES, orders, ends of paths.
Places are numbered in order of appearance. A lifted end of a pattern is a blank node, a variable that nobody can select.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from millstream.language import algebra as a
from millstream.language.scope import rebuilt, rewrite
from millstream.plan.compile.fresh import FRESH

_NAME = "millstreamconstant"
_AS_WRITTEN = {"REGEX": 1, "REPLACE": 1}
"""Functions that are compiled for their arguments, from this one on."""


def lifted_blank(place: int) -> BlankNode:
    """What a constant at the end of a triple pattern becomes."""
    return BlankNode(f"{_NAME}{place}")


def lifted_variable(place: int) -> Variable:
    """What a constant of an expression or a template becomes."""
    return Variable(f"{_NAME}{place}")


@dataclass(frozen=True, slots=True)
class Shape:
    """A query without its constants, and these."""

    key: tuple[Any, ...]
    """Equal for queries of one shape."""
    constants: tuple[NamedNode | Literal, ...]
    is_free: bool
    """Whether its answers depend neither on its text nor on when it was registered."""


def shape_of(query: a.Query, now_ms: int) -> Shape | None:
    """The shape of a query that is registered at a time; None for one that is like no other."""
    if _NAME in query.text or query.form is a.Form.DESCRIBE:
        return None
    places = _Places(None)
    changed = places.query(query)
    # Nodes and numbers that a query makes up are functions of its text.
    blanks = any(isinstance(t, BlankNode) for x in query.template for t in (x.subject, x.object))
    is_own = blanks or places.makes_up
    # What appeared and what disappeared are parts of what changed; everything is something else.
    whole = query.output is a.Output.RSTREAM
    key = (
        *(query.form, changed.pattern, query.variables, whole, changed.template, query.dataset),
        *(query.default_windows, query.windows, query.base),
        now_ms if places.asks_for_time else None,
        query.text if is_own else None,
    )
    return Shape(key, tuple(places.constants), not is_own and not places.asks_for_time)


def lifted(query: a.Query, chosen: Collection[int]) -> a.Query:
    """The query with the constants at some places lifted."""
    return _Places(chosen).query(query)


class _Places:
    """Goes through a query and counts its constants."""

    def __init__(self, chosen: Collection[int] | None) -> None:
        """None lifts all."""
        self._chosen = chosen
        self.constants: list[NamedNode | Literal] = []
        self.asks_for_time = self.makes_up = False

    def query(self, query: a.Query) -> a.Query:
        template = tuple(replace(t, subject=self._value(t.subject), object=self._value(t.object)) for t in query.template)
        return replace(query, pattern=self._pattern(query.pattern), template=template)

    def _lifts(self, term: NamedNode | Literal) -> int | None:
        """The number of the place of a constant, if it is lifted."""
        place = len(self.constants)
        self.constants.append(term)
        return place if self._chosen is None or place in self._chosen else None

    def _end(self, term: a.PatternTerm) -> a.PatternTerm:
        if isinstance(term, NamedNode | Literal) and (place := self._lifts(term)) is not None:
            return lifted_blank(place)
        return term

    def _value(self, term: a.PatternTerm) -> a.PatternTerm:
        if isinstance(term, NamedNode | Literal) and (place := self._lifts(term)) is not None:
            return lifted_variable(place)
        return term

    def _pattern(self, pattern: a.Pattern) -> a.Pattern:
        match pattern:
            case a.BGP(triples):
                return a.BGP(tuple(replace(t, subject=self._end(t.subject), object=self._end(t.object)) for t in triples))
            case a.OrderBy(inner):
                return replace(pattern, pattern=self._pattern(inner))
            case _:
                return rebuilt(pattern, self._pattern, self._expression)

    def _expression(self, expression: a.Expression) -> a.Expression:
        def change(part: a.Expression) -> a.Expression | None:
            match part:
                case NamedNode() | Literal():
                    place = self._lifts(part)
                    return part if place is None else lifted_variable(place)
                case a.Exists(pattern):
                    return replace(part, pattern=self._pattern(pattern))
                case a.FunctionCall(str() as name, arguments):
                    self.asks_for_time = self.asks_for_time or name == "NOW"
                    self.makes_up = self.makes_up or name in FRESH
                    if name in _AS_WRITTEN:
                        first = _AS_WRITTEN[name]
                        changed = tuple(self._expression(x) for x in arguments[:first])
                        return replace(part, arguments=(*changed, *arguments[first:]))
            return None

        return rewrite(expression, change)
