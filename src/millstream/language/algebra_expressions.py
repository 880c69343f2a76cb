"""Expressions and property paths of the algebra; names follow sections 17 and 18.2 of the recommendation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from millstream.errors import Place

if TYPE_CHECKING:
    from millstream.language.algebra import Pattern

Term: TypeAlias = NamedNode | Literal | BlankNode
PatternTerm: TypeAlias = NamedNode | Literal | BlankNode | Variable


def place_field() -> Place | None:
    """Where a node stands in the text; no part of what it is."""
    return field(default=None, compare=False, repr=False)


# Expressions ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Or:
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class And:
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Not:
    operand: Expression


@dataclass(frozen=True, slots=True)
class Comparison:
    """One of `=`, `!=`, `<`, `>`, `<=`, `>=`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class In:
    operand: Expression
    choices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """One of `+`, `-`, `*`, `/`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class UnaryPlus:
    operand: Expression


@dataclass(frozen=True, slots=True)
class UnaryMinus:
    operand: Expression


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A built-in by its upper-case name or any other function by its IRI."""

    function: str | NamedNode
    arguments: tuple[Expression, ...]
    place: Place | None = place_field()


@dataclass(frozen=True, slots=True)
class Exists:
    pattern: Pattern
    place: Place | None = place_field()


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over a group; `operand` is None for COUNT(*)."""

    function: str | NamedNode
    operand: Expression | None
    distinct: bool = False
    separator: str | None = None
    place: Place | None = place_field()


Operation: TypeAlias = Or | And | Not | Comparison | In | Arithmetic | UnaryPlus | UnaryMinus
Expression: TypeAlias = Variable | NamedNode | Literal | Operation | FunctionCall | Exists | Aggregate
"""An Aggregate stands in expressions only between parsing and grouping; a finished query has them in Group alone."""


# Property paths -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Link:
    predicate: NamedNode


@dataclass(frozen=True, slots=True)
class Inverse:
    path: PropertyPath


@dataclass(frozen=True, slots=True)
class Sequence:
    first: PropertyPath
    second: PropertyPath


@dataclass(frozen=True, slots=True)
class Alternative:
    left: PropertyPath
    right: PropertyPath


@dataclass(frozen=True, slots=True)
class ZeroOrOne:
    path: PropertyPath


@dataclass(frozen=True, slots=True)
class ZeroOrMore:
    path: PropertyPath


@dataclass(frozen=True, slots=True)
class OneOrMore:
    path: PropertyPath


@dataclass(frozen=True, slots=True)
class NegatedPropertySet:
    """Any predicate but these."""

    predicates: frozenset[NamedNode]


PropertyPath: TypeAlias = Link | Inverse | Sequence | Alternative | ZeroOrOne | ZeroOrMore | OneOrMore | NegatedPropertySet
