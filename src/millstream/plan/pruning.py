"""Columns that nobody reads are dropped where they come from: narrower rows, and fewer of them.

What a node must give is what all its readers ask for together, so that a shared part stays one part.
"""

from __future__ import annotations

from dataclasses import replace

from pyoxigraph import Variable

from millstream.language.scope import mentioned
from millstream.plan import nodes as n
from millstream.plan.nodes import Node, in_order, inputs_of, kept, over

Columns = frozenset[Variable]


def pruned(root: Node) -> Node:
    """The plan with the same result and no column without a reader."""
    ordered = in_order(root)
    needed: dict[Node, Columns] = dict.fromkeys(ordered, frozenset())
    needed[root] = frozenset(root.variables)
    for node in reversed(ordered):
        for part, columns in zip(inputs_of(node), _asked(node, needed[node]), strict=True):
            needed[part] |= columns & frozenset(part.variables)
    made: dict[Node, Node] = {}
    for node in ordered:
        made[node] = _made(node, needed[node], made)
    whole = kept(made[root], root.variables)
    if isinstance(whole, n.Ordered):
        return replace(whole, input=_bare(whole.input))
    return _bare(whole)


def _bare(whole: Node) -> Node:
    # A conjunction by itself gives its columns in any order, but no more than it was asked for.
    if isinstance(whole, n.Project) and isinstance(whole.input, n.Solutions) and _reorders(whole, whole.input):
        return n.Solutions(replace(whole.input.conjunction, projection=whole.variables))
    return whole


def _asked(node: Node, needed: Columns) -> tuple[Columns, ...]:
    """What a node asks of each of its inputs, if it must give some columns."""
    match node:
        case n.Extend(_, variable, expression):
            return (needed - {variable} | mentioned(expression),) if variable in needed else (needed,)
        case n.EqualityKey(_, variable, of):
            return (needed - {variable} | {of},) if variable in needed else (needed,)
        case n.Filter(_, expression):
            return (needed | mentioned(expression),)
        case n.Project(_, columns):
            return (frozenset(column for name, column in columns if name in needed),)
        case n.Union():
            return needed, needed
        case n.Join(_, _, copies, overlap):
            both = needed | frozenset(node.shared) | frozenset(v for _, v in copies) | frozenset(overlap)
            return both, both
        case n.OrderedJoin(_, _, one, _, other):
            return needed | {one}, needed | {other}
        case n.Unmatched(_, matched, on) | n.Marked(_, matched, _, on) if on is not None:
            return needed | frozenset(on), frozenset(matched.variables)
        case n.Unmatched(left, matched) | n.Marked(left, matched):
            # A match is told by the same columns as a row of the left side, and by what the left side had itself.
            pairs = zip(left.variables, matched.variables, strict=True)
            return needed, frozenset(name for v, name in pairs if v in needed or v != name)
        case n.Group(_, keys, aggregates, solution):
            read = [g for v, g in aggregates if v in needed or not keys]
            operands = frozenset(g.operand for g in read if g.operand is not None)
            whole = any(g.operand is None and g.distinct for g in read)
            return (frozenset(keys) | operands | (frozenset(solution) if whole else frozenset()),)
        case _:
            return tuple(frozenset(part.variables) for part in inputs_of(node))


def _made(node: Node, needed: Columns, made: dict[Node, Node]) -> Node:
    """The node over inputs that have been pruned."""
    match node:
        case n.Solutions(conjunction):
            projection = tuple(v for v in conjunction.projection if v in needed)
            return n.Solutions(replace(conjunction, projection=projection))
        case n.Quads():
            asked = tuple(v for v in node.variables if v in needed)
            return node if asked == node.variables else replace(node, columns=asked)
        case n.Rows() | n.Precomputed():
            return node
        case n.Extend(inner, variable) | n.EqualityKey(inner, variable):
            return replace(node, input=made[inner]) if variable in needed else made[inner]
        case n.Project(inner, columns):
            return _projected(made[inner], tuple((name, c) for name, c in columns if name in needed))
        case n.Union() | n.Join() | n.OrderedJoin() | n.Filter():
            return over(node, made)
        case n.Unmatched(left, matched, on) | n.Marked(left, matched, _, on) if on is not None:
            return replace(node, left=made[left], matched=_all_of(matched, made))
        case n.Unmatched(left, matched) | n.Marked(left, matched):
            assert isinstance(matched, n.Project) or matched.variables == left.variables
            named = dict(zip(left.variables, matched.variables, strict=True))
            whole = matched
            if isinstance(matched, n.Project):
                named, whole = {v: dict(matched.columns)[name] for v, name in named.items()}, matched.input
            columns = tuple((named[v], named[v]) for v in made[left].variables)
            return replace(node, left=made[left], matched=_projected(made[whole], columns))
        case n.Group(inner, keys, aggregates, solution):
            read = tuple((v, g) for v, g in aggregates if v in needed or not keys)
            whole_rows = any(g.operand is None and g.distinct for _, g in read)
            return n.Group(made[inner], keys, read, solution if whole_rows else ())
        case n.ExchangeInput(_, variables, certain):
            asked = tuple(v for v in variables if v in needed)
            return replace(node, variables=asked, certain=certain & needed)
        case n.Closure() | n.Distinct() | n.TopK() | n.Ordered() | n.Template() | n.Ask() | n.ExchangeOutput():
            return over(node, {part: _all_of(part, made) for part in inputs_of(node)})


def _reorders(whole: n.Project, leaf: n.Solutions) -> bool:
    hidden = frozenset(leaf.conjunction.variables) - frozenset(leaf.variables)
    return all(name == column and name not in hidden for name, column in whole.columns)


def _all_of(node: Node, made: dict[Node, Node]) -> Node:
    """A pruned node with just the columns it had: others may have asked for more of it."""
    return kept(made[node], node.variables)


def _projected(node: Node, columns: tuple[tuple[Variable, Variable], ...]) -> Node:
    same = all(name == column for name, column in columns) and node.variables == tuple(name for name, _ in columns)
    return node if same else n.Project(node, columns)
