"""From the nodes of a plan to the operators that run them."""

from __future__ import annotations

from functools import partial

from pyoxigraph import Variable

from millstream.kernels.dictionary import Dictionary
from millstream.operators import closure, comparing_join, construct, equality, grouping, ranking, relational, shaping
from millstream.operators.aggregates.accumulators import AggregateSpec
from millstream.operators.expressions import Bounds
from millstream.operators.keeping import Keeper
from millstream.operators.operator import Operator
from millstream.operators.shaping import truth_ids
from millstream.plan import nodes as n


def build(node: n.Node, dictionary: Dictionary, keeper: Keeper, salt: str, bounds: Bounds) -> Operator:
    """The operator of a node that is no leaf and looks at more than one row (`rowwise` has the others).

    `salt` tells the blank nodes that it makes from those of other queries.
    """
    match node:
        case n.Rows(variables, rows):
            return shaping.Constants(len(variables), rows, dictionary, keeper)
        case n.EqualityKey(inner, _, of):
            return equality.EqualityKey(len(inner.variables), inner.variables.index(of), dictionary, keeper)
        case n.Distinct(inner):
            return relational.Distinct(len(inner.variables))
        case n.Union(left, right):
            return shaping.Union(_places(node.variables, left.variables), _places(node.variables, right.variables))
        case n.Join():
            return _join(node)
        case n.Unmatched(left, _, on):
            return relational.Unmatched(len(left.variables), None if on is None else _places(on, left.variables))
        case n.Marked(left, _, _, on):
            key = None if on is None else _places(on, left.variables)
            return relational.Marked(len(left.variables), *truth_ids(dictionary), key)
        case n.OrderedJoin(left, right, one, operator, other):
            places = left.variables.index(one), right.variables.index(other)
            return comparing_join.OrderedJoin(
                len(left.variables), len(right.variables), places[0], operator, places[1], dictionary
            )
        case n.Group():
            return _group(node, dictionary, keeper, bounds)
        case n.TopK(inner, conditions, completion, offset, limit, tag):
            keys = _places(tuple(v for v, _ in conditions), inner.variables)
            ordered = tuple((place, down) for place, (_, down) in zip(keys, conditions, strict=True))
            width, completed = len(inner.variables), _places(completion, inner.variables)
            make = partial(ranking.TopK, width, ordered, completed, offset, limit, dictionary)
            return make() if tag is None else ranking.TopKOfEach(width, inner.variables.index(tag), make)
        case n.Closure():
            return _closure(node, dictionary, keeper)
        case n.Template(_, triples, solution, tags):
            return construct.Template(solution, triples, salt, dictionary, keeper, tags)
        case n.Ask():
            return shaping.Ask(dictionary)
        case n.Sent(parts):
            return shaping.Sent([len(part.variables) for part in parts])
        case n.Solutions() | n.Quads() | n.Arriving() | n.Given() | n.Ordered() | n.Extend() | n.Filter() | n.Project():
            raise TypeError(node)


def _places(wanted: tuple[Variable, ...], variables: tuple[Variable, ...]) -> tuple[int, ...]:
    """Where the wanted columns are, -1 for those that are not there."""
    where = {v: i for i, v in enumerate(variables)}
    return tuple(where.get(v, -1) for v in wanted)


def _join(node: n.Join) -> Operator:
    certain = node.left.certain & node.right.certain
    return relational.Join(
        node.left.variables,
        node.right.variables,
        frozenset(certain),
        copies=tuple(v for _, v in node.copies),
        overlap=bool(node.overlap),
        given=tuple(v for v in node.shared if v not in node.overlap),
    )


def _group(node: n.Group, dictionary: Dictionary, keeper: Keeper, bounds: Bounds) -> Operator:
    variables = node.input.variables
    specs = tuple(
        AggregateSpec(
            g.function, None if g.operand is None else variables.index(g.operand), g.distinct, separator=g.separator
        )
        for _, g in node.aggregates
    )
    keys, solution = _places(node.keys, variables), _places(node.solution, variables)
    return grouping.Group(len(variables), keys, specs, dictionary, keeper, solution, bounds)


def _closure(node: n.Closure, dictionary: Dictionary, keeper: Keeper) -> Operator:
    fixed = (node.fixed_start, node.fixed_end)
    start, end = (None if term is None else dictionary.encode_one(str(term).encode()) for term in fixed)
    return closure.Closure(len(node.tags), start, end, zero_length=node.zero_length, demand=node.asks, keeper=keeper)
