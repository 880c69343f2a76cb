"""The syntax tree: what a query text says, names unresolved, nothing checked beyond the grammar.

Nodes that an error or a warning may point at carry their place, which never takes part in comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import Variable

from millstream.errors import Place
from millstream.language.syntax.terms import *  # noqa: F403 - the tree is both; it is two files for its length
from millstream.language.syntax.terms import IRI, Constant, Expression, IRIReference, Path, Term, place_field

# Patterns -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Triple:
    subject: Term
    predicate: Variable | Path
    object: Term


@dataclass(frozen=True, slots=True)
class TriplesBlock:
    triples: tuple[Triple, ...]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class GroupGraphPattern:
    elements: tuple[Element, ...]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class SubSelect:
    query: SelectQuery


@dataclass(frozen=True, slots=True)
class OptionalPattern:
    group: GroupGraphPattern


@dataclass(frozen=True, slots=True)
class UnionPattern:
    """One or more groups; a group alone is a union of one."""

    groups: tuple[GroupGraphPattern, ...]


@dataclass(frozen=True, slots=True)
class MinusPattern:
    group: GroupGraphPattern


@dataclass(frozen=True, slots=True)
class GraphPattern:
    name: Variable | IRI
    group: GroupGraphPattern
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class ServicePattern:
    name: Variable | IRI
    group: GroupGraphPattern
    silent: bool
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class FilterElement:
    constraint: Expression


@dataclass(frozen=True, slots=True)
class BindElement:
    expression: Expression
    variable: Variable
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class InlineData:
    """VALUES: rows of terms, None for UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Constant | None, ...], ...]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class StreamGraphPattern:
    """CQELS-QL: `STREAM <s> [window] { ... }`. The place covers all in front of the group."""

    stream: Variable | IRI
    window: WindowClause
    group: GroupGraphPattern
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class WindowGraphPattern:
    """RSP-QL: `WINDOW <w> { ... }`. The place covers all in front of the group."""

    name: Variable | IRI
    group: GroupGraphPattern
    place: Place = place_field()


OverGroup: TypeAlias = OptionalPattern | UnionPattern | MinusPattern | GraphPattern | ServicePattern
OverStream: TypeAlias = StreamGraphPattern | WindowGraphPattern
Block: TypeAlias = TriplesBlock | GroupGraphPattern | SubSelect | InlineData
Element: TypeAlias = Block | FilterElement | BindElement | OverGroup | OverStream


# Windows and streams --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DurationText:
    text: str
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class WindowClause:
    """The inside of `[...]`.

    `kind` is the word of a window, or PAST (SPARQLstream's `NOW - 10 S`).
    """

    kind: str
    length: DurationText | None = None
    grid: str | None = None
    """SLIDE, STEP or TUMBLING."""
    grid_length: DurationText | None = None
    count: int | None = None
    until_past: bool = False
    """SPARQLstream's `TO NOW - ...`."""
    place: Place = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FromClause:
    """FROM and FROM NAMED of SPARQL."""

    graph: IRI
    named: bool
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class FromStream:
    """A window in the dataset clauses; `name` is None where its content goes to the default graph."""

    stream: IRI
    window: WindowClause
    name: IRI | None
    place: Place = place_field()


DatasetClause: TypeAlias = FromClause | FromStream


@dataclass(frozen=True, slots=True)
class Register:
    """`REGISTER what name AS`, where what is QUERY, STREAM or an output operator."""

    what: str
    name: IRI | str
    computed_every: Place | None
    prologue: Prologue
    place: Place = place_field()


# Queries --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BaseDeclaration:
    iri: IRIReference


@dataclass(frozen=True, slots=True)
class PrefixDeclaration:
    prefix: str
    iri: IRIReference


Prologue: TypeAlias = tuple[BaseDeclaration | PrefixDeclaration, ...]


@dataclass(frozen=True, slots=True)
class SelectItem:
    variable: Variable
    expression: Expression | None
    parenthesised: bool
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class SelectClause:
    """`items` is None for `*`."""

    items: tuple[SelectItem, ...] | None
    distinct: bool
    reduced: bool
    output: str | None
    output_place: Place | None = field(compare=False, repr=False)
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class GroupCondition:
    expression: Expression
    variable: Variable | None
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class OrderCondition:
    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class SolutionModifier:
    group_by: tuple[GroupCondition, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[OrderCondition, ...] = ()
    limit: int | None = None
    offset: int | None = None
    having_place: Place | None = field(default=None, compare=False, repr=False)
    slice_place: Place | None = field(default=None, compare=False, repr=False)
    """Where LIMIT or OFFSET stands."""


@dataclass(frozen=True, slots=True)
class SelectQuery:
    select: SelectClause
    dataset: tuple[DatasetClause, ...]
    where: GroupGraphPattern
    modifier: SolutionModifier
    values: InlineData | None = None


@dataclass(frozen=True, slots=True)
class ConstructQuery:
    """The place covers all in front of the dataset clauses: CONSTRUCT and its template, if it has one of its own."""

    template: TriplesBlock
    output: str | None
    output_place: Place | None = field(compare=False, repr=False)
    dataset: tuple[DatasetClause, ...]
    where: GroupGraphPattern
    modifier: SolutionModifier
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class AskQuery:
    output: str | None
    output_place: Place | None = field(compare=False, repr=False)
    dataset: tuple[DatasetClause, ...]
    where: GroupGraphPattern
    modifier: SolutionModifier


@dataclass(frozen=True, slots=True)
class DescribeQuery:
    """`resources` is None for `*`."""

    resources: tuple[Variable | IRI, ...] | None
    dataset: tuple[DatasetClause, ...]
    where: GroupGraphPattern | None
    modifier: SolutionModifier
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class QueryUnit:
    prologue: Prologue
    register: Register | None
    query: SelectQuery | ConstructQuery | AskQuery | DescribeQuery
    values: InlineData | None
