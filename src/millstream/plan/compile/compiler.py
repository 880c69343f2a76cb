"""From the algebra to the plan: each operator of section 18 of the recommendation as nodes.

Conjunctions are kept together: joins, filters, windows and graphs flatten into as few leaves as their variables connect
(`conjunction_parts`), and only what is left becomes a join of deltas.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from millstream.errors import Place, UnsupportedQueryError
from millstream.language import algebra as a
from millstream.language.scope import exists_in, in_scope, mentioned, rewrite
from millstream.plan.compile import existence, joining, paths
from millstream.plan.compile.emptiness import has_solutions_of_nothing
from millstream.plan.compile.scopes import NamedGraphs, Names, Scope, default_source, graph_source
from millstream.plan.conjunction import GraphSource, Source, SourcedPattern, WindowSource, conjuncts
from millstream.plan.instances import Instances
from millstream.plan.nodes import (
    TRUTH,
    Aggregate,
    Ask,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    Node,
    Ordered,
    Project,
    Quads,
    Rows,
    Template,
    TopK,
    Union,
    Unmatched,
    kept,
)

UNIT = Rows((), ((),))
_BOOLEAN = NamedNode("http://www.w3.org/2001/XMLSchema#boolean")
SUB_QUERY = (a.Project, a.Group, a.Distinct, a.Reduced, a.OrderBy)


def compiled(query: a.Query, places: Collection[int] = ()) -> Node:
    """The nodes of a query, constants at some places lifted; see `millstream.plan.passes`."""
    if query.form is a.Form.DESCRIBE:
        raise _refused(query, "DESCRIBE", "Write a CONSTRUCT with the triples you want of each resource.", query.place)
    windows = {w.stream.value for w in query.windows}
    if query.form is a.Form.CONSTRUCT and query.output is a.Output.RSTREAM and query.name in windows:
        what = "a CONSTRUCT with RSTREAM that reads its own stream, which would answer itself without end"
        raise _refused(query, what, "Write ISTREAM, which gives what is new alone.", query.place)
    compiler = Compiler(query, places)
    instances = compiler.instances
    conditions: tuple[tuple[Variable, bool], ...] = ()
    if query.form is a.Form.SELECT:
        node, conditions = compiler.select(query.pattern, compiler.outermost)
    else:
        node = compiler.compile(query.pattern, compiler.outermost)
    if instances:
        instances.check_told_apart(node)
    tags = instances.tags(node)
    match query.form:
        case a.Form.ASK:
            return _asked(kept(node, tags), instances) if tags else Ask(kept(node, ()))
        case a.Form.CONSTRUCT:
            node = instances.with_template(node, query.template)
            columns = (*tags, *_read_by(query), *(v for v in node.variables if v in instances.constants))
            return Distinct(Template(kept(node, columns), query.template, columns, tags))
        case _:
            seen = (*tags, *query.variables)
            if not conditions:
                return kept(node, seen)
            keys = tuple(key for key, _ in conditions if key not in query.variables)
            node = kept(node, (*seen, *dict.fromkeys(keys)))
            return Ordered(node, conditions, len(seen))


def _read_by(construct: a.Query) -> tuple[Variable, ...]:
    """What of a solution says which triples a template makes: all of it, where it makes blank nodes."""
    if any(_blanks(triple) for triple in construct.template):
        return construct.variables
    read = {term for t in construct.template for term in (t.subject, t.predicate, t.object)}
    return tuple(v for v in construct.variables if v in read)


def _asked(node: Node, instances: Instances) -> Node:
    """ASK for each instance: whether it has a solution."""
    some = Distinct(node)
    none = Unmatched(instances.domain, kept(some, instances.domain.variables))
    found = [Extend(part, TRUTH, Literal(truth, datatype=_BOOLEAN)) for part, truth in ((some, "true"), (none, "false"))]
    return Union(found[0], found[1])


def _refused(query: a.Query, what: str, instead: str, place: Place | None) -> UnsupportedQueryError:
    return UnsupportedQueryError(what, instead=instead, text=query.text, place=place or query.place)


class Compiler:
    """Compiles the patterns of one query."""

    def __init__(self, query: a.Query, places: Collection[int] = ()) -> None:
        self.query = query
        self.names = Names(query.text)
        self.instances = Instances(places, self.names)
        self.outermost = Scope(self.names, default_source(query))

    def compile(self, pattern: a.Pattern, scope: Scope) -> Node:
        if isinstance(pattern, SUB_QUERY) and scope.given != scope.alone.given:
            # A sub-query is evaluated by itself first: its variables are its own unless it selects them.
            return self._within(self.compile(pattern, scope.alone), scope)
        match pattern:
            case a.BGP() | a.Join() | a.Path():
                return self._group(pattern, scope)
            case a.Filter(expression):
                return self._group(pattern, scope) if not exists_in(expression) else self._filter(pattern, scope)
            case a.Window(window, inner):
                return self._within(self.compile(inner, scope.over(WindowSource(window))), scope)
            case a.Graph(name, inner):
                if isinstance(name, Variable):
                    return self._within(self._named_graphs(name, inner, scope), scope)
                source = graph_source(self.query, name)
                node = self.compile(inner, scope.over(source))
                return self._within(Join(node, self._exists(source)) if has_solutions_of_nothing(inner) else node, scope)
            case a.LeftJoin(left, right, expression):
                return self._left_join(self.compile(left, scope), self.compile(right, scope), expression, scope)
            case a.Minus(left, right):
                return self._minus(self.compile(left, scope), self.compile(right, scope), scope)
            case a.Union(left, right):
                one, other = self.compile(left, scope), self.compile(right, scope)
                self.instances.check_sides(one, other)
                self.instances.check_sides(other, one)
                return Union(one, other)
            case a.Extend(inner, variable, expression):
                node, expression = self._with_exists(self.compile(inner, scope), expression, scope)
                return self.instances.without_constants(Extend(node, variable, expression))
            case a.Values(variables, rows):
                return self._within(Rows(variables, rows), scope)
            case a.Group():
                return self._aggregation(pattern, scope)
            case a.Project(inner, variables):
                node = self.compile(inner, scope)
                given = (g for g in scope.given if g not in variables)
                return kept(node, (*variables, *given, *self.instances.tags(node)))
            case a.Distinct(inner):
                return Distinct(self.compile(inner, scope))
            case a.Reduced(inner) | a.OrderBy(inner):
                # An order matters where it chooses rows, and at the root.
                return self.compile(inner, scope)
            case a.Slice():
                node = self.select(pattern, scope)[0]
                return kept(node, (*in_scope(pattern), *self.instances.tags(node)))
            case a.Service():
                instead = "Load what it gives with --dataset or engine.load, or let it arrive as a stream."
                raise _refused(self.query, "SERVICE", instead, pattern.place)

    def _within(self, node: Node, scope: Scope) -> Node:
        """A node that knows nothing of the values given, for each of them."""
        if scope.domain is None or set(scope.given) <= set(node.variables):
            return node
        return scope.domain if node == UNIT else Join(node, scope.domain)

    # Groups -----------------------------------------------------------------------------------------------------------

    def _group(self, pattern: a.Pattern, scope: Scope) -> Node:
        """Joins and filters: conjunctions together, the rest joined to them."""
        patterns: list[SourcedPattern] = []
        others: list[Node] = []
        filters: list[a.Expression] = []
        last: list[a.Expression] = []
        while isinstance(pattern, a.Filter) and not exists_in(pattern.expression):
            # Nothing is joined behind these: they see all that there is.
            last = [*self._filters(pattern, scope), *last]
            pattern = pattern.pattern
        self._gather(pattern, scope, patterns, others, filters)
        filters.extend(last)
        known = {v for part in (*patterns, *others) for v in part.variables}
        if scope.domain is not None and not known.issuperset(scope.given):
            others.append(scope.domain)
        patterns.extend(self.instances.patterns_for(patterns, others, filters))
        # A blank node is a variable to all that share it; where only triple patterns do, it stays what it is.
        outside = {v for node in others for v in node.variables}
        patterns = [p if not _blanks(p.triple) else self._joinable(p, outside) for p in patterns]
        # The same pattern twice over the same source says nothing new: a window's content is a set.
        node = joining.joined(tuple(dict.fromkeys(patterns)), others, tuple(dict.fromkeys(filters)), self.names)
        return self.instances.without_constants(node)

    def _joinable(self, pattern: SourcedPattern, outside: set[Variable]) -> SourcedPattern:
        terms = (pattern.triple.subject, pattern.triple.object)
        named = [t if (v := self._without_blank(t)) not in outside else v for t in terms]
        return replace(pattern, triple=replace(pattern.triple, subject=named[0], object=named[1]))

    def _gather(
        self,
        pattern: a.Pattern,
        scope: Scope,
        patterns: list[SourcedPattern],
        others: list[Node],
        filters: list[a.Expression],
    ) -> None:
        match pattern:
            case a.BGP(triples):
                if isinstance(scope.source, NamedGraphs):
                    graph, named = scope.source.variable, scope.source.named
                    others.extend(Quads(self._without_blanks(t), graph, named) for t in triples)
                else:
                    patterns.extend(SourcedPattern(t, scope.source) for t in triples)
            case a.Join(left, right):
                self._gather(left, scope, patterns, others, filters)
                self._gather(right, scope, patterns, others, filters)
            case a.Filter(expression, inner) if not exists_in(expression) and _may_wait(pattern):
                self._gather(inner, scope, patterns, others, filters)
                filters.extend(self._filters(pattern, scope))
            case a.Window(window, inner) if scope.domain is None:
                self._gather(inner, scope.over(WindowSource(window)), patterns, others, filters)
            case a.Graph(NamedNode() as name, inner) if scope.domain is None:
                source = graph_source(self.query, name)
                self._gather(inner, scope.over(source), patterns, others, filters)
                if has_solutions_of_nothing(inner):
                    others.append(self._exists(source))
            case a.Path(subject, path, object_):
                ends = (self._without_blank(subject), self._without_blank(object_))
                others.append(paths.path_node(ends[0], path, ends[1], scope))
            case _:
                others.append(self.compile(pattern, scope))

    def _without_blank(self, term: a.PatternTerm) -> Variable | a.Term:
        return self.names.of_blank(term.value) if isinstance(term, BlankNode) else term

    def _without_blanks(self, triple: a.TriplePattern) -> a.TriplePattern:
        subject, object_ = self._without_blank(triple.subject), self._without_blank(triple.object)
        return replace(triple, subject=subject, object=object_)

    def _filters(self, pattern: a.Filter, scope: Scope) -> list[a.Expression]:
        """A filter's conjuncts; what its own group cannot bind stays unbound for it, whatever others bind."""
        expression, bound = pattern.expression, {*in_scope(pattern.pattern), *scope.given, *self.instances.constants}
        unbound = {v: self.names.fresh("unbound") for v in mentioned(expression) - bound}

        def change(part: a.Expression) -> a.Expression | None:
            return unbound.get(part) if isinstance(part, Variable) else None

        return conjuncts(rewrite(expression, change) if unbound else expression)

    def _filter(self, pattern: a.Filter, scope: Scope) -> Node:
        node = self.compile(pattern.pattern, scope)
        # What needs no look elsewhere comes first.
        parts = sorted(conjuncts(pattern.expression), key=lambda part: bool(exists_in(part)))
        columns = node.variables
        for part in parts:
            match part:
                case a.Exists(inner):
                    node = existence.having(self, node, inner, scope)
                case a.Not(a.Exists(inner)):
                    node = existence.lacking(self, node, inner, scope)
                case _:
                    node, tested = self._with_exists(node, part, scope)
                    node = joining.filtered(node, tested)
        return kept(node, columns)

    def _with_exists(self, node: Node, expression: a.Expression, scope: Scope) -> tuple[Node, a.Expression]:
        """The node with a column for each EXISTS of an expression, and the expression that reads them."""
        node = self.instances.with_constants(node, expression)
        marks: dict[a.Exists, Variable] = {}
        for exists in exists_in(expression):
            if exists not in marks:
                marks[exists] = self.names.fresh("exists")
                node = existence.marked(self, node, exists.pattern, marks[exists], scope)

        def change(part: a.Expression) -> a.Expression | None:
            return marks.get(part) if isinstance(part, a.Exists) else None

        return node, rewrite(expression, change) if marks else expression

    def _named_graphs(self, name: Variable, inner: a.Pattern, scope: Scope) -> Node:
        """GRAPH ?g: inside, the name is a column of its own; outside it meets the variable."""
        tag = self.names.fresh("graph")
        named = self.query.dataset.named
        inside = scope.over(NamedGraphs(tag, named))
        node = self.compile(inner, inside)
        if name in node.variables:
            both = self.names.fresh("graph")
            node = Extend(node, both, a.FunctionCall("COALESCE", (name, tag)))
            node = Filter(node, a.FunctionCall("SAMETERM", (both, tag)))
        others = tuple(v for v in node.variables if v not in (name, tag))
        return Project(node, ((name, tag), *((v, v) for v in others)))

    def _exists(self, source: Source) -> Node:
        """One row without columns while a graph has a triple: there are no empty graphs with a name."""
        if not isinstance(source, GraphSource) or source.graph is None:
            return Rows((), ())
        s, p, o, graph = (self.names.fresh(place) for place in ("s", "p", "o", "graph"))
        return Distinct(kept(Quads(a.TriplePattern(s, p, o), graph, (source.graph,)), ()))

    # Optional and negation --------------------------------------------------------------------------------------------

    def _left_join(self, left: Node, right: Node, expression: a.Expression | None, scope: Scope) -> Node:
        self.instances.check_sides(left, right)
        columns = tuple(dict.fromkeys((*left.variables, *right.variables)))
        matched, identity = joining.matches(left, right, self.names)
        if expression is not None:
            parts = sorted(conjuncts(expression), key=lambda part: bool(exists_in(part)))
            for part in parts:
                matched, tested = self._with_exists(matched, part, scope)
                matched = Filter(matched, tested)
        if expression is None and joining.is_sure(left, right):
            return Union(kept(matched, columns), joining.unmatched(left, right, self.names))
        return Union(kept(matched, columns), Unmatched(left, kept(matched, identity)))

    def _minus(self, left: Node, right: Node, scope: Scope) -> Node:
        compared = tuple(v for v in joining.shared(left, right) if v not in (*scope.given, self.instances.variable))
        if not compared:
            return left
        self.instances.check_sides(left, right)
        overlap = () if any(v in left.certain and v in right.certain for v in compared) else compared
        return joining.unmatched(left, right, self.names, overlap)

    # Solution modifiers -----------------------------------------------------------------------------------------------

    def _aggregation(self, group: a.Group, scope: Scope) -> Node:
        node = self.compile(group.pattern, scope)
        solution = tuple(v for v in in_scope(group.pattern) if v in node.variables)
        keys: list[Variable] = []
        for variable, expression in group.keys:
            if expression != variable or variable not in node.variables:
                node, expression = self._with_exists(node, expression, scope)
                if variable in node.variables:
                    # GROUP BY (... AS ?x) where ?x is bound inside is refused by the grammar's rules already.
                    raise AssertionError(variable)
                node = Extend(node, variable, expression)
            keys.append(variable)
        keys.extend(g for g in scope.given if g not in keys)
        keys.extend(self.instances.tags(node))
        aggregates: list[tuple[Variable, Aggregate]] = []
        operands: dict[a.Expression, Variable] = {}
        for variable, aggregate in group.aggregates:
            operand = aggregate.operand
            if operand is not None and not (isinstance(operand, Variable) and operand in node.variables):
                if operand not in operands:
                    operands[operand] = self.names.fresh("operand")
                    node, computed = self._with_exists(node, operand, scope)
                    node = Extend(node, operands[operand], computed)
                operand = operands[operand]
            if not isinstance(aggregate.function, str):
                what, instead = f"the aggregate {aggregate.function}", "Use one of SPARQL's own, or MEDIAN."
                raise _refused(self.query, what, instead, aggregate.place)
            assert operand is None or isinstance(operand, Variable)
            made = Aggregate(aggregate.function, operand, aggregate.distinct, aggregate.separator)
            aggregates.append((variable, made))
        whole = Group(node, tuple(keys), tuple(aggregates), solution)
        domain = scope.domain
        if self.instances.tags(node):
            domain = self.instances.domain if domain is None else Join(domain, self.instances.domain)
        if group.keys or domain is None:
            return whole
        # Without keys there is a group even where the pattern has no solutions: one for each combination of given values.
        missing = Unmatched(domain, kept(whole, domain.variables))
        return Union(whole, Join(missing, Group(Rows(node.variables, ()), (), tuple(aggregates), solution)))

    def select(self, pattern: a.Pattern, scope: Scope) -> tuple[Node, tuple[tuple[Variable, bool], ...]]:
        """Solution modifiers: the rows with the keys of their order, and which these are, each with whether it descends.

        A projection may have left rows without their keys, so these are computed below it.
        """
        bounds = pattern if isinstance(pattern, a.Slice) else None
        inner, distinct = pattern if bounds is None else bounds.pattern, False
        while isinstance(inner, a.Distinct | a.Reduced):
            distinct = distinct or isinstance(inner, a.Distinct)
            inner = inner.pattern
        projection = inner.variables if isinstance(inner, a.Project) else in_scope(inner)
        body = inner.pattern if isinstance(inner, a.Project) else inner
        conditions: tuple[a.OrderCondition, ...] = ()
        if isinstance(body, a.OrderBy):
            conditions, body = body.conditions, body.pattern
        if bounds is None and not conditions:
            return self.compile(pattern, scope), ()
        node = self.compile(body, scope)
        if distinct:
            hidden = {v for c in conditions for v in mentioned(c.expression)} & set(node.variables) - set(projection)
            node = Distinct(kept(node, (*projection, *self.instances.tags(node))))
            if hidden:
                # One of several equal rows would have to stand for all of them, each with a place of its own.
                if bounds is None:
                    return node, ()
                names = ", ".join(sorted(f"?{v.value}" for v in hidden))
                what = "SELECT DISTINCT with LIMIT or OFFSET, ordered by what it does not select"
                raise _refused(self.query, what, f"Select {names} as well, or order by what is selected.", None)
        keys: list[tuple[Variable, bool]] = []
        for condition in conditions:
            key = condition.expression
            if not (isinstance(key, Variable) and key in node.variables):
                variable = self.names.fresh("order")
                node, expression = self._with_exists(node, key, scope)
                node, key = Extend(node, variable, expression), variable
            keys.append((key, condition.descending))
        tags = self.instances.tags(node)
        node = kept(node, tuple(dict.fromkeys((*projection, *(key for key, _ in keys), *tags))))
        if bounds is not None:
            if scope.given:
                instead = "Take the LIMIT or OFFSET out of the GRAPH ?g or EXISTS block, or name the graph."
                raise _refused(self.query, "LIMIT or OFFSET inside of GRAPH ?g or a correlated EXISTS", instead, None)
            node = TopK(node, tuple(keys), projection, bounds.offset, bounds.limit, *tags)
        return node, tuple(keys)


def _may_wait(pattern: a.Filter) -> bool:
    """Whether a filter says the same once its group is joined with others: they must bind nothing that it leaves open."""
    inner = pattern.pattern
    return (mentioned(pattern.expression) & set(in_scope(inner))) <= existence.certain(inner)


def _blanks(triple: a.TriplePattern) -> bool:
    return isinstance(triple.subject, BlankNode) or isinstance(triple.object, BlankNode)
