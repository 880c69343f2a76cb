"""Terms, expressions and paths of the syntax tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pyoxigraph import Literal, Variable

from millstream.errors import Place

if TYPE_CHECKING:
    from millstream.language.syntax.tree import GroupGraphPattern


def place_field() -> Place:
    """Where a node stands in the text; no part of what it is."""
    return field(compare=False, repr=False)  # type: ignore[no-any-return]  # dataclasses.field is typed as the field's value


# Terms ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IRIReference:
    """`<...>`, possibly relative."""

    value: str
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class PrefixedName:
    prefix: str
    local: str
    place: Place = place_field()


IRI: TypeAlias = IRIReference | PrefixedName


@dataclass(frozen=True, slots=True)
class TypedLiteral:
    lexical: str
    datatype: IRI


@dataclass(frozen=True, slots=True)
class TaggedLiteral:
    """A string with a language tag, which may not be one."""

    lexical: str
    language: str
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class BlankNodeLabel:
    """A blank node of the text; one that has no label there gets one that no text can have."""

    label: str
    place: Place = place_field()


Constant: TypeAlias = IRI | Literal | TypedLiteral | TaggedLiteral
Term: TypeAlias = Variable | Constant | BlankNodeLabel


# Expressions ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator of section 17.3 with its operands; `IN` takes the tested value first."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in function by its upper-case name, or any function by IRI."""

    function: str | IRI
    arguments: tuple[Expression, ...]
    distinct: bool
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`operand` is None for COUNT(*)."""

    function: str
    operand: Expression | None
    distinct: bool
    separator: str | None
    separator_place: Place | None = field(compare=False, repr=False)
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class ExistsCall:
    group: GroupGraphPattern
    negated: bool
    place: Place = place_field()


Expression: TypeAlias = Variable | Constant | Operation | Call | AggregateCall | ExistsCall


# Paths ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Inverse:
    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    steps: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    choices: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """A path with `?`, `*` or `+`."""

    path: Path
    modifier: str


@dataclass(frozen=True, slots=True)
class NegatedSet:
    forward: tuple[IRI, ...]
    backward: tuple[IRI, ...]


Path: TypeAlias = IRI | Inverse | Sequence | Alternative | Repetition | NegatedSet
