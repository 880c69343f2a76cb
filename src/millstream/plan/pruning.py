"""Columns that nobody reads are dropped where they come from: narrower rows, and fewer of them."""

from __future__ import annotations

from dataclasses import replace

from pyoxigraph import Variable

from millstream.language.scope import mentioned
from millstream.plan.nodes import (
    Ask,
    Closure,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    Marked,
    Node,
    OrderedJoin,
    Project,
    Quads,
    Rows,
    Solutions,
    Template,
    TopK,
    Union,
    Unmatched,
    kept,
)


def pruned(root: Node) -> Node:
    """The plan with the same result and no column without a reader."""
    return _pruned(root, frozenset(root.variables))


def _pruned(node: Node, needed: frozenset[Variable]) -> Node:
    """The node with at least the columns that are needed."""
    match node:
        case Solutions(conjunction):
            projection = tuple(v for v in conjunction.projection if v in needed)
            return Solutions(replace(conjunction, projection=projection))
        case Quads():
            return kept(node, tuple(v for v in node.variables if v in needed))
        case Rows():
            return node
        case Extend(inner, variable, expression):
            if variable not in needed:
                return _pruned(inner, needed)
            return replace(node, input=_pruned(inner, needed - {variable} | mentioned(expression)))
        case Filter(inner, expression):
            return replace(node, input=_pruned(inner, needed | mentioned(expression)))
        case Project(inner, columns):
            columns = tuple((name, column) for name, column in columns if name in needed)
            found = _pruned(inner, frozenset(column for _, column in columns))
            names = tuple(name for name, _ in columns)
            if all(name == column for name, column in columns):
                if found.variables == names:
                    return found
                if isinstance(found, Solutions):
                    return Solutions(replace(found.conjunction, projection=names))
            return Project(found, columns)
        case Union(left, right):
            return Union(_pruned(left, needed), _pruned(right, needed))
        case Join(left, right, copies, overlap):
            copies = tuple((copy, v) for copy, v in copies if copy in needed)
            needed |= frozenset(node.shared) | frozenset(v for _, v in copies) | frozenset(overlap)
            return Join(_pruned(left, needed), _pruned(right, needed), copies, overlap)
        case OrderedJoin(left, right, smaller, _, larger):
            needed |= {smaller, larger}
            return replace(node, left=_pruned(left, needed), right=_pruned(right, needed))
        case Distinct(inner) | TopK(inner):
            return replace(node, input=_exactly(inner))
        case Unmatched(left, matched) | Marked(left, matched):
            # Which row a match came from is told by all columns of the left side.
            return replace(node, left=_exactly(left), matched=_exactly(matched))
        case Group(inner, keys, aggregates, solution):
            aggregates = tuple((v, g) for v, g in aggregates if v in needed or not keys)
            read = {g.operand for _, g in aggregates if g.operand is not None} | set(keys)
            whole = any(g.operand is None and g.distinct for _, g in aggregates)
            solution = solution if whole else ()
            return Group(_pruned(inner, frozenset(read) | frozenset(solution)), keys, aggregates, solution)
        case Closure(edges, nodes):
            return replace(node, edges=_exactly(edges), nodes=None if nodes is None else _exactly(nodes))
        case Template(inner):
            return replace(node, input=_exactly(inner))
        case Ask(inner):
            return Ask(_exactly(inner))


def _exactly(node: Node) -> Node:
    """The node pruned below, with the columns it has."""
    return kept(_pruned(node, frozenset(node.variables)), node.variables)
