"""Conjunctive queries: triple patterns, each over what it reads, joined and filtered.

`conjunction_of` flattens joins, windows and graphs of a pattern into one list and refuses everything else by name.
Filters move to the whole: what a filter's own group cannot bind stays unbound for it, as the recommendation has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from millstream.errors import Place, UnsupportedQueryError
from millstream.language import algebra as a
from millstream.language.scope import exists_in, in_scope, mentioned, rewrite
from millstream.language.windows import StreamWindow

PatternVariable: TypeAlias = Variable | BlankNode

_INTEGER = NamedNode("http://www.w3.org/2001/XMLSchema#integer")
_FARTHEST = 1 << 58
"""Integers beyond are not in ids, so nothing would be known of them."""

_SO_FAR = "So far basic graph patterns with filters run, over any windows and graphs: SELECT ?x WHERE { ... FILTER(...) }."


@dataclass(frozen=True, slots=True)
class GraphSource:
    """One graph of the datasets; None is the default graph."""

    graph: NamedNode | None


@dataclass(frozen=True, slots=True)
class WindowSource:
    window: StreamWindow


@dataclass(frozen=True, slots=True)
class MergedSource:
    """The set union of several graphs and windows: a default graph that FROM or unnamed windows put together."""

    parts: tuple[GraphSource | WindowSource, ...]


Source: TypeAlias = GraphSource | WindowSource | MergedSource


@dataclass(frozen=True, slots=True)
class SourcedPattern:
    """A triple pattern and what it reads."""

    triple: a.TriplePattern
    source: Source

    @property
    def variables(self) -> tuple[PatternVariable, ...]:
        """Each variable once, subject first."""
        t = self.triple
        return tuple(dict.fromkeys(x for x in (t.subject, t.predicate, t.object) if isinstance(x, Variable | BlankNode)))


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A query that is a join of triple patterns under filters, projected."""

    patterns: tuple[SourcedPattern, ...]
    filters: tuple[a.Expression, ...]
    projection: tuple[Variable, ...]

    @property
    def variables(self) -> tuple[PatternVariable, ...]:
        return tuple(dict.fromkeys(v for p in self.patterns for v in p.variables))

    @property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The patterns by connected variables; those without any variable are components of their own."""
        groups: list[tuple[set[PatternVariable], list[int]]] = []
        for number, pattern in enumerate(self.patterns):
            variables, members = set(pattern.variables), [number]
            apart = []
            for group in groups:
                if group[0] & variables:
                    variables |= group[0]
                    members = group[1] + members
                else:
                    apart.append(group)
            groups = [*apart, (variables, members)]
        return tuple(sorted(tuple(sorted(members)) for _, members in groups))


@dataclass(frozen=True, slots=True)
class TermTest:
    """Two variables that must be the same term, or must not."""

    left: Variable
    right: Variable
    same: bool


def term_test(expression: a.Expression, patterns: tuple[SourcedPattern, ...]) -> TermTest | None:
    """What a filter asks for, if that is whether two variables are one term.

    For `=` and `!=` that is so where one of them is never a literal: a subject or a predicate. Between literals they
    compare values: 1 and 01 are equal, and NaN is not equal to itself.
    """
    match expression:
        case a.FunctionCall("SAMETERM", (Variable() as left, Variable() as right)):
            return TermTest(left, right, same=True)
        case a.Not(a.FunctionCall("SAMETERM", (Variable() as left, Variable() as right))):
            return TermTest(left, right, same=False)
        case a.Comparison("=" | "!=", Variable() as left, Variable() as right):
            no_literals = {x for p in patterns for x in (p.triple.subject, p.triple.predicate) if isinstance(x, Variable)}
            if left != right and (left in no_literals or right in no_literals):
                return TermTest(left, right, same=expression.operator == "=")
    return None


@dataclass(frozen=True, slots=True)
class OrderTest:
    """A comparison of the values of two variables, the right one plus an offset."""

    left: Variable
    operator: str
    right: Variable
    offset: int


def order_test(expression: a.Expression) -> OrderTest | None:
    """What a filter asks for, if that is a comparison of two variables, or of such plus or minus an integer."""
    match expression:
        case a.Comparison("<" | "<=" | ">" | ">=" | "=" | "!=" as operator, left, right):
            one, other = _shifted(left), _shifted(right)
            if one is not None and other is not None and one[0] != other[0] and abs(other[1] - one[1]) < _FARTHEST:
                return OrderTest(one[0], operator, other[0], other[1] - one[1])
    return None


def _shifted(expression: a.Expression) -> tuple[Variable, int] | None:
    """A variable and the integer that is added to it."""
    match expression:
        case Variable():
            return expression, 0
        case a.Arithmetic("+" | "-" as operator, Variable() as variable, Literal() as by) if by.datatype == _INTEGER:
            try:
                return variable, int(by.value) if operator == "+" else -int(by.value)
            except ValueError:
                return None
    return None


def conjunction_of(query: a.Query) -> Conjunction:
    """The query as a conjunction; raises UnsupportedQueryError for what is not one."""
    return _Flattening(query).run()


class _Flattening:
    def __init__(self, query: a.Query) -> None:
        self._query = query
        self._patterns: list[SourcedPattern] = []
        self._filters: list[a.Expression] = []

    def run(self) -> Conjunction:
        query = self._query
        if query.form is not a.Form.SELECT:
            raise self._refuse(query.form.value, _SO_FAR)
        pattern, projection = query.pattern, query.variables
        if isinstance(pattern, a.Project):
            pattern = pattern.pattern
        self._flatten(pattern, self._default_source())
        # The same pattern twice over the same source says nothing new: a window's content is a set.
        return Conjunction(tuple(dict.fromkeys(self._patterns)), tuple(dict.fromkeys(self._filters)), projection)

    def _flatten(self, pattern: a.Pattern, source: Source) -> None:
        match pattern:
            case a.BGP(triples):
                self._patterns.extend(SourcedPattern(t, source) for t in triples)
            case a.Join(left, right):
                self._flatten(left, source)
                self._flatten(right, source)
            case a.Filter(expression, inner):
                self._flatten(inner, source)
                self._filter(expression, set(in_scope(inner)))
            case a.Window(window, inner):
                self._flatten(inner, WindowSource(window))
            case a.Graph(NamedNode() as name, inner):
                self._flatten(inner, self._graph_source(name))
            case _:
                self._refuse_pattern(pattern)

    def _filter(self, expression: a.Expression, bound: set[Variable]) -> None:
        if exists_in(expression):
            raise self._refuse("EXISTS", _SO_FAR, exists_in(expression)[0].place)
        unbound = {v: self._never_bound(v) for v in mentioned(expression) - bound}

        def change(part: a.Expression) -> a.Expression | None:
            return unbound.get(part) if isinstance(part, Variable) else None

        self._filters.extend(_conjuncts(rewrite(expression, change) if unbound else expression))

    def _never_bound(self, variable: Variable) -> Variable:
        """Another name for a variable that the filter's group does not bind, though another group may."""
        name = f"unbound_{variable.value}"
        while name in self._query.text:
            name += "_"
        return Variable(name)

    # What a pattern reads ---------------------------------------------------------------------------------------------

    def _default_source(self) -> Source:
        graphs = self._query.dataset.default
        parts: tuple[GraphSource | WindowSource, ...] = tuple(
            GraphSource(g) for g in ((None,) if graphs is None else graphs)
        ) + tuple(WindowSource(w) for w in self._query.default_windows)
        return parts[0] if len(parts) == 1 else MergedSource(parts)

    def _graph_source(self, name: NamedNode) -> Source:
        named = self._query.dataset.named
        # A graph that FROM NAMED does not choose is empty: the union of nothing.
        return GraphSource(name) if named is None or name in named else MergedSource(())

    # Refusals ---------------------------------------------------------------------------------------------------------

    def _refuse_pattern(self, pattern: a.Pattern) -> None:
        grouping = _grouping_below(pattern)
        if grouping is not None:
            place = next((g.place for _, g in grouping.aggregates), None)
            raise self._refuse("GROUP BY or an aggregate", _SO_FAR, place)
        what = {
            a.Path: "A property path with |, ?, *, + or !",
            a.LeftJoin: "OPTIONAL",
            a.Union: "UNION",
            a.Minus: "MINUS",
            a.Graph: "GRAPH with a variable",
            a.Extend: "BIND or an expression in SELECT",
            a.Values: "VALUES",
            a.Service: "SERVICE",
            a.Group: "GROUP BY or an aggregate",
            a.OrderBy: "ORDER BY",
            a.Project: "A sub-query",
            a.Distinct: "DISTINCT",
            a.Reduced: "REDUCED",
            a.Slice: "LIMIT or OFFSET",
        }[type(pattern)]
        raise self._refuse(what, _SO_FAR, getattr(pattern, "place", None))

    def _refuse(self, what: str, instead: str, place: Place | None = None) -> UnsupportedQueryError:
        return UnsupportedQueryError(what, instead=instead, text=self._query.text, place=place or self._query.place)


def _grouping_below(pattern: a.Pattern) -> a.Group | None:
    """The grouping that a selected expression, a HAVING or an order belongs to."""
    while isinstance(pattern, a.Extend | a.Filter | a.OrderBy | a.Project | a.Distinct | a.Slice):
        pattern = pattern.pattern
    return pattern if isinstance(pattern, a.Group) else None


def _conjuncts(expression: a.Expression) -> list[a.Expression]:
    """A filter of && as several: each is applied as soon as its own variables are bound.

    An error in one side of && makes the whole false or an error, so no row passes either way.
    """
    if isinstance(expression, a.And):
        return [*_conjuncts(expression.left), *_conjuncts(expression.right)]
    return [expression]
