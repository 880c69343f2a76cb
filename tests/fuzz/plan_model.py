"""Plans evaluated naively: every node as its definition has it, over whatever its leaves hold, with terms as texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pyoxigraph import BlankNode, NamedNode, Variable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.language.scope import mentioned
from millstream.operators.aggregates.accumulators import AggregateSpec
from millstream.operators.expressions import Evaluator
from millstream.operators.expressions.values import comparison
from millstream.operators.expressions.values.values import ExpressionError, boolean, integer
from millstream.operators.ordering import order_key, term_key
from millstream.plan import nodes as n
from millstream.plan.conjunction import Conjunction, Source, SourcedPattern
from tests.operators.test_group_by import aggregate, value_of
from tests.operators.test_top_k import Reversed

Row: TypeAlias = tuple[str | None, ...]
Triple: TypeAlias = tuple[str, str, str]
Bindings: TypeAlias = dict[Any, str]
"""Values of variables; what is not there is unbound."""
MOST_ROWS = 400


class TooManyError(Exception):
    """More rows than recomputing them is worth."""


@dataclass
class Content:
    """What the leaves of plans can see at one instant."""

    sources: dict[Source, set[Triple]] = field(default_factory=dict)
    graphs: dict[str, set[Triple]] = field(default_factory=dict)
    parts: dict[int, Counter[Row]] = field(default_factory=dict)


class Model:
    """Answers of plans, found anew each time; it has a dictionary of its own, for expressions alone."""

    def __init__(self) -> None:
        self._dictionary = Dictionary()
        self._evaluator = Evaluator(self._dictionary)
        self._known: dict[Hashable, Any] = {}

    def answers(self, plan: n.Node, content: Content) -> Counter[Row]:
        """All rows of a plan, as a multiset."""
        found: dict[n.Node, Counter[Row]] = {}
        for node in n.in_order(plan):
            rows = self._rows(node, [found[i] for i in n.inputs_of(node)], content)
            found[node] = Counter({row: times for row, times in rows.items() if times})
            if found[node].total() > MOST_ROWS:
                raise TooManyError
        return found[plan]

    # Expressions

    def _defined(self, expression: a.Expression, bindings: Mapping[Any, str], *, truth: bool = False) -> str | None:
        """By the definition alone, without any kernel."""
        named = {v: text for v, text in bindings.items() if isinstance(v, Variable)}
        value_of = self._evaluator.definition(expression, list(named), truth=truth)
        found = value_of(tuple(self._dictionary.encode_one(text) for text in named.values()))
        return None if found < 0 else self._dictionary.decode_one(found)

    def passes(self, expression: a.Expression, bindings: Mapping[Any, str]) -> bool:
        """Whether a filter lets a solution pass."""
        key = True, id(expression), *sorted((str(v), text) for v, text in bindings.items())
        if key not in self._known:
            found = self._defined(expression, bindings, truth=True)
            self._known[key] = found is not None and found.startswith('"true"')
        return bool(self._known[key])

    def value(self, expression: a.Expression, bindings: Mapping[Any, str]) -> str | None:
        """What an expression comes to, None for an error."""
        key = False, id(expression), *sorted((str(v), text) for v, text in bindings.items())
        if key not in self._known:
            self._known[key] = self._defined(expression, bindings)
        known: str | None = self._known[key]
        return known

    # Conjunctions

    def matched(self, pattern: SourcedPattern, triple: Triple) -> Bindings | None:
        """What a pattern makes of a triple."""
        found: Bindings = {}
        terms = pattern.triple.subject, pattern.triple.predicate, pattern.triple.object
        for term, text in zip(terms, triple, strict=True):
            if isinstance(term, Variable | BlankNode):
                if found.setdefault(term, text) != text:
                    return None
            elif str(term) != text:
                return None
        return found

    def stored(self, whole: Conjunction, number: int, triple: Triple) -> bool:
        """Whether a triple is shown to a pattern: it matches, and passes the filters that ask for one variable."""
        bindings = self.matched(whole.patterns[number], triple)
        if bindings is None:
            return False
        bound = {v for v in whole.variables if isinstance(v, Variable)}
        single = [(f, mentioned(f) & bound) for f in whole.filters]
        return all(
            self.passes(f, {v: bindings[v] for v in ours})
            for f, ours in single
            if len(ours) == 1 and ours <= bindings.keys()
        )

    def _conjunction(self, whole: Conjunction, content: Content) -> Counter[Row]:
        solutions: list[Bindings] = [{}]
        for pattern in whole.patterns:
            triples = [self.matched(pattern, triple) for triple in content.sources.get(pattern.source, ())]
            matches = [found for found in triples if found is not None]
            solutions = [s | m for s in solutions for m in matches if all(s.get(v, text) == text for v, text in m.items())]
            if len(solutions) > 10 * MOST_ROWS:
                raise TooManyError
        passed = [s for s in solutions if all(self.passes(f, s) for f in whole.filters)]
        return Counter(tuple(s.get(v) for v in whole.projection) for s in passed)

    # Nodes

    def _rows(self, node: n.Node, given: list[Counter[Row]], content: Content) -> Counter[Row]:
        out: Counter[Row] = Counter()
        match node:
            case n.Solutions(whole):
                return self._conjunction(whole, content)
            case n.Quads(triple, graph, named):
                for name, triples in content.graphs.items():
                    if named is None or NamedNode(name[1:-1]) in named:
                        found = [self.matched(SourcedPattern(triple, None), t) for t in triples]
                        rows = [x | {graph: name} for x in found if x is not None and x.get(graph, name) == name]
                        out.update(tuple(x[v] for v in node.variables) for x in rows)
            case n.ExchangeInput(part):
                return content.parts.get(part, Counter())
            case n.Rows(_, rows):
                out.update(tuple(None if term is None else str(term) for term in row) for row in rows)
            case n.Extend(inner, _, expression):
                for row, times in given[0].items():
                    out[(*row, self.value(expression, _bound(inner.variables, row)))] += times
            case n.EqualityKey():
                # What has no key meets everything: the comparison behind the join is what counts.
                out.update({(*row, None): times for row, times in given[0].items()})
            case n.Filter(inner, expression):
                ours = ((row, t) for row, t in given[0].items() if self.passes(expression, _bound(inner.variables, row)))
                out.update(dict(ours))
            case n.Project(inner, columns):
                for row, times in given[0].items():
                    bindings = _bound(inner.variables, row)
                    out[tuple(bindings.get(column) for _, column in columns)] += times
            case n.Distinct():
                out.update(given[0].keys())
            case n.Union(left, right):
                for side, rows in zip((left, right), given, strict=True):
                    for row, times in rows.items():
                        out[tuple(_bound(side.variables, row).get(v) for v in node.variables)] += times
            case n.Join():
                return _join(node, *given)
            case n.OrderedJoin(left, right, one, operator, other):
                for x, times in given[0].items():
                    for y, more in given[1].items():
                        if _compares(operator, x[left.variables.index(one)], y[right.variables.index(other)]):
                            out[x + y] += times * more
            case n.Unmatched(left, _, on) | n.Marked(left, _, _, on):
                for row, times in given[0].items():
                    is_there = (row if on is None else tuple(_bound(left.variables, row).get(v) for v in on)) in given[1]
                    if isinstance(node, n.Marked):
                        out[(*row, boolean(is_there).text())] += times
                    elif not is_there:
                        out[row] += times
            case n.Group():
                return _grouped(node, given[0])
            case n.TopK():
                return _first(node, given[0])
            case n.Closure():
                out.update(_paths(node, dict(zip(n.inputs_of(node), given, strict=True))))
            case n.Template(inner, triples, _, tags):
                for row in given[0].elements():
                    out.update(_made(triples, tags, _bound(inner.variables, row)))
            case n.Ask():
                out[(boolean(bool(given[0])).text(),)] = 1
            case _:
                raise TypeError(node)
        return out


def _bound(variables: Iterable[Variable], row: Row) -> Bindings:
    return {v: text for v, text in zip(variables, row, strict=True) if text is not None}


def _join(node: n.Join, left: Counter[Row], right: Counter[Row]) -> Counter[Row]:
    out: Counter[Row] = Counter()
    variables = tuple(dict.fromkeys((*node.left.variables, *node.right.variables)))
    for x, times in left.items():
        for y, more in right.items():
            a_side, b_side = _bound(node.left.variables, x), _bound(node.right.variables, y)
            common = a_side.keys() & b_side.keys()
            if all(a_side[v] == b_side[v] for v in common) and (not node.overlap or common & set(node.overlap)):
                whole = a_side | b_side
                out[(*(whole.get(v) for v in variables), *(a_side.get(v) for _, v in node.copies))] += times * more
                if len(out) > 10 * MOST_ROWS:
                    raise TooManyError
    return out


def _compares(operator: str, left: str | None, right: str | None) -> bool:
    if left is None or right is None:
        return False
    try:
        return comparison.compare(operator, value_of(left), value_of(right))
    except ExpressionError:
        return False


def _grouped(node: n.Group, rows: Counter[Row]) -> Counter[Row]:
    variables = node.input.variables
    groups: dict[Row, list[Bindings]] = {} if node.keys else {(): []}
    for row in rows.elements():
        bindings = _bound(variables, row)
        groups.setdefault(tuple(bindings.get(v) for v in node.keys), []).append(bindings)
    out: Counter[Row] = Counter()
    for key, members in groups.items():
        found = []
        for _, wanted in node.aggregates:
            if wanted.operand is None:
                solutions = [tuple(m.get(v) for v in node.solution) for m in members]
                found.append(integer(len(set(solutions)) if wanted.distinct else len(solutions)).text())
            else:
                # As an operator has it: SPARQL's default is a space.
                spec = AggregateSpec(
                    wanted.function, 0, wanted.distinct, " " if wanted.separator is None else wanted.separator
                )
                found.append(aggregate(spec, [m.get(wanted.operand) for m in members]))
        out[(*key, *found)] += 1
    return out


def _first(node: n.TopK, rows: Counter[Row]) -> Counter[Row]:
    variables = node.variables

    def key(row: Row) -> tuple[Any, ...]:
        values = {v: None if text is None else value_of(text) for v, text in zip(variables, row, strict=True)}
        conditions = [(order_key(values[v]), down) for v, down in node.conditions]
        rest = [term_key(values[v]) for v in (*node.completion, *variables)]
        return (*(Reversed(k) if down else k for k, down in conditions), *rest)

    orders: dict[str | None, list[Row]] = {}
    for row in sorted(rows.elements(), key=key):
        orders.setdefault(None if node.tag is None else row[variables.index(node.tag)], []).append(row)
    last = None if node.limit is None else node.offset + node.limit
    return Counter(row for some in orders.values() for row in some[node.offset : last])


def _paths(node: n.Closure, given: Mapping[n.Node, Counter[Row]]) -> set[Row]:
    tags = len(node.tags)
    fixed = tuple(None if term is None else str(term) for term in (node.fixed_start, node.fixed_end))
    edges = set(given[node.edges])
    found = set(edges)
    while True:
        more = {(*x[:-1], y[-1]) for x in found for y in edges if x[:tags] == y[:tags] and x[-1] == y[-2]} - found
        if not more:
            break
        found |= more
    if node.zero_length:
        ends = {text for text in fixed if text is not None}
        if not ends:
            assert node.nodes is not None
            found |= {(*row, row[-1]) for row in given[node.nodes]}
        elif len(ends) == 1:
            (end,) = ends
            found |= {(*row, end, end) for row in (given[node.nodes] if node.nodes is not None else [()])}
    if node.demand is not None:
        place = -2 if node.asks == "starts" else -1
        found = {row for row in found if (*row[:tags], row[place]) in given[node.demand]}
    return {row for row in found if all(text in (None, row[place]) for place, text in zip((-2, -1), fixed, strict=True))}


def _made(triples: Iterable[a.TriplePattern], tags: tuple[Variable, ...], bindings: Bindings) -> list[Row]:
    """The triples of a template that can be made."""
    made = []
    for triple in triples:
        terms = (triple.subject, triple.predicate, triple.object)
        texts = [bindings.get(t) if isinstance(t, Variable) else str(t) for t in terms]
        subject, predicate, value = texts
        if (
            value is not None
            and subject is not None
            and subject[0] in "<_"
            and predicate is not None
            and predicate[0] == "<"
        ):
            made.append((*(bindings.get(v) for v in tags), *texts))
    return made
