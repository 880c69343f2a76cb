"""To count what is always bound is to count solutions: COUNT(?x) as COUNT(*), where the join below can then count as well.

Only there: elsewhere it would save nothing, and two queries of which one tells ?x would have less in common.
"""

from __future__ import annotations

from dataclasses import replace

from millstream.plan import nodes as n
from millstream.plan.conjunction import PatternVariable, counted_of
from millstream.plan.nodes import Node, in_order, over
from millstream.plan.pruning import pruned


def counting_solutions(root: Node) -> Node:
    """The plan with the same result, in which COUNT reads no column that a join need not tell."""
    whole = _rewritten(root, None)
    if whole == root:
        return root
    leaves = (node for node in in_order(pruned(whole)) if isinstance(node, n.Solutions))
    return _rewritten(root, {v for leaf in leaves for v in counted_of(leaf.conjunction)})


def _rewritten(root: Node, counted: set[PatternVariable] | None) -> Node:
    """With COUNT(*) for COUNT of what is always bound and among some variables; None: whichever."""
    made: dict[Node, Node] = {}
    for node in in_order(root):
        made[node] = over(node, made)
        if isinstance(node, n.Group):
            aggregates = tuple(
                (v, replace(g, operand=None) if _is_of_all(g, node) and (counted is None or g.operand in counted) else g)
                for v, g in node.aggregates
            )
            made[node] = n.Group(made[node.input], node.keys, aggregates, node.solution)
    return made[root]


def _is_of_all(aggregate: n.Aggregate, group: n.Group) -> bool:
    return aggregate.function == "COUNT" and not aggregate.distinct and aggregate.operand in group.input.certain
