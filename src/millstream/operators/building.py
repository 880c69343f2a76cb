"""From the nodes of a plan to the operators that run them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyoxigraph import Variable

from millstream.kernels.deltas import Deltas, Operator
from millstream.kernels.dictionary import Dictionary
from millstream.operators import closure, comparing_join, construct, equality, grouping, ranking, relational, shaping
from millstream.operators.aggregates.accumulators import AggregateSpec
from millstream.operators.expressions import Bounds
from millstream.operators.keeping import Keeper
from millstream.operators.shaping import truth_ids
from millstream.plan import nodes as n


def build(
    node: n.Node, inputs: Sequence[Deltas], dictionary: Dictionary, keeper: Keeper, salt: str, bounds: Bounds
) -> Operator:
    """The operator of a node that is no leaf and looks at more than one row (`rowwise` has the others), on its inputs.

    `salt` tells the blank nodes that it makes from those of other queries.
    """
    width = len(node.variables)
    match node:
        case n.Rows(_, rows):
            return shaping.Constants(inputs, width, rows, dictionary, keeper)
        case n.EqualityKey(inner, _, of):
            return equality.EqualityKey(inputs, width, inner.variables.index(of), dictionary, keeper)
        case n.Distinct():
            return relational.Distinct(inputs, width)
        case n.Union(left, right):
            places = (_places(node.variables, side.variables) for side in (left, right))
            return shaping.Union(inputs, width, *places)
        case n.Join():
            return _join(node, inputs)
        case n.Unmatched(left, _, on):
            return relational.Unmatched(inputs, width, None if on is None else _places(on, left.variables))
        case n.Marked(left, _, _, on):
            key = None if on is None else _places(on, left.variables)
            return relational.Marked(inputs, width, key, truth_ids(dictionary))
        case n.OrderedJoin(left, right, one, operator, other):
            compared = left.variables.index(one), right.variables.index(other)
            return comparing_join.OrderedJoin(inputs, width, compared[0], operator, compared[1], dictionary)
        case n.Group():
            return _group(node, inputs, dictionary, keeper, bounds)
        case n.TopK(inner, conditions, completion, offset, limit, tag):
            keys = _places(tuple(v for v, _ in conditions), inner.variables)
            ordered = tuple((place, down) for place, (_, down) in zip(keys, conditions, strict=True))
            ranks = ordered, _places(completion, inner.variables), offset, limit, dictionary
            if tag is None:
                return ranking.TopK(inputs, width, *ranks)
            make = partial(ranking.TopK, (Deltas(width=width),), width, *ranks)
            return ranking.TopKOfEach(inputs, width, inner.variables.index(tag), make)
        case n.Closure():
            return _closure(node, inputs, dictionary, keeper)
        case n.Template(_, triples, solution, tags):
            return construct.Template(inputs, width, solution, triples, salt, dictionary, keeper, tags)
        case n.Ask():
            return shaping.Ask(inputs, width, dictionary)
        case n.Sent():
            return shaping.Sent(inputs, width)
        case n.Solutions() | n.Quads() | n.Arriving() | n.Given() | n.Ordered() | n.Extend() | n.Filter() | n.Project():
            raise TypeError(node)


def _places(wanted: tuple[Variable, ...], variables: tuple[Variable, ...]) -> tuple[int, ...]:
    """Where the wanted columns are, -1 for those that are not there."""
    where = {v: i for i, v in enumerate(variables)}
    return tuple(where.get(v, -1) for v in wanted)


def _join(node: n.Join, inputs: Sequence[Deltas]) -> Operator:
    certain = node.left.certain & node.right.certain
    return relational.Join(
        inputs,
        len(node.variables),
        node.left.variables,
        node.right.variables,
        frozenset(certain),
        copies=tuple(v for _, v in node.copies),
        overlap=bool(node.overlap),
        given=tuple(v for v in node.shared if v not in node.overlap),
    )


def _group(node: n.Group, inputs: Sequence[Deltas], dictionary: Dictionary, keeper: Keeper, bounds: Bounds) -> Operator:
    variables = node.input.variables
    specs = tuple(
        AggregateSpec(
            g.function, None if g.operand is None else variables.index(g.operand), g.distinct, separator=g.separator
        )
        for _, g in node.aggregates
    )
    keys, solution = _places(node.keys, variables), _places(node.solution, variables)
    return grouping.Group(inputs, len(node.variables), keys, specs, dictionary, keeper, solution, bounds)


def _closure(node: n.Closure, inputs: Sequence[Deltas], dictionary: Dictionary, keeper: Keeper) -> Operator:
    fixed = (node.fixed_start, node.fixed_end)
    start, end = (None if term is None else dictionary.encode_one(str(term).encode()) for term in fixed)
    return closure.Closure(
        inputs,
        len(node.variables),
        len(node.tags),
        start,
        end,
        zero_length=node.zero_length,
        demand=node.asks,
        keeper=keeper,
    )
