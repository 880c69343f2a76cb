"""Joins: which triple patterns form a leaf, where filters apply, and in what order the rest is joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from millstream.language import algebra as a
from millstream.language.scope import mentioned
from millstream.plan.compile.scopes import Names
from millstream.plan.conjunction import Conjunction, SourcedPattern, order_test
from millstream.plan.nodes import (
    Closure,
    Distinct,
    EqualityKey,
    Filter,
    Group,
    Join,
    Node,
    OrderedJoin,
    Quads,
    Rows,
    Solutions,
    Unmatched,
    kept,
)

_FEW_VALUES = 64
_UNIT = Rows((), ((),))
_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def joined(
    patterns: tuple[SourcedPattern, ...], others: Sequence[Node], filters: tuple[a.Expression, ...], names: Names
) -> Node:
    """The join of triple patterns and other nodes under filters, each applied as soon as what it reads is bound."""
    others = [node for i, node in enumerate(others) if node != _UNIT and not (node in others[:i] and _is_set(node))]
    waiting = list(filters)
    leaves = _leaves(patterns, others, waiting)
    # Paths come last: what binds their ends says which of them are asked for.
    operands = [*leaves, *sorted(others, key=lambda node: isinstance(node, Closure))]
    if not operands:
        operands = [_UNIT]
    node, rest = operands[0], operands[1:]
    node = _filtered(node, rest, waiting)
    while rest:
        following = next((o for o in rest if set(o.variables) & set(node.variables)), None)
        if following is None:
            node = _apart(node, rest, waiting, names)
        else:
            rest.remove(following)
            node = Join(node, _asked_for(following, node))
        node = _filtered(node, rest, waiting)
    for expression in waiting:
        node = filtered(node, expression)
    return node


def _asked_for(node: Node, by: Node) -> Node:
    """Paths from, or to, the nodes that a partner binds, instead of all; other nodes as they are."""
    if not isinstance(node, Closure) or node.fixed_start is not None or node.fixed_end is not None:
        return node
    if by.certain.issuperset((*node.tags, node.start)):
        return replace(node, demand=Distinct(kept(by, (*node.tags, node.start))), asks="starts")
    if by.certain.issuperset((*node.tags, node.end)):
        return replace(node, demand=Distinct(kept(by, (*node.tags, node.end))), asks="ends")
    return node


def _is_set(node: Node) -> bool:
    """Whether joining with it again changes nothing: its rows are distinct and bind everything."""
    return isinstance(node, Quads | Closure | Distinct) and node.certain.issuperset(node.variables)


def _leaves(patterns: tuple[SourcedPattern, ...], others: Sequence[Node], waiting: list[a.Expression]) -> list[Node]:
    """The patterns as one leaf, or as one for each connected part where something else connects them."""
    if not patterns:
        return []
    whole = Conjunction(patterns, (), ())
    parts = [whole]
    if others or any(_compares_parts(whole, f) for f in waiting):
        parts = [Conjunction(tuple(patterns[n] for n in members), (), ()) for members in whole.components]
    leaves: list[Node] = []
    for part in parts:
        variables = tuple(v for v in part.variables if isinstance(v, Variable))
        ours = []
        for expression in list(waiting):
            read = mentioned(expression)
            elsewhere = {v for o in others for v in o.variables} | {
                v for p in parts if p is not part for v in p.variables if isinstance(v, Variable)
            }
            alone = len(parts) == 1 and not others
            if alone or read <= set(variables) or (read & set(variables) and not read & elsewhere):
                waiting.remove(expression)
                ours.append(expression)
        ours.extend(_choices(variables, others))
        leaves.append(Solutions(Conjunction(part.patterns, tuple(ours), variables)))
    return leaves


def _choices(variables: tuple[Variable, ...], others: Sequence[Node]) -> list[a.Expression]:
    """What VALUES allow for a variable, as a filter: other triples need not be stored."""
    found: list[a.Expression] = []
    for node in others:
        if isinstance(node, Rows) and len(node.rows) <= _FEW_VALUES:
            for i, variable in enumerate(node.variables):
                terms = [term for row in node.rows if isinstance(term := row[i], NamedNode | Literal)]
                # NaN is not equal to itself, but it joins with itself.
                is_equal = not any(isinstance(term, Literal) and term.value == "NaN" for term in terms)
                if variable in variables and len(terms) == len(node.rows) and is_equal:
                    found.append(a.In(variable, tuple(dict.fromkeys(terms))))
    return found


def _compares_parts(whole: Conjunction, expression: a.Expression) -> bool:
    """Whether a filter compares two parts that share nothing, so that they can be joined by it."""
    test = order_test(expression)
    if test is None or test.offset or test.operator == "!=":
        return False
    parts = [{v for n in members for v in whole.patterns[n].variables} for members in whole.components]
    return not any({test.left, test.right} <= part for part in parts) and all(
        any(v in part for part in parts) for v in (test.left, test.right)
    )


def _filtered(node: Node, rest: Sequence[Node], waiting: list[a.Expression]) -> Node:
    """The node under the filters that nothing joined later can change."""
    later = {v for other in rest for v in other.variables}
    bound = set(node.variables)
    for expression in list(waiting):
        read = mentioned(expression)
        if read & bound and all(v in node.certain or v not in later for v in read):
            waiting.remove(expression)
            node = filtered(node, expression)
    return node


def filtered(node: Node, expression: a.Expression) -> Node:
    """A node under one filter; one that asks for the keys of groups alone drops whole groups, before they are formed."""
    read = mentioned(expression)
    if isinstance(node, Group) and read and read <= set(node.keys):
        return replace(node, input=filtered(node.input, expression))
    return Filter(node, expression)


def _apart(node: Node, rest: list[Node], waiting: list[a.Expression], names: Names) -> Node:
    """The join with a node that shares nothing: by a comparison between them if there is one, else the product."""
    # Equal values are fewer than ordered ones.
    compared = [(expression, test) for expression in waiting if (test := order_test(expression)) and not test.offset]
    for expression, test in sorted(compared, key=lambda pair: pair[1].operator != "="):
        if test.operator == "!=":
            continue
        for left, operator, right in (
            (test.left, test.operator, test.right),
            (test.right, _SWAPPED.get(test.operator, "="), test.left),
        ):
            other = next((o for o in rest if right in o.certain), None)
            if left in node.certain and other is not None:
                rest.remove(other)
                if operator == "=":
                    # The key only leads to what may be equal: the filter stays.
                    key = names.fresh("key")
                    return Join(EqualityKey(node, key, left), EqualityKey(other, key, right))
                waiting.remove(expression)
                return OrderedJoin(node, other, left, operator, right)
    return Join(node, rest.pop(0))


def matches(left: Node, right: Node, names: Names, overlap: tuple[Variable, ...] = ()) -> tuple[Node, tuple[Variable, ...]]:
    """The join of two nodes, and the columns of it that tell which row of the left one a row came from."""
    unsure = [v for v in left.variables if v in right.variables and v not in left.certain]
    copies = {v: names.fresh("copy") for v in unsure}
    node = Join(left, right, tuple((copy, v) for v, copy in copies.items()), overlap)
    return node, tuple(copies.get(v, v) for v in left.variables)


def shared(left: Node, right: Node) -> tuple[Variable, ...]:
    """The variables of both, in the left one's order."""
    return tuple(v for v in left.variables if v in right.variables)


def is_sure(left: Node, right: Node) -> bool:
    """Whether both bind all that they share, so that rows are compatible just if they are equal there."""
    return (left.certain & right.certain).issuperset(shared(left, right))


def unmatched(left: Node, right: Node, names: Names, overlap: tuple[Variable, ...] = ()) -> Node:
    """The left rows that are compatible with no right one; with `overlap`, both must bind one of these for that."""
    both = shared(left, right)
    if is_sure(left, right):
        return Unmatched(left, kept(right, both), both)
    matched, identity = matches(left, Distinct(kept(right, both)), names, overlap)
    return Unmatched(left, kept(matched, identity))
