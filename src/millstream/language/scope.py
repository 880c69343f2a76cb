"""Which variables a pattern or expression mentions (section 18.2.1), and rewriting of expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from millstream.language import algebra as a


def in_scope(pattern: a.Pattern) -> tuple[Variable, ...]:
    """The variables a solution of the pattern may bind, in order of appearance."""
    return tuple(v for v in _bindable(pattern) if isinstance(v, Variable))


def bindable(pattern: a.Pattern) -> frozenset[Variable | BlankNode]:
    """In-scope variables and blank nodes: all that joins on."""
    return frozenset(_bindable(pattern))


def _bindable(pattern: a.Pattern) -> dict[Variable | BlankNode, None]:
    found: dict[Variable | BlankNode, None] = {}
    _collect(pattern, found)
    return found


def _collect(pattern: a.Pattern, found: dict[Variable | BlankNode, None]) -> None:
    match pattern:
        case a.BGP(triples):
            for t in triples:
                found.update(_variables((t.subject, t.predicate, t.object)))
        case a.Path(subject, _, object_):
            found.update(_variables((subject, object_)))
        case a.Join(left, right) | a.LeftJoin(left, right) | a.Union(left, right):
            _collect(left, found)
            _collect(right, found)
        case a.Minus(left, _):
            _collect(left, found)
        case a.Graph(name, inner) | a.Service(name, inner):
            found.update(_variables((name,)))
            _collect(inner, found)
        case a.Extend(inner, variable, _):
            _collect(inner, found)
            found[variable] = None
        case a.Values(variables, _) | a.Project(_, variables):
            found.update(dict.fromkeys(variables))
        case a.Group(_, keys, aggregates):
            found.update((v, None) for v, _ in keys)
            found.update((v, None) for v, _ in aggregates)
        case a.Filter(_, inner) | a.Window(_, inner):
            _collect(inner, found)
        case a.OrderBy(inner, _) | a.Distinct(inner) | a.Reduced(inner) | a.Slice(inner, _, _):
            _collect(inner, found)


def _variables(terms: tuple[a.PatternTerm, ...]) -> Iterator[tuple[Variable | BlankNode, None]]:
    return ((t, None) for t in terms if isinstance(t, Variable | BlankNode))


def children(expression: a.Expression) -> tuple[a.Expression, ...]:
    """The expressions directly inside one."""
    match expression:
        case a.Or(left, right) | a.And(left, right):
            return (left, right)
        case a.Comparison(_, left, right) | a.Arithmetic(_, left, right):
            return (left, right)
        case a.Not(operand) | a.UnaryPlus(operand) | a.UnaryMinus(operand):
            return (operand,)
        case a.In(operand, choices):
            return (operand, *choices)
        case a.FunctionCall(_, arguments):
            return arguments
        case a.Aggregate(_, operand):
            return () if operand is None else (operand,)
        case _:
            return ()


def exists_in(expression: a.Expression) -> list[a.Exists]:
    """The EXISTS tests of an expression, from left to right."""
    if isinstance(expression, a.Exists):
        return [expression]
    return [e for child in children(expression) for e in exists_in(child)]


def expressions_of(pattern: a.Pattern) -> tuple[a.Expression, ...]:
    """The expressions that stand directly in a pattern."""
    match pattern:
        case a.Filter(expression, _) | a.Extend(_, _, expression):
            return (expression,)
        case a.LeftJoin(_, _, expression):
            return () if expression is None else (expression,)
        case a.Group(_, keys, aggregates):
            return (*(e for _, e in keys), *(g for _, g in aggregates))
        case a.OrderBy(_, conditions):
            return tuple(c.expression for c in conditions)
        case _:
            return ()


def sub_patterns(pattern: a.Pattern) -> tuple[a.Pattern, ...]:
    """The patterns that stand directly in a pattern."""
    match pattern:
        case a.Join(left, right) | a.LeftJoin(left, right) | a.Union(left, right) | a.Minus(left, right):
            return (left, right)
        case a.BGP() | a.Path() | a.Values():
            return ()
        case _:
            return (pattern.pattern,)


def rebuilt(
    pattern: a.Pattern, inner: Callable[[a.Pattern], a.Pattern], expression: Callable[[a.Expression], a.Expression]
) -> a.Pattern:
    """The pattern with all that stands directly in it changed: patterns first, then expressions, in order."""
    match pattern:
        case a.BGP() | a.Path() | a.Values():
            return pattern
        case a.Join(left, right) | a.Union(left, right) | a.Minus(left, right):
            return replace(pattern, left=inner(left), right=inner(right))
        case a.LeftJoin(left, right, condition):
            return a.LeftJoin(inner(left), inner(right), None if condition is None else expression(condition))
        case a.Filter(computed, below) | a.Extend(below, _, computed):
            return replace(pattern, pattern=inner(below), expression=expression(computed))
        case a.Group(below, keys, aggregates):
            return a.Group(
                inner(below),
                tuple((v, expression(e)) for v, e in keys),
                tuple((v, g if g.operand is None else replace(g, operand=expression(g.operand))) for v, g in aggregates),
            )
        case a.OrderBy(below, conditions):
            return a.OrderBy(inner(below), tuple(replace(c, expression=expression(c.expression)) for c in conditions))
        case _:
            return replace(pattern, pattern=inner(pattern.pattern))


def rewrite(expression: a.Expression, change: Callable[[a.Expression], a.Expression | None]) -> a.Expression:
    """The expression with every part for which `change` gives something replaced by that; the outermost wins."""
    changed = change(expression)
    if changed is not None:
        return changed

    def inner(e: a.Expression) -> a.Expression:
        return rewrite(e, change)

    match expression:
        case a.Or(left, right) | a.And(left, right):
            return replace(expression, left=inner(left), right=inner(right))
        case a.Comparison(_, left, right) | a.Arithmetic(_, left, right):
            return replace(expression, left=inner(left), right=inner(right))
        case a.Not(operand) | a.UnaryPlus(operand) | a.UnaryMinus(operand):
            return replace(expression, operand=inner(operand))
        case a.In(operand, choices):
            return a.In(inner(operand), tuple(inner(c) for c in choices))
        case a.FunctionCall(_, arguments):
            return replace(expression, arguments=tuple(inner(x) for x in arguments))
        case a.Aggregate(_, operand):
            return expression if operand is None else replace(expression, operand=inner(operand))
        case Variable() | NamedNode() | Literal() | a.Exists():
            return expression


def mentioned(expression: a.Expression) -> frozenset[Variable]:
    """The variables an expression reads, those of its EXISTS patterns included."""
    match expression:
        case Variable():
            return frozenset((expression,))
        case a.Exists(pattern):
            return frozenset(in_scope(pattern))
        case _:
            return frozenset().union(*(mentioned(c) for c in children(expression)))


def outside_aggregates(expression: a.Expression) -> frozenset[Variable]:
    """The variables an expression reads other than through an aggregate."""
    match expression:
        case a.Aggregate():
            return frozenset()
        case Variable():
            return frozenset((expression,))
        case _:
            return frozenset().union(*(outside_aggregates(c) for c in children(expression)))


def aggregates_in(expression: a.Expression) -> Iterator[a.Aggregate]:
    if isinstance(expression, a.Aggregate):
        yield expression
    else:
        for child in children(expression):
            yield from aggregates_in(child)
