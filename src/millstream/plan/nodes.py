"""The physical plan: a directed graph of delta operators over conjunctions and constants.

Every node tells its columns (`variables`) and which of them are bound in every row (`certain`). Nodes are frozen and
equal ones are one object (`sharing`), so that equal parts of a query run once. Columns that only the plan needs have names
that the query's text does not contain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

from pyoxigraph import Literal as LiteralTerm
from pyoxigraph import NamedNode, Variable

from millstream.language import algebra as a
from millstream.plan.conjunction import Conjunction, SourcedPattern
from millstream.plan.hash_consing import HashConsed


class _Computed(HashConsed):
    """What has columns that follow from its fields."""

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        return _variables(cast("Node", self))

    @cached_property
    def certain(self) -> frozenset[Variable]:
        return _certain(cast("Node", self))


@dataclass(frozen=True, eq=False)
class _Passing(_Computed):
    """What has the columns of its input."""

    input: Node


@dataclass(frozen=True, eq=False)
class Solutions(_Computed):
    """A leaf: triple patterns over windows and graphs, joined and filtered by the interval join."""

    conjunction: Conjunction


@dataclass(frozen=True, eq=False)
class Quads(_Computed):
    """A leaf: what a triple pattern matches in each named graph, with the graph's name; None chooses all graphs."""

    triple: a.TriplePattern
    graph: Variable
    named: tuple[NamedNode, ...] | None
    columns: tuple[Variable, ...] | None = None
    """Those that somebody reads; None: all of them."""


@dataclass(frozen=True, eq=False)
class Rows(HashConsed):
    """Constant solutions; None is unbound."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[a.Term | None, ...], ...]

    @cached_property
    def certain(self) -> frozenset[Variable]:
        return frozenset(v for i, v in enumerate(self.variables) if all(row[i] is not None for row in self.rows))


@dataclass(frozen=True, eq=False)
class ExchangeInput(HashConsed):
    """A leaf: rows of a part of the plan that runs elsewhere, by its place among the parts that are sent on."""

    part: int
    variables: tuple[Variable, ...]
    certain: frozenset[Variable]


@dataclass(frozen=True, eq=False)
class Precomputed(HashConsed):
    """A leaf: rows of a part of the plan that was evaluated before anything happens, and never change."""

    part: int
    variables: tuple[Variable, ...]
    certain: frozenset[Variable]


@dataclass(frozen=True, eq=False)
class ExchangeOutput(_Computed):
    """At the root: rows of several parts, to be sent on to where the rest of the plan runs.

    The first column is the number of the part, no term; then come the part's columns, as many as the widest has.
    """

    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Extend(_Computed):
    input: Node
    variable: Variable
    expression: a.Expression


@dataclass(frozen=True, eq=False)
class EqualityKey(_Computed):
    """One more column that is the same for all terms which `=` may find equal to that of another."""

    input: Node
    variable: Variable
    of: Variable


@dataclass(frozen=True, eq=False)
class Filter(_Passing):
    expression: a.Expression


@dataclass(frozen=True, eq=False)
class Project(_Computed):
    """Columns by new names: pairs of the name and the input's column; a name the input lacks is never bound."""

    input: Node
    columns: tuple[tuple[Variable, Variable], ...]


@dataclass(frozen=True, eq=False)
class Distinct(_Passing):
    """Every different row once."""


@dataclass(frozen=True, eq=False)
class Union(_Computed):
    """All rows of both; a variable that only one side has is unbound in the rows of the other."""

    left: Node
    right: Node


@dataclass(frozen=True, eq=False)
class Join(_Computed):
    """Compatible solutions of both sides.

    `copies` keeps, under other names, what the left side itself had where the right one may fill in a value. With
    `overlap` two solutions only meet if both bind one of those variables, as MINUS has it.
    """

    left: Node
    right: Node
    copies: tuple[tuple[Variable, Variable], ...] = ()
    overlap: tuple[Variable, ...] = ()

    @cached_property
    def shared(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.left.variables if v in self.right.variables)


@dataclass(frozen=True, eq=False)
class OrderedJoin(_Computed):
    """Pairs of solutions of two sides that share nothing, whose values compare as asked."""

    left: Node
    right: Node
    one: Variable
    operator: str
    other: Variable


@dataclass(frozen=True, eq=False)
class Unmatched(_Computed):
    """The rows of the left side that no row of `matched` matches.

    One matches where it has the same values in the columns `on`, which it has in that order, or, without any given, in all
    columns of the left side.
    """

    left: Node
    matched: Node
    on: tuple[Variable, ...] | None = None


@dataclass(frozen=True, eq=False)
class Marked(_Computed):
    """The rows of the left side with one more column: whether some row of `matched` matches, as for `Unmatched`."""

    left: Node
    matched: Node
    variable: Variable
    on: tuple[Variable, ...] | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over a column of the input; None: of whole solutions, which only COUNT takes."""

    function: str
    operand: Variable | None
    distinct: bool
    separator: str | None


@dataclass(frozen=True, eq=False)
class Group(_Computed):
    """A row for every combination of keys; without keys always one."""

    input: Node
    keys: tuple[Variable, ...]
    aggregates: tuple[tuple[Variable, Aggregate], ...]
    solution: tuple[Variable, ...] = ()
    """The columns that make up a whole solution, for COUNT(DISTINCT *)."""


@dataclass(frozen=True, eq=False)
class TopK(_Passing):
    """The rows at places `offset` to `offset + limit` of an order: by conditions, completed by columns in term order.

    With a tag there is an order for each of its values.
    """

    conditions: tuple[tuple[Variable, bool], ...]
    """Columns, each with whether it is descending."""
    completion: tuple[Variable, ...]
    offset: int
    limit: int | None
    tag: Variable | None = None


@dataclass(frozen=True, eq=False)
class Ordered(_Passing):
    """At the root: the answers in an order; columns after the first `width` are keys of it that nobody sees."""

    conditions: tuple[tuple[Variable, bool], ...]
    width: int


@dataclass(frozen=True, eq=False)
class Closure(_Computed):
    """Pairs of nodes joined by one or more edges, for each combination of tags; with `zero_length`, also by none.

    An end can be a constant, which its column then repeats.
    """

    edges: Node
    """Distinct rows: tags, from, to."""
    nodes: Node | None
    """What has a path of length zero: distinct rows of tags and node, or of tags alone where an end is a constant."""
    tags: tuple[Variable, ...]
    start: Variable
    end: Variable
    fixed_start: a.Term | None
    fixed_end: a.Term | None
    zero_length: bool
    demand: Node | None = None
    """Which ends are asked for, where a join partner binds them: distinct rows of tags and node."""
    asks: Literal["starts", "ends"] | None = None


@dataclass(frozen=True, eq=False)
class Template(_Computed):
    """The triples that a CONSTRUCT template makes of the solutions, once for each, behind the solution's tags."""

    input: Node
    triples: tuple[a.TriplePattern, ...]
    solution: tuple[Variable, ...]
    tags: tuple[Variable, ...] = ()


@dataclass(frozen=True, eq=False)
class Ask(_Computed):
    """One row: whether there is a solution."""

    input: Node


TRIPLE = tuple(Variable(name) for name in ("subject", "predicate", "object"))
TRUTH = Variable("boolean")

Leaf: TypeAlias = Solutions | Quads | Rows | ExchangeInput | Precomputed
Pair: TypeAlias = Union | Join | OrderedJoin | Unmatched | Marked
Step: TypeAlias = Extend | EqualityKey | Filter | Project | Distinct | Group | TopK | Ordered | Template | Ask
Node: TypeAlias = Leaf | Pair | Step | Closure | ExchangeOutput


def _variables(node: Node) -> tuple[Variable, ...]:
    match node:
        case Solutions(conjunction):
            return conjunction.projection
        case Quads(triple, graph, _, None):
            terms = (triple.subject, triple.predicate, triple.object, graph)
            return tuple(dict.fromkeys(term for term in terms if isinstance(term, Variable)))
        case Quads(columns=tuple() as columns):
            return columns
        case ExchangeOutput(parts):
            return tuple(Variable(f"column{i}") for i in range(1 + max(len(part.variables) for part in parts)))
        case Extend(inner, variable) | EqualityKey(inner, variable) | Marked(inner, _, variable):
            return (*inner.variables, variable)
        case Project(_, pairs):
            return tuple(name for name, _ in pairs)
        case Union(left, right) | OrderedJoin(left, right):
            return tuple(dict.fromkeys((*left.variables, *right.variables)))
        case Join(left, right, copies):
            return (*dict.fromkeys((*left.variables, *right.variables)), *(copy for copy, _ in copies))
        case Unmatched(inner) | Filter(inner) | Distinct(inner) | TopK(inner) | Ordered(inner):
            return inner.variables
        case Group(_, keys, aggregates):
            return (*keys, *(variable for variable, _ in aggregates))
        case Closure(_, _, tags, start, end):
            return (*tags, start, end)
        case Template(tags=tags):
            return (*tags, *TRIPLE)
        case Ask():
            return (TRUTH,)
        case _:
            return node.variables


def _certain(node: Node) -> frozenset[Variable]:
    match node:
        case Solutions(conjunction):
            # A query may select what no pattern has.
            return frozenset(conjunction.projection) & frozenset(conjunction.variables)
        case Quads() | Closure() | Template() | Ask():
            return frozenset(node.variables)
        case ExchangeOutput():
            return frozenset()
        case Extend(inner, variable, expression):
            is_bound = expression in inner.certain or isinstance(expression, NamedNode | LiteralTerm)
            return inner.certain | {variable} if is_bound else inner.certain
        case Project(inner, pairs):
            return frozenset(name for name, column in pairs if column in inner.certain)
        case Union(left, right):
            return left.certain & right.certain
        case Join(left, right) | OrderedJoin(left, right):
            return left.certain | right.certain
        case Marked(inner, _, variable):
            return inner.certain | {variable}
        case Group(inner, keys, aggregates):
            counts = frozenset(variable for variable, aggregate in aggregates if aggregate.function == "COUNT")
            return (inner.certain & frozenset(keys)) | counts
        # Some terms have no key that equal values share: they may equal others with different ones.
        case EqualityKey(inner) | Unmatched(inner) | Filter(inner) | Distinct(inner) | TopK(inner) | Ordered(inner):
            return inner.certain
        case _:
            return node.certain


def inputs_of(node: Node) -> tuple[Node, ...]:
    """The nodes whose deltas a node takes, in order."""
    match node:
        case ExchangeOutput(parts):
            return parts
        case Union(left, right) | Join(left, right) | OrderedJoin(left, right):
            return left, right
        case Unmatched(left, matched) | Marked(left, matched):
            return left, matched
        case Closure(edges, nodes, demand=demand):
            return tuple(part for part in (edges, nodes, demand) if part is not None)
        case _:
            return () if isinstance(node, Leaf) else (node.input,)


def over(node: Node, inputs: Mapping[Any, Node]) -> Node:
    """The same node over other inputs."""
    if isinstance(node, ExchangeOutput):
        return ExchangeOutput(tuple(inputs[part] for part in node.parts))
    values = {field.name: getattr(node, field.name) for field in fields(node)}
    changed: Any = {name: inputs[value] for name, value in values.items() if isinstance(value, HashConsed)}
    return replace(node, **changed)


def in_order(root: Node) -> list[Node]:
    """All nodes, each once, after its inputs."""
    found: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in found:
            for part in inputs_of(node):
                visit(part)
            found[node] = None

    visit(root)
    return list(found)


def kept(node: Node, variables: tuple[Variable, ...]) -> Node:
    """A node with only some of its columns, in this order; those it lacks are never bound."""
    if node.variables == variables:
        return node
    return Project(node, tuple((v, v) for v in variables))


def leaf_patterns(root: Node) -> tuple[SourcedPattern, ...]:
    """The patterns of all conjunctions, in the order in which they are numbered."""
    return tuple(p for node in in_order(root) if isinstance(node, Solutions) for p in node.conjunction.patterns)
