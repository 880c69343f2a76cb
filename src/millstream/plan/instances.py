"""Queries of one shape as one plan: the constants in which they differ are a relation that the plan reads.

Each query is an instance, and a triple (instance, place, constant) for each constant stands in a graph of the plan's own.
What mentions a lifted constant is joined with that graph, and its rows carry the instance from there on; what mentions none
is the same for all instances, and is evaluated once. Where the rows of all instances would have to be multiplied out, the
queries are better run apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pyoxigraph import BlankNode, NamedNode, Variable

from millstream.language import algebra as a
from millstream.language.scope import mentioned
from millstream.plan.compile.scopes import Names
from millstream.plan.conjunction import Conjunction, ParameterSource, SourcedPattern, order_test
from millstream.plan.lifting import lifted_blank, lifted_variable
from millstream.plan.nodes import Join, Node, Solutions, kept

_SOURCE = ParameterSource(None)


class RunsApartError(Exception):
    """Queries of one shape that gain nothing by being one plan."""


def place_predicate(place: int) -> NamedNode:
    """What links an instance to its constant at a place."""
    return NamedNode(f"millstream:constant-{place}")


class Instances:
    """The instances of one plan, while it is compiled; without lifted constants there are none, and nothing changes."""

    def __init__(self, places: Collection[int], names: Names) -> None:
        self.variable = names.sole("member")
        self._places = tuple(sorted(places))
        self.blanks = {lifted_blank(place).value: place for place in self._places}
        self._named = {names.of_blank(label): place for label, place in self.blanks.items()}
        self.constants = {lifted_variable(place): place for place in self._places}

    def __bool__(self) -> bool:
        return bool(self._places)

    @property
    def domain(self) -> Node:
        """All instances."""
        pattern = self._pattern(self._places[0], lifted_blank(self._places[0]))
        return Solutions(Conjunction((pattern,), (), (self.variable,)))

    def tags(self, node: Node) -> tuple[Variable, ...]:
        """The column that tells instances apart, where rows do."""
        return (self.variable,) if self.variable in node.variables else ()

    def _pattern(self, place: int, constant: Variable | BlankNode) -> SourcedPattern:
        return SourcedPattern(a.TriplePattern(self.variable, place_predicate(place), constant), _SOURCE)

    def patterns_for(
        self, patterns: Sequence[SourcedPattern], others: Sequence[Node], filters: Sequence[a.Expression]
    ) -> list[SourcedPattern]:
        """What a group that mentions lifted constants must be joined with."""
        ends = [t for p in patterns for t in (p.triple.subject, p.triple.object) if isinstance(t, BlankNode)]
        found = {self._pattern(self.blanks[t.value], t): None for t in ends if t.value in self.blanks}
        for node in others:
            # In each of several graphs there are no blank nodes, see `Compiler._without_blanks`.
            places = [self._named[v] for v in node.variables if v in self._named]
            found.update((self._pattern(place, lifted_blank(place)), None) for place in places)
        read = [v for expression in filters for v in mentioned(expression) if v in self.constants]
        found.update((self._pattern(self.constants[v], v), None) for v in read)
        if found:
            self._check_linked(list(found), patterns, others, filters)
        return list(found)

    def _check_linked(
        self,
        ours: Sequence[SourcedPattern],
        patterns: Sequence[SourcedPattern],
        others: Sequence[Node],
        filters: Sequence[a.Expression],
    ) -> None:
        """Raises RunsApartError if instances meet the rest of a group through no variable and no comparison."""
        bound = {v for p in patterns for v in p.variables} | {v for node in others for v in node.variables}
        if any(v in bound or v in self._named for p in ours for v in p.variables):
            return
        certain = {v for p in patterns for v in p.variables}.union(*(node.certain for node in others))
        for test in filter(None, map(order_test, filters)):
            ends = {test.left, test.right}
            if not test.offset and test.operator != "!=" and ends & self.constants.keys() and ends & certain:
                return
        raise RunsApartError

    def with_constants(self, node: Node, expression: a.Expression) -> Node:
        """A node with columns for the lifted constants that an expression mentions."""
        read = sorted((v for v in mentioned(expression) if v in self.constants and v not in node.variables), key=str)
        return self._with_columns(node, read)

    def with_template(self, node: Node, template: Iterable[a.TriplePattern]) -> Node:
        """A node with columns for the lifted constants of a template."""
        terms = dict.fromkeys(t for x in template for t in (x.subject, x.object))
        return self._with_columns(node, [t for t in terms if isinstance(t, Variable) and t in self.constants])

    def _with_columns(self, node: Node, constants: Sequence[Variable]) -> Node:
        if constants:
            self.check_told_apart(node)
            patterns = tuple(self._pattern(self.constants[v], v) for v in constants)
            node = Join(node, Solutions(Conjunction(patterns, (), (self.variable, *constants))))
        return node

    def without_constants(self, node: Node) -> Node:
        """A node that carries the instance alone: its constants follow from it, and are no part of a solution."""
        left = tuple(v for v in node.variables if v not in self.constants and v not in self._named)
        return kept(node, left)

    def check_told_apart(self, node: Node) -> None:
        """Raises RunsApartError for a node that is the same for all instances, where a row for each of them is asked for."""
        if self.variable not in node.variables:
            raise RunsApartError

    def check_sides(self, left: Node, right: Node) -> None:
        """The same, where the right side is not the same for all instances."""
        if self.variable in right.variables:
            self.check_told_apart(left)
