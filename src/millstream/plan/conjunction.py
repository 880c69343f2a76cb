"""Conjunctions: triple patterns, each over what it reads, joined and filtered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from millstream.language import algebra as a
from millstream.language.scope import mentioned
from millstream.windows.kinds import StreamWindow

PatternVariable: TypeAlias = Variable | BlankNode

_INTEGER = NamedNode("http://www.w3.org/2001/XMLSchema#integer")
_FARTHEST = 1 << 58
"""Integers beyond are not in ids, so nothing would be known of them."""


@dataclass(frozen=True, slots=True)
class GraphSource:
    """One graph of the datasets; None is the default graph."""

    graph: NamedNode | None


@dataclass(frozen=True, slots=True)
class ParameterSource(GraphSource):
    """The constants of queries that run as one plan, see `millstream.plan.instances`."""


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
    """A join of triple patterns under filters, projected."""

    patterns: tuple[SourcedPattern, ...]
    filters: tuple[a.Expression, ...]
    projection: tuple[Variable, ...]

    @property
    def variables(self) -> tuple[PatternVariable, ...]:
        return tuple(dict.fromkeys(v for p in self.patterns for v in p.variables))

    @property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The patterns by connected variables; those without any variable are components of their own."""
        return connected(self.patterns, range(len(self.patterns)))


def needed_of(plan: Conjunction) -> set[PatternVariable]:
    """The variables that are asked for once solutions are found: by the projection, and by filters that no join applies."""
    parts = [{v for n in members for v in plan.patterns[n].variables} for members in plan.components]
    tests = ((f, term_test(f, plan.patterns)) for f in plan.filters)
    after = [mentioned(f) for f, t in tests if t is None or not any({t.left, t.right} <= part for part in parts)]
    return {*plan.projection, *(v for variables in after if len(variables) > 1 for v in variables)}


def counted_of(plan: Conjunction) -> set[PatternVariable]:
    """The variables of which a join counts combinations instead of telling them: branches that nobody asks for.

    What is left when ends are taken off, again and again, holds the rest together: cycles, and what is asked for.
    """
    asked = needed_of(plan).union(*(m for f in plan.filters if len(m := mentioned(f)) > 1))
    rest = [set(p.variables) for p in plan.patterns if len(p.variables) > 1]
    branches = {v for variables in rest for v in variables} - asked
    while ends := {v for v, uses in Counter(v for some in rest for v in some).items() if uses == 1} - asked:
        rest = [left for some in rest if len(left := some - ends) > 1]
    return branches.difference(*rest)


def connected(patterns: Sequence[SourcedPattern], numbers: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """Some of the patterns by connected variables, in order; those without any variable are by themselves."""
    groups: dict[int, list[int]] = {}
    group_of: dict[PatternVariable, int] = {}
    variables_of: dict[int, list[PatternVariable]] = {}
    for number in numbers:
        ours = patterns[number].variables
        # The largest of the groups that it connects takes the others in: each pattern moves few times.
        known = sorted({group_of[v] for v in ours if v in group_of}, key=lambda g: len(groups[g]), reverse=True)
        into = known[0] if known else number
        members, variables = groups.setdefault(into, []), variables_of.setdefault(into, [])
        members.append(number)
        more = [v for v in ours if v not in group_of]
        for other in known[1:]:
            members += groups.pop(other)
            more += variables_of.pop(other)
        variables += more
        group_of.update(dict.fromkeys(more, into))
    return tuple(sorted(tuple(sorted(members)) for members in groups.values()))


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
        case a.FunctionCall("SAMETERM", (Variable() as left, Variable() as right)) if left != right:
            return TermTest(left, right, same=True)
        case a.Not(a.FunctionCall("SAMETERM", (Variable() as left, Variable() as right))) if left != right:
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


def conjuncts(expression: a.Expression) -> list[a.Expression]:
    """A filter of && as several: each is applied as soon as its own variables are bound.

    An error in one side of && makes the whole false or an error, so no row passes either way.
    """
    if isinstance(expression, a.And):
        return [*conjuncts(expression.left), *conjuncts(expression.right)]
    return [expression]
