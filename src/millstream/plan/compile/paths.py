"""Property paths (section 18.4): links, sequences and alternatives as joins and unions, repetition as a closure."""

from __future__ import annotations

from pyoxigraph import Variable

from millstream.language import algebra as a
from millstream.plan.compile.scopes import NamedGraphs, Scope
from millstream.plan.conjunction import Conjunction, SourcedPattern
from millstream.plan.nodes import Closure, Distinct, Extend, Filter, Join, Node, Project, Quads, Rows, Solutions, Union, kept

End = Variable | a.Term


def path_node(subject: End, path: a.PropertyPath, object_: End, scope: Scope) -> Node:
    """The pairs that a path connects: a column for each end that is a variable, after those of the graph's name."""
    if isinstance(subject, Variable) and subject == object_:
        other = scope.names.fresh("end")
        node = path_node(subject, path, other, scope)
        node = Filter(node, a.FunctionCall("SAMETERM", (subject, other)))
        return kept(node, tuple(v for v in node.variables if v != other))
    match path:
        case a.Link(predicate):
            return _triples(a.TriplePattern(subject, predicate, object_), scope)
        case a.Inverse(inner):
            return path_node(object_, inner, subject, scope)
        case a.Sequence(first, second):
            middle = scope.names.fresh("step")
            node = Join(path_node(subject, first, middle, scope), path_node(middle, second, object_, scope))
            return kept(node, tuple(v for v in node.variables if v != middle))
        case a.Alternative(left, right):
            return Union(path_node(subject, left, object_, scope), path_node(subject, right, object_, scope))
        case a.NegatedPropertySet(predicates):
            any_predicate = scope.names.fresh("predicate")
            node = _triples(a.TriplePattern(subject, any_predicate, object_), scope)
            ordered = tuple(sorted(predicates, key=lambda p: p.value))
            # Without an IRI nothing is excluded.
            node = Filter(node, a.Not(a.In(any_predicate, ordered))) if ordered else node
            return kept(node, tuple(v for v in node.variables if v != any_predicate))
        case a.ZeroOrOne(inner):
            return Distinct(Union(path_node(subject, inner, object_, scope), _zero_length(subject, object_, scope)))
        case a.ZeroOrMore(inner) | a.OneOrMore(inner):
            return _repeated(subject, inner, object_, scope, zero=isinstance(path, a.ZeroOrMore))


def _triples(triple: a.TriplePattern, scope: Scope) -> Node:
    if isinstance(scope.source, NamedGraphs):
        return Quads(triple, scope.source.variable, scope.source.named)
    pattern = SourcedPattern(triple, scope.source)
    variables = tuple(v for v in pattern.variables if isinstance(v, Variable))
    return Solutions(Conjunction((pattern,), (), variables))


def _nodes(variable: Variable, scope: Scope) -> Node:
    """All terms that are subject or object of a triple."""
    s, p, o = (Variable(f"{variable.value}_{place}") for place in "spo")
    triples = _triples(a.TriplePattern(s, p, o), scope)
    tags = _tags(scope)
    ends = [Project(triples, (*((t, t) for t in tags), (variable, end))) for end in (s, o)]
    return Distinct(Union(*ends))


def _tags(scope: Scope) -> tuple[Variable, ...]:
    return (scope.source.variable,) if isinstance(scope.source, NamedGraphs) else ()


def _graphs(node: Node, scope: Scope) -> Node:
    """Constant solutions, in every graph that there is."""
    return node if scope.graphs is None else Join(node, scope.graphs)


def _zero_length(subject: End, object_: End, scope: Scope) -> Node:
    """A path of length zero from every node to itself; a constant has one wherever it is."""
    match subject, object_:
        case Variable(), Variable():
            node = _nodes(subject, scope)
            return Extend(node, object_, subject)
        case Variable(), _:
            assert not isinstance(object_, Variable)
            return _graphs(Rows((subject,), ((object_,),)), scope)
        case _, Variable():
            assert not isinstance(subject, Variable)
            return _graphs(Rows((object_,), ((subject,),)), scope)
        case _:
            return _graphs(Rows((), ((),) if subject == object_ else ()), scope)


def _repeated(subject: End, inner: a.PropertyPath, object_: End, scope: Scope, *, zero: bool) -> Node:
    tags = _tags(scope)
    start, fixed_start = (subject, None) if isinstance(subject, Variable) else (scope.names.fresh("from"), subject)
    end, fixed_end = (object_, None) if isinstance(object_, Variable) else (scope.names.fresh("to"), object_)
    edges = Distinct(kept(path_node(start, inner, end, scope), (*tags, start, end)))
    nodes: Node | None = None
    if zero and fixed_start is None and fixed_end is None:
        nodes = kept(_nodes(start, scope), (*tags, start))
    elif zero and tags and (fixed_start is None or fixed_end is None or fixed_start == fixed_end):
        nodes = scope.graphs
    node = Closure(edges, nodes, tags, start, end, fixed_start, fixed_end, zero)
    return kept(node, (*tags, *(v for v in (subject, object_) if isinstance(v, Variable))))
