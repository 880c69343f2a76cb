"""From the nodes of a plan to the operators that run them."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import Variable

from millstream.kernels.aggregates.groups import GroupTable
from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas, Operator
from millstream.kernels.forms.ask import Ask
from millstream.kernels.forms.union import Union
from millstream.kernels.order.top_k import ALL, TopK, TopKOfEach
from millstream.kernels.relations.relation import Distinct, KeyMatcher, MatchCounter
from millstream.kernels.relations.relation_join import JoinTable
from millstream.operators.aggregates.accumulators import AggregateSpec, accumulator_of
from millstream.operators.closure import closure
from millstream.operators.comparing_join import ordered_join
from millstream.operators.construct import template
from millstream.operators.equality import equality_key
from millstream.operators.expressions import Bounds
from millstream.operators.leaves.constants import Constants, truth_ids
from millstream.operators.ordering import Ordering
from millstream.operators.ranking import levels
from millstream.plan import nodes as n


def build(
    node: n.Node, inputs: Sequence[Deltas], dictionary: Dictionary, references: TermReferences, salt: str, bounds: Bounds
) -> Operator:
    """The operator of a node that is no leaf and looks at more than one row (`rowwise` has the others), on its inputs.

    `salt` tells the blank nodes that it makes from those of other queries.
    """
    width = len(node.variables)
    match node:
        case n.Rows(_, rows):
            return Constants(inputs, width, rows, dictionary, references)
        case n.EqualityKey(inner, _, of):
            return equality_key(inputs, width, inner.variables.index(of), dictionary, references)
        case n.Distinct():
            return Distinct(inputs, width)
        case n.Union(left, right):
            return Union(inputs, width, [_places(node.variables, side.variables) for side in (left, right)])
        case n.Join():
            return _join(node, inputs)
        case n.Unmatched(left, _, on):
            return _matcher(inputs, width, left, on, None)
        case n.Marked(left, _, _, on):
            return _matcher(inputs, width, left, on, truth_ids(dictionary))
        case n.OrderedJoin(left, right, one, operator, other):
            compared = left.variables.index(one), right.variables.index(other)
            return ordered_join(inputs, width, compared[0], operator, compared[1], dictionary)
        case n.Group():
            return _group(node, inputs, dictionary, references, bounds)
        case n.TopK():
            return _top_k(node, inputs, dictionary)
        case n.Closure():
            return _closure(node, inputs, dictionary, references)
        case n.Template(_, triples, solution, tags):
            return template(inputs, width, solution, triples, salt, dictionary, references, tags)
        case n.Ask():
            return Ask(inputs, width, truth_ids(dictionary))
        case n.ExchangeOutput():
            places = [[*range(rows.width), *[-1] * (width - 1 - rows.width)] for rows in inputs]
            return Union(inputs, width, places, numbered=True)
        case (
            n.Solutions()
            | n.Quads()
            | n.ExchangeInput()
            | n.Precomputed()
            | n.Ordered()
            | n.Extend()
            | n.Filter()
            | n.Project()
        ):
            raise TypeError(node)


def _places(wanted: tuple[Variable, ...], variables: tuple[Variable, ...]) -> tuple[int, ...]:
    """Where the wanted columns are, -1 for those that are not there."""
    where = {v: i for i, v in enumerate(variables)}
    return tuple(where.get(v, -1) for v in wanted)


def _join(node: n.Join, inputs: Sequence[Deltas]) -> Operator:
    """Columns: the left ones, completed by the right row; the right ones that are not shared; copies of left ones."""
    left, right = node.left.variables, node.right.variables
    certain = node.left.certain & node.right.certain
    shared = [v for v in left if v in right]
    given = [v for v in node.shared if v not in node.overlap]
    return JoinTable(
        inputs,
        len(node.variables),
        [(left.index(v), right.index(v)) for v in shared],
        [v in certain for v in shared],
        [left.index(v) for _, v in node.copies],
        # As MINUS wants it, a pair counts only if both bind a variable in common other than those given to both.
        bool(node.overlap) and all(v in given for v in shared if v in certain),
        (isinstance(node.left, n.Distinct), isinstance(node.right, n.Distinct)),
    )


def _matcher(
    inputs: Sequence[Deltas],
    width: int,
    left: n.Node,
    on: tuple[Variable, ...] | None,
    marks: tuple[int, int] | None,
) -> Operator:
    """Left solutions by whether they have a match: those without one, or all with a mark.

    OPTIONAL, MINUS and EXISTS are made of these. Where both sides bind all that they share, a right solution matches by
    these columns, `on`. Otherwise, and where a filter decides, a join pairs left solutions with right ones, copying the
    columns that tell which left solution a pair came from, and what is left after filters says which ones are matched.
    """
    if on is None:
        return MatchCounter(inputs, width, marks=marks)
    return KeyMatcher(inputs, width, _places(on, left.variables), marks=marks)


def _group(
    node: n.Group, inputs: Sequence[Deltas], dictionary: Dictionary, references: TermReferences, bounds: Bounds
) -> Operator:
    variables = node.input.variables
    solution = _places(node.solution, variables)
    specs = (
        AggregateSpec(
            g.function, None if g.operand is None else variables.index(g.operand), g.distinct, separator=g.separator
        )
        for _, g in node.aggregates
    )
    accumulators = [accumulator_of(spec, dictionary, solution, bounds) for spec in specs]
    return GroupTable(inputs, len(node.variables), _places(node.keys, variables), accumulators, references)


def _top_k(node: n.TopK, inputs: Sequence[Deltas], dictionary: Dictionary) -> Operator:
    variables, width = node.input.variables, len(node.variables)
    conditions = tuple((variables.index(v), down) for v, down in node.conditions)
    compared = levels(conditions, _places(node.completion, variables)), Ordering(dictionary).kernel
    ranks = node.offset, ALL if node.limit is None else node.limit
    if node.tag is None:
        return TopK(inputs, width, *compared, *ranks)
    return TopKOfEach(inputs, width, variables.index(node.tag), *compared, *ranks)


def _closure(node: n.Closure, inputs: Sequence[Deltas], dictionary: Dictionary, references: TermReferences) -> Operator:
    fixed = (node.fixed_start, node.fixed_end)
    start, end = (None if term is None else dictionary.encode_one(str(term).encode()) for term in fixed)
    width = len(node.variables)
    return closure(inputs, width, start, end, zero_length=node.zero_length, demand=node.asks, references=references)
