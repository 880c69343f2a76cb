"""A whole query at work: changes of its patterns' contents in, deltas of its answers out.

Leaves are conjunctions, what GRAPH ?g matches, and rows of parts that run elsewhere or ran before; above them delta
operators, each after its inputs. Patterns are numbered through all leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary import Dictionary
from millstream.operators.arriving import ArrivingLeaf
from millstream.operators.building import build
from millstream.operators.component import JoinComponent
from millstream.operators.conjunction import Component, ConjunctionOperator
from millstream.operators.deltas import consolidated, empty, merged
from millstream.operators.expressions import Evaluator
from millstream.operators.keeping import Keeper
from millstream.operators.matching import Matcher
from millstream.operators.operator import Operator
from millstream.operators.quads import QuadLeaf
from millstream.operators.rows import EXPIRY, GRID, Arrivals, Deltas
from millstream.operators.rowwise import RowNode, RowWise, chains_of
from millstream.plan.conjunction import Source, SourcedPattern
from millstream.plan.nodes import Arriving, Given, Node, Ordered, Quads, Solutions, in_order, inputs_of

_BY_TIME = (EXPIRY, GRID)

_FEW = 8
"""Up to how many rows Python looks at them faster than NumPy."""

Schedule = list[tuple[int, Callable[..., Deltas], tuple[int, ...]]]
"""The operators in order: place, what is applied, and to what."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A conjunction, the number of its first pattern, and its place among all nodes."""

    operator: ConjunctionOperator
    first: int
    place: int

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + len(self.operator.plan.patterns))


class Dataflow:
    """The running form of a plan."""

    def __init__(
        self,
        root: Node,
        dictionary: Dictionary,
        evaluator: Evaluator,
        *,
        lazy: bool = True,
        adaptive: bool = True,
        salt: str = "",
        restored: bool = False,
    ) -> None:
        """`restored`: the dictionary holds the terms of an equal dataflow already, which this one goes on with."""
        self.plan = root
        self.order: tuple[tuple[int, bool], ...] = ()
        """The order of answers: places of columns, each with whether it descends."""
        self.seen = len(root.variables)
        """How many columns of an answer are seen; the others are keys of its order."""
        if isinstance(root, Ordered):
            self.order = tuple((root.variables.index(v), down) for v, down in root.conditions)
            self.seen, root = root.width, root.input
        self._dictionary = dictionary
        self._evaluator = evaluator
        self._salt = salt
        self.width = len(root.variables)
        self._nodes = in_order(root)
        places = {node: place for place, node in enumerate(self._nodes)}
        self._inputs = [tuple(places[i] for i in inputs_of(node)) for node in self._nodes]
        self._chains = chains_of(self._nodes, self._inputs)
        for last, chain in self._chains.items():
            self._inputs[last] = self._inputs[chain[0]]
        self.leaves: list[Leaf] = []
        self.quads: list[tuple[QuadLeaf, int]] = []
        self.arriving: list[tuple[ArrivingLeaf, int]] = []
        first = 0
        for place, node in enumerate(self._nodes):
            match node:
                case Solutions(conjunction):
                    operator = ConjunctionOperator(
                        conjunction, dictionary, evaluator, first=first, lazy=lazy, adaptive=adaptive
                    )
                    self.leaves.append(Leaf(operator, first, place))
                    first += len(conjunction.patterns)
                case Quads():
                    self.quads.append((QuadLeaf(node, dictionary), place))
                case Arriving(part, variables) | Given(part, variables):
                    self.arriving.append((ArrivingLeaf(part, len(variables), dictionary), place))
        self._keeper = Keeper(dictionary)
        self._is_leaf_alone = len(self._nodes) == 1 and bool(self.leaves)
        with self._keeper.rebuilding(restored):
            self._operators = self._build()
        self._schedule = self._scheduled(self._operators)
        self._nothing = [empty(len(node.variables)) for node in self._nodes]
        self._begun: dict[int, Deltas] = {}

    def _build(self) -> list[Operator | None]:
        """An operator for each node but leaves, and one for each chain, at its last node."""
        operators: list[Operator | None] = [None] * len(self._nodes)
        inside = {place for chain in self._chains.values() for place in chain}
        for last, chain in self._chains.items():
            nodes = [node for place in chain if isinstance(node := self._nodes[place], RowNode)]
            operators[last] = RowWise(nodes, self._dictionary, self._evaluator, self._keeper)
        for place, node in enumerate(self._nodes):
            if place not in inside and not isinstance(node, Solutions | Quads | Arriving | Given):
                operators[place] = build(node, self._dictionary, self._keeper, self._salt)
        return operators

    def _scheduled(self, operators: Sequence[Operator | None]) -> Schedule:
        places = enumerate(zip(operators, self._inputs, strict=True))
        return [(place, operator.apply, inputs) for place, (operator, inputs) in places if operator is not None]

    # What it reads ----------------------------------------------------------------------------------------------------

    @property
    def patterns(self) -> tuple[SourcedPattern, ...]:
        return tuple(p for leaf in self.leaves for p in leaf.operator.plan.patterns)

    @property
    def readers(self) -> list[tuple[Source, Matcher]]:
        """What each conjunction reads, with what finds its patterns there."""
        return [reader for leaf in self.leaves for reader in leaf.operator.matchers.items()]

    @property
    def components(self) -> list[Component]:
        return [component for leaf in self.leaves for component in leaf.operator.components]

    @property
    def is_conjunction(self) -> bool:
        """Whether there is nothing above a conjunction: then what ends can only take answers away."""
        return self._is_leaf_alone

    def view_of(self, number: int) -> tuple[JoinComponent, int] | None:
        """The join that has a pattern, and its view there, if it has one of its own."""
        for leaf in self.leaves:
            if number in leaf.numbers:
                component = leaf.operator.component_of(number)
                if isinstance(component, JoinComponent):
                    view = component.view_of(number - leaf.first)
                    return None if view is None else (component, view)
        return None

    # What happens -----------------------------------------------------------------------------------------------------

    def begin(self, at_tick: int, change: int) -> None:
        """What there is before anything came, as the first change."""
        for leaf in self.leaves:
            if not leaf.operator.components:
                leaf.operator.begin(at_tick, change)
        change = number_of(at_tick, change)
        for place, operator in enumerate(self._operators):
            if operator is not None:
                deltas = operator.begin(at_tick, change)
                if len(deltas):
                    self._begun[place] = deltas

    def feed(self, rows: Arrivals) -> None:
        """Takes changes of the patterns' contents, in order."""
        if len(self.leaves) == 1:
            self.leaves[0].operator.feed(rows)
            return
        for leaf in self.leaves:
            ours = (rows.pattern >= leaf.numbers.start) & (rows.pattern < leaf.numbers.stop)
            if ours.any():
                leaf.operator.feed(rows.pick(ours))

    def feed_rows(self, now: int) -> None:
        """Takes what was fed to the components' joins row by row, at one tick."""
        for leaf in self.leaves:
            leaf.operator.feed_rows(now)

    def graph_changed(self, graph: str, triples: npt.NDArray[np.int64], op: int, at_tick: int, change: int) -> None:
        """Triples enter or leave a named graph."""
        for leaf, _ in self.quads:
            leaf.feed(graph, triples, op, at_tick, number_of(at_tick, change))

    def feed_parts(self, part: npt.NDArray[np.int64], rows: Deltas) -> None:
        """Takes rows of parts that run elsewhere, in order, each behind the number of its part; see `Sent`."""
        for leaf, _ in self.arriving:
            ours = np.flatnonzero(part == leaf.part)
            if len(ours):
                leaf.feed(rows.pick(ours))

    def drain(self, upto: int) -> Deltas:
        """What became of the answers up to a tick, inclusive; everything fed so far must lie at or before it."""
        if self._is_leaf_alone:
            return self.leaves[0].operator.drain(upto)
        found: list[Deltas | None] = [None] * len(self._nodes)
        for leaf in self.leaves:
            found[leaf.place] = one_number_a_change(leaf.operator.drain(upto))
        for quads, place in self.quads:
            found[place] = quads.drain()
        for arriving, place in self.arriving:
            found[place] = arriving.drain()
        return self._flow(self._schedule, found, self._begun)

    def _flow(self, schedule: Schedule, found: list[Deltas | None], begun: dict[int, Deltas]) -> Deltas:
        """Runs the deltas of leaves through all operators; those without a change among their inputs are left alone."""
        for place, apply, inputs in schedule:
            parts = [found[i] for i in inputs]
            made = self._nothing[place]
            for part in parts:
                if part is not None and len(part.tick):
                    made = apply(*parts)
                    break
            if begun and (first := begun.pop(place, None)) is not None:
                made = merged(first, made)
            found[place] = made
        whole = found[-1]
        assert whole is not None
        return whole

    @property
    def next_tick(self) -> int | None:
        """When something that holds now will end by itself."""
        ticks = [t for leaf in self.leaves if (t := leaf.operator.next_tick) is not None]
        return min(ticks, default=None)

    def close(self, at_tick: int) -> None:
        """Lets go of all terms."""
        for leaf in self.leaves:
            for matcher in leaf.operator.matchers.values():
                matcher.release(at_tick)
        for quads, _ in self.quads:
            quads.close(at_tick)
        for arriving, _ in self.arriving:
            arriving.close(at_tick)
        for operator in self._operators:
            if operator is not None:
                operator.close(at_tick)

    # State ------------------------------------------------------------------------------------------------------------

    def current(self, now: int) -> Deltas:
        """The answers that hold now, found anew from what is stored, as one change."""
        with self._keeper.rebuilding():
            return self._refill(self._build(), now)

    def _refill(self, operators: Sequence[Operator | None], now: int) -> Deltas:
        """Shows new operators what the leaves hold."""
        found: list[Deltas | None] = [None] * len(self._nodes)
        for leaf in self.leaves:
            columns = leaf.operator.current(now)
            tick, change, weight = (np.full(len(columns), value, np.int64) for value in (now, 0, 1))
            found[leaf.place] = consolidated(Deltas(columns, tick, change, weight))
        for quads, place in self.quads:
            found[place] = quads.current(now)
        for arriving, place in self.arriving:
            found[place] = arriving.current(now)
        begun = {
            place: deltas
            for place, operator in enumerate(operators)
            if operator is not None and len(deltas := operator.begin(now, 0))
        }
        return self._flow(self._scheduled(operators), found, begun)

    def dump(self, now: int) -> dict[str, Any]:
        """All it keeps that does not follow from the rest; everything must have been drained."""
        return {
            "leaves": [leaf.operator.dump(now) for leaf in self.leaves],
            "quads": [quads.dump() for quads, _ in self.quads],
            "arriving": [arriving.dump() for arriving, _ in self.arriving],
        }

    def load(self, state: dict[str, Any], now: int) -> None:
        """Takes what an equal dataflow dumped."""
        for leaf, kept in zip(self.leaves, state["leaves"], strict=True):
            leaf.operator.load(kept)
        for (quads, _), rows in zip(self.quads, state["quads"], strict=True):
            quads.load(rows)
        for (arriving, _), rows in zip(self.arriving, state["arriving"], strict=True):
            arriving.load(rows)
        if not self._is_leaf_alone:
            with self._keeper.rebuilding():
                self._refill(self._operators, now)
            self._begun = {}

    def forget_holds(self, at_tick: int) -> None:
        """For a restored dictionary, which remembers the holds of what this one replaces."""
        for leaf in self.leaves:
            for matcher in leaf.operator.matchers.values():
                matcher.forget_holds(at_tick)
        for quads, _ in self.quads:
            quads.forget_holds(at_tick)


def one_number_a_change(deltas: Deltas) -> Deltas:
    """The same with one number for what is one change, in all leaves alike; see `number_of`."""
    if len(deltas.tick) <= _FEW:
        numbered = zip(deltas.tick.tolist(), deltas.change.tolist(), strict=True)
        if all(at_tick & 3 not in _BY_TIME or number == -1 for at_tick, number in numbered):
            return deltas
    by_time = np.isin(deltas.tick & 3, _BY_TIME)
    if not by_time.any() or (deltas.change[by_time] == -1).all():
        return deltas
    return consolidated(Deltas(deltas.columns, deltas.tick, np.where(by_time, -1, deltas.change), deltas.weight))


def number_of(at_tick: int, change: int) -> int:
    """The number of a change among those of its tick.

    Only elements and changes of graphs are told apart there: all expiries of a millisecond are one change, and all that
    enters or leaves on a grid is, though some of it may have been fed.
    """
    return -1 if at_tick & 3 in _BY_TIME else change
