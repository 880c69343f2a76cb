"""The algebra of section 18.2 of the SPARQL 1.1 recommendation, with windows; names follow its definitions.

Everything is frozen and compared by value, so equal parts of queries are equal objects. Blank nodes in patterns stay
blank nodes: variables that no one can select.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode, Variable

from millstream.errors import Place
from millstream.language.algebra_expressions import *  # noqa: F403 - the algebra is both; it is two files for its length
from millstream.language.algebra_expressions import Aggregate, Expression, PatternTerm, PropertyPath, place_field
from millstream.windows.kinds import StreamWindow

# Graph patterns -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TriplePattern:
    subject: PatternTerm
    predicate: NamedNode | Variable
    object: PatternTerm


@dataclass(frozen=True, slots=True)
class BGP:
    """A basic graph pattern; without triples, the one empty solution."""

    triples: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Path:
    subject: PatternTerm
    path: PropertyPath
    object: PatternTerm


@dataclass(frozen=True, slots=True)
class Join:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL; `expression` is None where it has no filter."""

    left: Pattern
    right: Pattern
    expression: Expression | None


@dataclass(frozen=True, slots=True)
class Filter:
    expression: Expression
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Union:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Minus:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Graph:
    name: NamedNode | Variable
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Window:
    """What a pattern gives over the content of one window of one stream."""

    window: StreamWindow
    pattern: Pattern
    place: Place | None = place_field()


@dataclass(frozen=True, slots=True)
class Extend:
    pattern: Pattern
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Values:
    """Inline data; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[NamedNode | Literal | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Service:
    name: NamedNode | Variable
    pattern: Pattern
    silent: bool
    place: Place | None = place_field()


@dataclass(frozen=True, slots=True)
class Group:
    """Section 18.2.4.1 in one node: solutions grouped by keys, each group giving its keys and aggregates.

    Without keys there is always one group, also of nothing.
    """

    pattern: Pattern
    keys: tuple[tuple[Variable, Expression], ...]
    aggregates: tuple[tuple[Variable, Aggregate], ...]


@dataclass(frozen=True, slots=True)
class OrderCondition:
    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class OrderBy:
    pattern: Pattern
    conditions: tuple[OrderCondition, ...]


@dataclass(frozen=True, slots=True)
class Project:
    pattern: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Reduced:
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Slice:
    pattern: Pattern
    offset: int
    limit: int | None


Pair: TypeAlias = Join | LeftJoin | Union | Minus
Around: TypeAlias = Filter | Graph | Window | Extend | Service | Group | OrderBy | Project | Distinct | Reduced | Slice
Pattern: TypeAlias = BGP | Path | Values | Pair | Around


# Queries --------------------------------------------------------------------------------------------------------------


class Form(Enum):
    SELECT = "SELECT"
    CONSTRUCT = "CONSTRUCT"
    ASK = "ASK"
    DESCRIBE = "DESCRIBE"


class Output(Enum):
    """What is emitted of the answer sets: what appeared, what disappeared, everything, or both kinds of change."""

    ISTREAM = "istream"
    DSTREAM = "dstream"
    RSTREAM = "rstream"
    CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class Dataset:
    """The graphs a query chooses: None means the engine's own default graph, or all of its named graphs."""

    default: tuple[NamedNode, ...] | None = None
    named: tuple[NamedNode, ...] | None = None


@dataclass(frozen=True, slots=True)
class Warning:
    """Something accepted that the recommendation does not allow; `legal` shows how to write it."""

    message: str
    legal: str
    place: Place | None = place_field()

    def __str__(self) -> str:
        where = f"line {self.place.line}, column {self.place.column}: " if self.place else ""
        return f"{where}{self.message}" + (f" Write: {self.legal}" if self.legal else "")


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query. `name` is what REGISTER calls it: for CONSTRUCT, the stream that its answers form."""

    form: Form
    pattern: Pattern
    variables: tuple[Variable, ...]
    output: Output
    template: tuple[TriplePattern, ...] = ()
    resources: tuple[NamedNode | Variable, ...] = ()
    dataset: Dataset = Dataset()
    default_windows: tuple[StreamWindow, ...] = ()
    """Windows whose contents belong to the default graph."""
    windows: tuple[StreamWindow, ...] = ()
    """All windows the query reads, each once, in order of appearance."""
    name: str | None = None
    base: str = ""
    """What relative IRIs are seen from, also those that a function makes."""
    prefixes: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    warnings: tuple[Warning, ...] = field(default=(), compare=False)
    text: str = field(default="", compare=False, repr=False)
    place: Place | None = place_field()

    @property
    def columns(self) -> tuple[Variable, ...]:
        """What its answers consist of: what it selects, a triple, or one boolean."""
        return _COLUMNS.get(self.form, self.variables)

    @property
    def closes_windows(self) -> bool:
        """Whether it answers when windows close: every stream window has a STEP. Otherwise it does on every change."""
        return bool(self.windows) and all(w.window.step_ms is not None for w in self.windows)


_COLUMNS = {
    Form.CONSTRUCT: (Variable("subject"), Variable("predicate"), Variable("object")),
    Form.ASK: (Variable("boolean"),),
}
