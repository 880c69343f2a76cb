"""Partitioning keys of a plan: by what it can be cut into parts that never need each other's rows.

A cut chooses, for some of the conjunctions, a variable that tells their solutions apart; of the others every part has all.
From there each operator is one of three: split by one of its columns, so that equal rows are in one part; split, but with
equal rows in several parts; or whole in every part. An operator that would have to see rows of other parts is an
obstacle. What parts find then adds up to what one would find that has everything, change by change.

Where there are obstacles, what is below them can still be cut: its rows are sent on to where the rest of the plan runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod
from typing import TypeAlias

from pyoxigraph import Variable

from millstream.plan import nodes as n
from millstream.plan.conjunction import MergedSource, PatternVariable, Source, WindowSource
from millstream.plan.nodes import Node, in_order, inputs_of

_MOST_CHOICES = 256


Kind: TypeAlias = frozenset[Variable] | None
"""How a node is there: split, and the columns that each tell the parts of its rows; None: every part has all rows."""

SPLIT: frozenset[Variable] = frozenset()
"""Every row is in one part, equal rows perhaps in several."""

Choice: TypeAlias = tuple[PatternVariable | None, ...]
"""For each conjunction the variable that tells its solutions apart; None: all parts have all of them."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One way to cut a plan."""

    variable: PatternVariable
    """What to call it: the variable that tells most solutions apart."""
    places: tuple[int, ...]
    """For each pattern the place in its triples that tells their part; -1: its triples go to all parts.

    Behind the patterns, in the same way, columns of the parts of the plan whose rows are given.
    """
    tells: bool
    """Whether a column of the answers tells them apart; else equal answers may be in several parts."""
    everywhere: tuple[int, ...] = ()
    """Of the nodes that are sent on, by place, those of which every part has all rows."""

    @property
    def size(self) -> int:
        """How many patterns have their triples, and how many given parts their rows, in one part only."""
        return sum(place >= 0 for place in self.places)

    def covers(self, other: Cut) -> bool:
        """Whether it tells apart all that another does, in the same way."""
        alike = all(b in (-1, a) for a, b in zip(self.places, other.places, strict=True))
        return alike and self.tells >= other.tells


def cuts_of(root: Node, *, at_rest: bool = False) -> list[Cut]:
    """The cuts that keep apart triples of some stream, those of most patterns first, none that another covers.

    `at_rest`: there is no stream, and cuts keep apart triples of graphs.
    """
    flow = _Flow(root)
    streamed = [at_rest or reads_stream(pattern.source) for pattern in n.leaf_patterns(root)]
    found = []
    for choice in flow.choices():
        places = _places(flow.leaves, choice)
        if any(place >= 0 and is_stream for place, is_stream in zip(places, streamed, strict=False)):
            _, kind = flow.follow(choice)
            if isinstance(kind, frozenset):
                found.append(Cut(_called(choice), places, bool(kind), flow.everywhere(choice)))
    found.sort(key=lambda cut: -cut.size)
    best: list[Cut] = []
    for cut in found:
        if not any(other.covers(cut) for other in best):
            best.append(cut)
    return best


def obstacles_of(root: Node, *, at_rest: bool = False) -> list[frozenset[int]]:
    """What cannot run in parts, for each way to cut what is below: places of nodes, in the order of `in_order`."""
    flow = _Flow(root)
    return list(dict.fromkeys(flow.beyond(choice) for choice in flow.cutting(at_rest=at_rest)))


def obstacle_to(root: Node, *, at_rest: bool = False) -> str:
    """What keeps a plan from being cut: the last operator that some choice comes to."""
    flow = _Flow(root)
    furthest, reason = -1, "no variable tells its answers apart"
    for choice in flow.cutting(at_rest=at_rest):
        place, kind = flow.follow(choice)
        if isinstance(kind, str) and place > furthest:
            furthest, reason = place, kind
    return reason


def buckets_of(rest: Node) -> list[tuple[tuple[int, ...], bool]]:
    """By which columns of the parts it takes a second stage can be cut, all of them: for each part the column's place.

    With each, whether a column of the answers tells them apart.
    """
    leaves = [node for node in in_order(rest) if isinstance(node, n.ExchangeInput)]
    flow = _Flow(rest)
    found = []
    for choice in _choices([leaf.variables for leaf in leaves]):
        if all(variable is not None for variable in choice):
            _, kind = flow.follow(choice)
            if isinstance(kind, frozenset):
                places = {
                    leaf.part: leaf.variables.index(v) for leaf, v in zip(leaves, choice, strict=True) if v in leaf.variables
                }
                found.append((tuple(places[part] for part in sorted(places)), bool(kind)))
    return found


def _choices(variables: Sequence[Sequence[PatternVariable]]) -> Iterator[Choice]:
    """All choices, or where those are too many, all that give a variable to as many leaves as have it."""
    options: list[Choice] = [(None, *some) for some in variables]
    if prod(map(len, options)) <= _MOST_CHOICES:
        yield from product(*options)
        return
    for variable in dict.fromkeys(v for some in options for v in some if v is not None):
        having: list[Choice] = [(variable, None) if variable in some else (None,) for some in options]
        if prod(map(len, having)) > _MOST_CHOICES:
            having = [some[:1] for some in having]
        yield from product(*having)


def _called(choice: Choice) -> PatternVariable:
    chosen = [v for v in choice if v is not None]
    return max(chosen, key=chosen.count)


def _places(leaves: Sequence[n.Solutions | n.Precomputed], choice: Choice) -> tuple[int, ...]:
    found = []
    given: dict[int, int] = {}
    for leaf, variable in zip(leaves, choice, strict=True):
        if isinstance(leaf, n.Precomputed):
            given[leaf.part] = -1 if variable is None else leaf.variables.index(Variable(variable.value))
            continue
        for pattern in leaf.conjunction.patterns:
            terms = (pattern.triple.subject, pattern.triple.predicate, pattern.triple.object)
            found.append(terms.index(variable) if variable is not None and variable in pattern.variables else -1)
    # Parts that no leaf has are none of this plan's.
    return (*found, *(given.get(part, -1) for part in range(max(given, default=-1) + 1)))


# How rows flow ----------------------------------------------------------------------------------------------------------


class _Flow:
    """A plan by places of its nodes, for looking at many choices: nodes are costly to compare."""

    def __init__(self, root: Node) -> None:
        self._nodes = in_order(root)
        places = {node: place for place, node in enumerate(self._nodes)}
        self._inputs = [[places[part] for part in inputs_of(node)] for node in self._nodes]
        self._sure = [
            node.left.certain & node.right.certain if isinstance(node, n.Join | n.OrderedJoin) else SPLIT
            for node in self._nodes
        ]
        self.leaves = [node for node in self._nodes if isinstance(node, n.Solutions | n.Precomputed)]

    def choices(self) -> Iterator[Choice]:
        """All ways to choose variables of the leaves."""
        return _choices(
            [leaf.conjunction.variables if isinstance(leaf, n.Solutions) else leaf.variables for leaf in self.leaves]
        )

    def cutting(self, *, at_rest: bool) -> Iterator[Choice]:
        """Those that choose a variable of a leaf that reads a stream, or of any `at_rest`."""
        streamed = [
            at_rest or (isinstance(leaf, n.Solutions) and any(reads_stream(p.source) for p in leaf.conjunction.patterns))
            for leaf in self.leaves
        ]
        for choice in self.choices():
            if any(v is not None and is_stream for v, is_stream in zip(choice, streamed, strict=True)):
                yield choice

    def follow(self, choice: Choice) -> tuple[int, Kind | str]:
        """How the root is there, or the first obstacle and its place."""
        kinds, _ = self._kinds(choice)
        for place, kind in enumerate(kinds):
            if isinstance(kind, str):
                return place, kind
        return len(kinds) - 1, kinds[-1]

    def everywhere(self, choice: Choice) -> tuple[int, ...]:
        """Of the parts that the root sends on, those of which every cell has all rows."""
        if not isinstance(self._nodes[-1], n.ExchangeOutput):
            return ()
        kinds, _ = self._kinds(choice)
        return tuple(number for number, place in enumerate(self._inputs[-1]) if kinds[place] is None)

    def beyond(self, choice: Choice) -> frozenset[int]:
        """The places of obstacles and of all that needs their rows."""
        held: frozenset[int] = frozenset()
        while True:
            kinds, partial = self._kinds(choice, held)
            beyond = frozenset(place for place, kind in enumerate(kinds) if isinstance(kind, str))
            lacking = frozenset(i for place in beyond for i in self._inputs[place] if partial[i])
            if not lacking:
                return beyond
            held |= lacking

    def _kinds(self, choice: Choice, held: frozenset[int] = frozenset()) -> tuple[list[Kind | str], list[bool]]:
        """How each node is there, or why it cannot be; and which count as whole, but have only paths that a cell asks for.

        `held`: places of nodes that are not to be in cells.
        """
        chosen = iter(choice)
        known: list[Kind | str] = []
        partial: list[bool] = []
        for place, node in enumerate(self._nodes):
            inputs = [known[i] for i in self._inputs[place]]
            lacks = any(partial[i] for i in self._inputs[place])
            kinds = [kind for kind in inputs if not isinstance(kind, str)]
            kind: Kind | str
            if isinstance(node, n.Solutions | n.ExchangeInput | n.Precomputed):
                kind = _leaf(node, next(chosen))
            elif len(kinds) < len(inputs):
                kind = next(found for found in inputs if isinstance(found, str))
            elif place in held or (lacks and isinstance(node, n.ExchangeOutput)):
                kind = "paths of any length need all edges"
            else:
                kind = _above(node, kinds, self._sure[place])
            known.append(kind)
            asks = isinstance(node, n.Closure) and node.demand is not None and inputs[-1] is not None
            partial.append(kind is None and (lacks or asks))
        return known, partial


def _leaf(leaf: n.Solutions | n.ExchangeInput | n.Precomputed, variable: PatternVariable | None) -> Kind:
    return None if variable is None else frozenset(v for v in leaf.variables if v == variable)


def _above(node: Node, kinds: Sequence[Kind], sure: frozenset[Variable]) -> Kind | str:
    """An operator over its inputs, or why that cannot be; `sure`: what both sides of a join always bind."""
    if isinstance(node, n.Closure) and node.demand is not None:
        # Each cell asks for the paths that its own rows need.
        kinds = kinds[:-1]
    split = [kind for kind in kinds if kind is not None]
    if not split:
        return None
    columns = split[0]
    match node:
        case n.Filter() | n.EqualityKey():
            return columns
        case n.Extend(_, variable, expression):
            return columns | {variable} if expression in columns else columns
        case n.Project(_, pairs):
            return frozenset(name for name, column in pairs if column in columns)
        case n.Union():
            one_side = "all rows of two sides, of which only one can be told apart"
            return split[0] & split[1] if len(split) == 2 else one_side
        case n.Join() | n.OrderedJoin():
            if len(split) == 1:
                return columns
            if not split[0] & split[1] & sure:
                return "a join of two sides that no variable of both tells apart"
            return split[0] | split[1]
        case n.Unmatched(left, matched, on) | n.Marked(left, matched, _, on):
            if kinds[1] is None:
                # Every cell has all that could match.
                return columns
            # A match is told by the places of its columns.
            both = zip(left.variables if on is None else on, matched.variables, strict=True)
            told = len(split) == 2 and any(a in split[0] and b in split[1] for a, b in both)
            return columns if told else "whether there is a match needs all that could be one"
        case n.Distinct(inner):
            what = "the triples of CONSTRUCT are a set, so" if isinstance(inner, n.Template) else "DISTINCT keeps one row:"
            return columns or f"{what} equal ones must meet"
        case n.Group(_, keys):
            of = f"groups by {_names(keys)} need" if keys else "a group of everything needs"
            return columns & frozenset(keys) or f"{of} all rows together"
        case n.TopK(_, _, _, _, limit):
            return "an order needs all rows" if limit is None else f"the first {limit} of an order need all rows"
        case n.Ordered(inner, _, seen):
            # Keys that nobody sees do not tell answers apart.
            return columns & frozenset(inner.variables[:seen])
        case n.Template(_, triples):
            # Triples that all have the variable in the same place are told apart by it.
            terms = zip(*((t.subject, t.predicate, t.object) for t in triples), strict=True)
            return frozenset(v for v, some in zip(n.TRIPLE, terms, strict=False) if set(some) <= columns)
        case n.Closure():
            return "paths of any length need all edges"
        case n.Ask():
            return "ASK needs all solutions"
        case n.ExchangeOutput():
            # Whoever takes the rows adds them up.
            return SPLIT
        case _:
            raise TypeError(node)


def _names(variables: Sequence[Variable]) -> str:
    return " ".join(f"?{v.value}" for v in variables)


# What a plan can answer -------------------------------------------------------------------------------------------------


def reads_stream(source: Source) -> bool:
    if isinstance(source, MergedSource):
        return any(isinstance(part, WindowSource) for part in source.parts)
    return isinstance(source, WindowSource)


def only_adds(root: Node) -> bool:
    """Whether more triples never take an answer away: then a change gives or takes, never both."""
    taking = (n.Unmatched, n.Marked, n.Group, n.TopK, n.Ask)
    return not any(isinstance(node, taking) for node in in_order(root))


def waits_for_streams(root: Node) -> bool:
    """Whether there is no answer as long as all windows are empty."""
    waiting: dict[Node, bool] = {}
    for node in in_order(root):
        waiting[node] = _waits(node, [waiting[part] for part in inputs_of(node)])
    return waiting[root]


def _waits(node: Node, inputs: Sequence[bool]) -> bool:
    match node:
        case n.Solutions(conjunction):
            return any(isinstance(pattern.source, WindowSource) for pattern in conjunction.patterns)
        case n.Rows(_, rows):
            return not rows
        case n.Quads() | n.ExchangeInput() | n.Precomputed() | n.Ask():
            return False
        case n.Join() | n.OrderedJoin():
            return any(inputs)
        case n.Unmatched() | n.Marked():
            return inputs[0]
        case n.Group(_, keys):
            return bool(keys) and inputs[0]
        case n.Closure(_, nodes, _, _, _, fixed_start, fixed_end, zero_length):
            from_nothing = zero_length and nodes is None and (fixed_start is not None or fixed_end is not None)
            return all(inputs) and not from_nothing
        case _:
            return reduce(bool.__and__, inputs, True)
