"""Plans made up at random, of all nodes that run above leaves, some in ways that no query's text leads to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Variable, parse

from millstream.language import algebra as a
from millstream.operators.expressions.values.values import XSD
from millstream.plan import nodes as n
from millstream.plan.compile import joining
from millstream.plan.compile.scopes import Names
from millstream.plan.conjunction import Conjunction, GraphSource, MergedSource, Source, SourcedPattern, WindowSource
from millstream.windows.kinds import Range, Step, StreamWindow
from tests.operators.test_group_by import FAMILIES, FUNCTIONS

T = TypeVar("T")
Term = NamedNode | Literal

VARIABLES = tuple(map(Variable, "abcd"))
STREAM = NamedNode("http://e/s")
WINDOWS = (WindowSource(StreamWindow(STREAM, Range(5))), WindowSource(StreamWindow(STREAM, Step(4, 2))))
GRAPHS = (GraphSource(None), GraphSource(NamedNode("http://e/g")))
SOURCES: tuple[Source, ...] = (*WINDOWS, *GRAPHS, MergedSource((WINDOWS[0], GRAPHS[0])))
NAMED = (NamedNode("http://e/n1"), NamedNode("http://e/n2"))
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


def term_of(text: str) -> Term:
    """The term that a text spells."""
    (quad,) = parse(f"<urn:s> <urn:p> {text} .", RdfFormat.N_TRIPLES)
    found: Term = quad.object
    return found


class Author:
    """Makes up plans over a few terms."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.names = Names("")
        # Few terms: what does not match tells little.
        self.nodes = [NamedNode(f"http://x/{name}") for name in "abc"[: chance.choice([2, 2, 3])]]
        self.predicates = [NamedNode(f"http://x/{name}") for name in "pq"[: chance.choice([1, 1, 2])]]
        family = [text for text in FAMILIES[chance.choice(list(FAMILIES))] if text is not None and text[0] != "_"]
        small = [f'"{number}"^^<{XSD}integer>' for number in range(2)]
        some = chance.sample(family, min(2, len(family))) if chance.random() < 0.6 else small
        self.values: list[Term] = [term_of(text) for text in dict.fromkeys(some)]
        self.parts: dict[int, n.ExchangeInput] = {}
        self.sources = chance.sample(SOURCES, chance.choice([1, 1, 2, 3]))

    def one(self, *choices: T) -> T:
        return self.chance.choice(choices)

    def is_one_in(self, times: int) -> bool:
        return self.chance.randrange(times) == 0

    def some(self, choices: Sequence[T], least: int = 0) -> tuple[T, ...]:
        size = self.chance.randint(min(least, len(choices)), len(choices))
        return tuple(self.chance.sample(list(choices), size))

    def subject(self) -> NamedNode:
        return self.one(*self.nodes)

    def predicate(self) -> NamedNode:
        return self.one(*self.predicates)

    def value(self) -> Term:
        return self.one(*self.nodes, *self.values)

    # Expressions

    def expression(self, variables: Sequence[Variable], depth: int = 1) -> a.Expression:
        """A value."""
        leaf: Callable[[], a.Expression] = lambda: self.one(*variables, *variables, self.value())  # noqa: E731
        if depth == 0 or not variables:
            return leaf()
        match self.chance.randrange(7):
            case 0 | 1:
                return a.Arithmetic(self.one("+", "-", "*"), self.expression(variables, depth - 1), leaf())
            case 2:
                return a.FunctionCall("IF", (self.test(variables, 0), leaf(), leaf()))
            case 3:
                return a.FunctionCall("COALESCE", (self.expression(variables, depth - 1), leaf()))
            case 4:
                return a.FunctionCall("STR", (leaf(),))
            case 5:
                return self.test(variables, depth - 1)
            case _:
                return leaf()

    def test(self, variables: Sequence[Variable], depth: int = 1) -> a.Expression:
        """A condition, of which many let most rows pass: nothing happens above one that lets none."""
        if depth and not self.is_one_in(3):
            return a.Or(self.test(variables, 0), a.Comparison("!=", self.one(*variables, self.value()), self.value()))
        if depth:
            match self.chance.randrange(6):
                case 0:
                    return a.And(self.test(variables, depth - 1), self.test(variables, depth - 1))
                case 1:
                    return a.Or(self.test(variables, depth - 1), self.test(variables, depth - 1))
                case 2:
                    return a.Not(self.test(variables, depth - 1))
        one, other = (self.expression(variables, self.one(0, 0, depth)) for _ in range(2))
        match self.chance.randrange(7):
            case 0 if variables:
                return a.FunctionCall("BOUND", (self.one(*variables),))
            case 1:
                return a.FunctionCall("SAMETERM", (one, other))
            case 2:
                return a.In(one, (other, self.value()))
            case _:
                return a.Comparison(self.one(*COMPARISONS), one, other)

    # Leaves

    def pattern(self, variables: Sequence[Any], source: Source) -> SourcedPattern:
        if self.is_one_in(12):
            return SourcedPattern(a.TriplePattern(self.subject(), self.predicate(), self.value()), source)
        one, *others = self.chance.sample(list(variables), len(variables))
        other = self.one(one, *others * 5) if others else one
        subject: Any = self.subject() if self.is_one_in(6) else one
        predicate: Any = self.one(*variables) if self.is_one_in(6) else self.predicate()
        value: Any = self.value() if self.is_one_in(6) else other
        return SourcedPattern(a.TriplePattern(subject, predicate, value), source)

    def conjunction(self) -> n.Solutions:
        variables: list[Any] = [*self.some(VARIABLES, 2), *[BlankNode("b")] * self.is_one_in(8)]
        patterns = [self.pattern(variables, self.one(*self.sources)) for _ in range(self.one(1, 1, 1, 2, 2, 3))]
        shape = self.chance.randrange(12)
        if shape == 0:
            patterns = self.with_dataset_below()
        elif shape < 4:
            patterns = self.in_parts()
        whole = Conjunction(tuple(patterns), (), ())
        named = [v for v in whole.variables if isinstance(v, Variable)]
        filters = tuple(self.filter_of(patterns, named) for _ in range(self.one(0, 0, 0, 1, 1, 2)))
        projection = self.one(tuple(named), tuple(named), self.some(named), (*self.some(named), Variable("never")))
        return n.Solutions(Conjunction(whole.patterns, filters, projection))

    def filter_of(self, patterns: Sequence[SourcedPattern], named: Sequence[Variable]) -> a.Expression:
        """Of all variables, of those of one pattern, or of one that nothing binds."""
        ours = [v for v in self.one(*patterns).variables if isinstance(v, Variable)]
        return self.test(self.one(named, ours, ours, [*named, *VARIABLES[: self.is_one_in(4)]]))

    def in_parts(self) -> list[SourcedPattern]:
        """Patterns that share nothing, or not all."""
        some = self.chance.sample(VARIABLES, 4)
        return [self.pattern(some[i : i + 2], self.one(*self.sources)) for i in (0, 2, *self.some((0, 2)))]

    def with_dataset_below(self) -> list[SourcedPattern]:
        """A window joined with what may be a sub-query of a dataset that is joined apart."""
        one, two, three, four = self.chance.sample(VARIABLES, 4)
        window, graph = self.one(*WINDOWS), self.one(*GRAPHS)
        self.sources = list(dict.fromkeys([*self.sources, window, graph]))
        ends: list[tuple[Any, Any, Source]] = [(one, two, window), (two, three, graph), (three, four, graph)]
        ends.append((four, self.value(), graph))
        return [SourcedPattern(a.TriplePattern(s, self.predicate(), o), source) for s, o, source in ends]

    def leaf(self) -> n.Node:
        match self.chance.randrange(12):
            case 0:
                variables = self.some(VARIABLES, 1)
                rows = [
                    tuple(None if self.is_one_in(6) else self.value() for _ in variables)
                    for _ in range(self.one(0, 1, 2, 3))
                ]
                return n.Rows(variables, tuple(rows))
            case 1:
                s, p, o, g = (self.one(*VARIABLES) for _ in range(4))
                triple = a.TriplePattern(
                    self.one(s, s, self.subject()), self.one(p, self.predicate()), self.one(o, self.value())
                )
                whole = n.Quads(triple, g, self.one(None, None, NAMED[:1]))
                return n.Quads(triple, g, whole.named, self.some(whole.variables)) if self.is_one_in(3) else whole
            case 2:
                return self.arriving()
            case _:
                return self.conjunction()

    def arriving(self) -> n.Node:
        part = self.one(0, 1)
        if part not in self.parts:
            variables = self.some(VARIABLES, 1)
            self.parts[part] = n.ExchangeInput(part, variables, frozenset(self.some(variables)))
        return self.parts[part]

    # Nodes

    def plan(self) -> n.Node:
        node = self.node(self.one(0, 1, 2, 2, 3))
        # Keys are no terms that anybody sees.
        assert not any("key" in v.value for v in node.variables)
        match self.chance.randrange(8):
            case 0:
                return n.Ask(n.kept(node, ()))
            case 1 if node.variables:
                return self.template(node)
            case _:
                return node

    def template(self, node: n.Node) -> n.Node:
        tags = self.some(node.variables)[:1] if self.is_one_in(3) else ()

        def triple() -> a.TriplePattern:
            subject = self.one(*node.variables, self.subject())
            return a.TriplePattern(
                subject, self.one(self.predicate(), *node.variables), self.one(*node.variables, self.value())
            )

        return n.Template(node, tuple(triple() for _ in range(self.one(1, 2))), node.variables, tags)

    def node(self, depth: int) -> n.Node:
        if depth == 0:
            return self.leaf()
        left = self.node(depth - 1)
        match self.chance.randrange(16):
            case 0 | 1:
                return n.Join(left, self.node(self.chance.randrange(depth)))
            case 2:
                return self.optional(left, self.node(self.chance.randrange(depth)))
            case 3:
                right = self.node(self.chance.randrange(depth))
                both = joining.shared(left, right)
                overlap = () if any(v in left.certain and v in right.certain for v in both) else both
                return joining.unmatched(left, right, self.names, overlap) if both else left
            case 4:
                right = self.node(self.chance.randrange(depth))
                return self.marked(left, right)
            case 5 | 6:
                return n.Union(left, self.node(self.chance.randrange(depth)))
            case 7:
                return n.Distinct(left)
            case 8:
                return n.Filter(left, self.test(left.variables))
            case 9:
                return n.Extend(left, self.names.fresh("made"), self.expression(left.variables))
            case 10:
                chosen = self.some(left.variables)
                return n.Project(left, tuple((self.one(v, self.names.fresh("as")), v) for v in chosen))
            case 11 | 12:
                return self.group(left)
            case 13:
                return self.top(left)
            case 14:
                return self.closure(left)
            case _:
                return self.compared(left, self.node(self.chance.randrange(depth)))

    def optional(self, left: n.Node, right: n.Node) -> n.Node:
        columns = tuple(dict.fromkeys((*left.variables, *right.variables)))
        matched, identity = joining.matches(left, right, self.names)
        if self.is_one_in(2):
            matched = n.Filter(matched, self.test(columns))
        elif joining.is_sure(left, right):
            return n.Union(n.kept(matched, columns), joining.unmatched(left, right, self.names))
        return n.Union(n.kept(matched, columns), n.Unmatched(left, n.kept(matched, identity)))

    def marked(self, left: n.Node, right: n.Node) -> n.Node:
        """EXISTS as a column."""
        truth = self.names.fresh("truth")
        if joining.is_sure(left, right):
            both = joining.shared(left, right)
            return n.Marked(left, n.kept(right, both), truth, both)
        matched, identity = joining.matches(left, right, self.names)
        return n.Marked(left, n.kept(matched, identity), truth)

    def group(self, node: n.Node) -> n.Node:
        keys = self.some(node.variables)[: self.one(0, 1, 1, 2)]
        found: list[tuple[Variable, n.Aggregate]] = []
        for _ in range(self.one(1, 1, 2, 3)):
            name, distinct = self.names.fresh("aggregate"), self.is_one_in(3)
            if not node.variables or self.is_one_in(5):
                found.append((name, n.Aggregate("COUNT", None, distinct, None)))
            else:
                separator = self.one(None, "|")
                found.append((name, n.Aggregate(self.one(*FUNCTIONS), self.one(*node.variables), distinct, separator)))
        return n.Group(node, keys, tuple(found), self.some(node.variables))

    def top(self, node: n.Node) -> n.Node:
        conditions = tuple((v, self.is_one_in(2)) for v in self.some(node.variables)[:2])
        tag = self.one(None, None, *node.variables[:1])
        return n.TopK(node, conditions, self.some(node.variables), self.one(0, 0, 1, 2), self.one(None, 0, 1, 2, 3), tag)

    def closure(self, node: n.Node) -> n.Node:
        sure = [v for v in node.variables if v in node.certain]
        if len(sure) < 2:
            return n.Distinct(node)
        start, end = self.chance.sample(sure, 2)
        tags = tuple(v for v in sure if v not in (start, end))[: self.one(0, 0, 1)]
        names = {v: self.names.fresh("step") for v in (*tags, start, end)}
        columns = tuple((names[v], v) for v in (*tags, start, end))
        edges, zero = n.Distinct(n.Project(node, columns)), self.is_one_in(2)
        fixed = self.one(
            (None, None), (None, None), (self.subject(), None), (None, self.value()), (self.subject(), self.subject())
        )
        nodes: n.Node | None = None
        if zero and fixed == (None, None):
            ends = [n.Project(edges, tuple((v, v) for v in (*map(names.__getitem__, tags), names[e]))) for e in (start, end)]
            second = n.Project(ends[1], tuple(zip(ends[0].variables, ends[1].variables, strict=True)))
            nodes = n.Distinct(n.Union(ends[0], second))
        elif zero and tags and len({term for term in fixed if term is not None}) == 1:
            nodes = n.Distinct(n.Project(edges, tuple((names[v], names[v]) for v in tags)))
        demand, asks = None, None
        if fixed == (None, None) and self.is_one_in(2):
            asks = self.one("starts", "ends")
            asked = names[start if asks == "starts" else end]
            wanted = n.Filter(edges, self.test(edges.variables)) if self.is_one_in(2) else edges
            demand = n.Distinct(n.Project(wanted, tuple((v, v) for v in (*map(names.__getitem__, tags), asked))))
        found = map(names.__getitem__, (*tags, start, end))
        *tagged, first, last = found
        return n.Closure(edges, nodes, tuple(tagged), first, last, *fixed, zero, demand, asks)

    def compared(self, left: n.Node, right: n.Node) -> n.Node:
        """Two sides that share nothing, joined by a comparison."""
        right = n.Project(right, tuple((self.names.fresh("right"), v) for v in right.variables))
        if not left.certain or not right.certain:
            return n.Join(left, right)
        one, other = (self.one(*sorted(side.certain, key=str)) for side in (left, right))
        if self.is_one_in(2):
            return n.OrderedJoin(left, right, one, self.one("<", "<=", ">", ">="), other)
        key = self.names.fresh("key")
        columns = (*left.variables, *right.variables)
        whole = n.Join(n.EqualityKey(left, key, one), n.EqualityKey(right, key, other))
        return n.kept(n.Filter(whole, a.Comparison("=", one, other)), columns)
