"""EXISTS: which solutions of a pattern have a partner in another.

By section 18.6 the values of the outer solution take the place of variables inside. Where the inner pattern just binds
those variables, that is a join. Where it does more with them (a filter reads one that its group does not bind, one stands
in an OPTIONAL or a MINUS), the inner pattern is evaluated for each combination of values that the outer one has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyoxigraph import Variable

from millstream.language import algebra as a
from millstream.language.scope import exists_in, expressions_of, in_scope, mentioned, sub_patterns
from millstream.plan.compile import joining
from millstream.plan.compile.scopes import Names, Scope
from millstream.plan.nodes import Distinct, Filter, Join, Marked, Node, kept

if TYPE_CHECKING:
    from millstream.plan.compile.compiler import Compiler


def marked(compiler: Compiler, left: Node, pattern: a.Pattern, variable: Variable, scope: Scope) -> Node:
    """The left solutions with a column that says whether the pattern has a solution for them."""
    return _marked(left, _partners(compiler, left, pattern, scope), variable, compiler.names)


def having(compiler: Compiler, left: Node, pattern: a.Pattern, scope: Scope) -> Node:
    """The left solutions that the pattern has a solution for."""
    right = _partners(compiler, left, pattern, scope)
    if joining.is_sure(left, right):
        return Join(left, Distinct(kept(right, joining.shared(left, right))))
    mark = compiler.names.fresh("exists")
    return Filter(_marked(left, right, mark, compiler.names), mark)


def lacking(compiler: Compiler, left: Node, pattern: a.Pattern, scope: Scope) -> Node:
    """The left solutions that the pattern has no solution for."""
    return joining.unmatched(left, _partners(compiler, left, pattern, scope), compiler.names)


def _marked(left: Node, right: Node, variable: Variable, names: Names) -> Node:
    shared = joining.shared(left, right)
    if joining.is_sure(left, right):
        return Marked(left, kept(right, shared), variable, shared)
    matched, identity = joining.matches(left, Distinct(kept(right, shared)), names)
    return Marked(left, kept(matched, identity), variable)


def _partners(compiler: Compiler, left: Node, pattern: a.Pattern, scope: Scope) -> Node:
    """Solutions of the pattern: a left solution has one if it is compatible with one of these."""
    outer = frozenset(left.variables) - frozenset(scope.given)
    inside = scope
    if _replaced(pattern, outer):
        # All that the pattern reads, so that what it binds itself leads to few of the outer solutions.
        read = _read(pattern)
        given = (*scope.given, *(v for v in left.variables if v in outer and v in read))
        inside = scope.for_each(given, Distinct(kept(left, given)))
    right = compiler.compile(pattern, inside)
    compiler.instances.check_sides(left, right)
    return right


def _replaced(pattern: a.Pattern, outer: frozenset[Variable]) -> frozenset[Variable]:
    """The outer variables that a join on what the pattern binds would not do justice to."""
    found: frozenset[Variable] = frozenset()
    match pattern:
        case a.Project() | a.Group() | a.Distinct() | a.Reduced() | a.OrderBy() | a.Slice():
            # A sub-query is evaluated by itself first.
            return found
        case a.Filter() | a.Extend():
            read = frozenset(v for e in expressions_of(pattern) for v in _mentioned(e))
            found = read & outer - certain(pattern.pattern)
        case a.LeftJoin(left, right, expression):
            read = frozenset(in_scope(right)) | (frozenset() if expression is None else _mentioned(expression))
            found = read & outer - certain(left)
        case a.Minus(_, right):
            found = frozenset(in_scope(right)) & outer
    return found.union(*(_replaced(inner, outer) for inner in sub_patterns(pattern)))


def _read(pattern: a.Pattern) -> frozenset[Variable]:
    """The variables that a pattern binds or reads, at any depth but inside of sub-queries."""
    match pattern:
        case a.Project() | a.Group() | a.Distinct() | a.Reduced() | a.OrderBy() | a.Slice():
            return frozenset(in_scope(pattern))
    found = frozenset(in_scope(pattern)).union(*(_mentioned(e) for e in expressions_of(pattern)))
    return found.union(*(_read(inner) for inner in sub_patterns(pattern)))


def _mentioned(expression: a.Expression) -> frozenset[Variable]:
    """The variables that an expression reads, with all that an EXISTS in it reads in turn."""
    return mentioned(expression).union(*(_read(exists.pattern) for exists in exists_in(expression)))


def certain(pattern: a.Pattern) -> frozenset[Variable]:
    """The variables that every solution of a pattern binds."""
    match pattern:
        case a.BGP() | a.Path():
            return frozenset(in_scope(pattern))
        case a.Join(left, right):
            return certain(left) | certain(right)
        case a.Union(left, right):
            return certain(left) & certain(right)
        case a.LeftJoin(left, _) | a.Minus(left, _):
            return certain(left)
        case a.Values(variables, rows):
            return frozenset(v for i, v in enumerate(variables) if all(row[i] is not None for row in rows))
        case a.Graph(name, inner):
            return certain(inner) | (frozenset((name,)) if isinstance(name, Variable) else frozenset())
        case a.Project(inner, variables):
            return certain(inner) & frozenset(variables)
        case a.Group(inner, keys):
            return certain(inner) & frozenset(v for v, _ in keys)
        case _:
            return certain(pattern.pattern)
