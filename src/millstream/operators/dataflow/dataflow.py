"""Plans at work: changes of their patterns' contents in, deltas of their answers out.

Leaves are conjunctions, what GRAPH ?g matches, and rows of parts that run elsewhere or ran before; above them delta
operators, each after its inputs. Patterns are numbered through all leaves. What several plans have in common runs once: a
plan that comes is shown what the steps that are there hold, one that goes takes along what nobody else needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from millstream.errors import UnsupportedQueryError
from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Operator
from millstream.kernels.flow.flow import Flow, Reordered
from millstream.kernels.forms.union import Union
from millstream.operators import stored
from millstream.operators.bounds import RowBound
from millstream.operators.dataflow.building import build
from millstream.operators.dataflow.layout import Root, Step, steps_below
from millstream.operators.dataflow.numbering import number_of, one_number_a_change
from millstream.operators.deltas import consolidated
from millstream.operators.expressions import Evaluator
from millstream.operators.leaves.conjunction import Component, ConjunctionOperator
from millstream.operators.leaves.exchange import ExchangeLeaf
from millstream.operators.leaves.quads import QuadLeaf
from millstream.operators.rowwise import row_wise
from millstream.operators.ticks import FOREVER, MOST_MS, Deltas
from millstream.plan.conjunction import SourcedPattern
from millstream.plan.nodes import ExchangeInput, Node, Precomputed, Quads, Solutions

_Leaf = TypeVar("_Leaf")


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A conjunction, and the number of its first pattern."""

    operator: ConjunctionOperator
    first: int

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + len(self.operator.plan.patterns))


class Dataflow(Flow):
    """The running form of plans."""

    def __init__(
        self,
        dictionary: Dictionary,
        evaluator: Evaluator,
        *,
        lazy: bool = True,
        adaptive: bool = True,
        salt: str = "",
        bound: RowBound | None = None,
        restored: Iterable[int] | None = None,
    ) -> None:
        """`restored`: the numbers of leaves' first patterns (`firsts`) in a dataflow that this one goes on with."""
        self.roots: list[Root] = []
        self._dictionary = dictionary
        self._evaluator = evaluator
        self._lazy, self._adaptive = lazy, adaptive
        self._salt = salt
        self._bound = bound or RowBound()
        self._restored = None if restored is None else iter(restored)
        self._next_pattern = 0
        self._references = TermReferences(dictionary)
        self._steps: dict[Step, int] = {}
        """All steps, each after its inputs, with their places."""
        self._operators: list[Operator | None] = []
        self._outs: list[Deltas] = []
        """What each step gave last."""
        self._leaves: dict[int, Leaf] = {}
        self._quads: dict[int, QuadLeaf] = {}
        self._arriving: dict[int, ExchangeLeaf] = {}
        self._new: set[int] = set()
        """The places of what has been shown nothing."""
        self._watchers: set[object] = set()
        self._arrange()

    # Coming and going -------------------------------------------------------------------------------------------------

    def add(self, plan: Node, era: int = 0) -> Root:
        """A plan that has been shown nothing: its leaves are to be fed what there is, then it begins."""
        root = Root(plan, era)
        self.roots.append(root)
        try:
            for step in steps_below(root.step, self._steps):
                self._add(step)
        except UnsupportedQueryError:
            # Operators say what they do not run: then it is as if the plan had never come.
            self.drop(root, -FOREVER)
            raise
        self._arrange()
        return root

    def _add(self, step: Step) -> None:
        place = len(self._steps)
        made = self._made(step, [self._outs[self._steps[i]] for i in step.inputs])
        out = Deltas(width=len(step.node.variables)) if made is None else made.out
        match step.node:
            case Solutions(conjunction):
                first = self._next_pattern if self._restored is None else stored.whole(next(self._restored), 0, MOST_MS)
                operator = ConjunctionOperator(
                    conjunction,
                    self._dictionary,
                    self._evaluator,
                    first=first,
                    lazy=self._lazy,
                    adaptive=self._adaptive,
                    bound=self._bound,
                )
                self._leaves[place] = Leaf(operator, first)
                out = operator.leaf.out
                self._next_pattern = max(self._next_pattern, first + len(conjunction.patterns))
            case Quads() as quads:
                self._quads[place] = QuadLeaf(quads, self._dictionary)
            case ExchangeInput(part, variables) | Precomputed(part, variables):
                self._arriving[place] = ExchangeLeaf(part, len(variables), self._dictionary)
        self._steps[step] = place
        self._operators.append(made)
        self._outs.append(out)
        self._new.add(place)

    def drop(self, root: Root, at_tick: int) -> None:
        """Lets go of a plan, and of the terms that only it needs."""
        self.roots.remove(root)
        before, self._steps = self._steps, {}
        for other in self.roots:
            for step in steps_below(other.step, self._steps):
                self._steps[step] = len(self._steps)
        for step, place in before.items():
            if step not in self._steps:
                self._close(place, at_tick)
        # The places of what stays are those that it would have if nothing else had been there.
        places = {before[step]: place for step, place in self._steps.items()}
        self._operators = [self._operators[place] for place in places]
        self._outs = [self._outs[place] for place in places]
        self._leaves = _moved(self._leaves, places)
        self._quads = _moved(self._quads, places)
        self._arriving = _moved(self._arriving, places)
        self._new = {places[place] for place in self._new if place in places}
        self._arrange()

    def _made(self, step: Step, inputs: Sequence[Deltas]) -> Operator | None:
        """The operator of a step that is no leaf, on what its inputs give."""
        if step.chain:
            return row_wise(inputs, len(step.node.variables), step.chain, self._evaluator, self._references)
        if isinstance(step.node, Solutions | Quads | ExchangeInput | Precomputed):
            return None
        return build(step.node, inputs, self._dictionary, self._references, self._salt, self._evaluator.bounds)

    def _arrange(self) -> None:
        operators = [operator for operator in self._operators if operator is not None]
        ends = []
        for root in self.roots:
            root.place = self._steps[root.step]
            end = self._outs[root.place]
            if root.columns is not None:
                operators.append(Reordered((end,), len(root.columns), root.columns))
                end = operators[-1].out
            ends.append(end)
        self._others: dict[int, QuadLeaf | ExchangeLeaf] = {**self._quads, **self._arriving}
        self._alone = self._leaves.get(0) if len(self._steps) == 1 and len(self.roots) == 1 else None
        leaves = (leaf.operator.leaf for leaf in self.leaves)
        renumber = one_number_a_change if self._alone is None else None
        others = [(self._outs[place], leaf) for place, leaf in self._others.items()]
        self.arrange(leaves, self._outs, operators, ends, self._bound, renumber, others)

    def _places_below(self, root: Root) -> list[int]:
        return [self._steps[step] for step in steps_below(root.step)]

    # What it reads ----------------------------------------------------------------------------------------------------

    @property
    def steps(self) -> Collection[Step]:
        return self._steps.keys()

    @property
    def leaves(self) -> Collection[Leaf]:
        return self._leaves.values()

    @property
    def has_quads(self) -> bool:
        """Whether it matches all named graphs."""
        return bool(self._quads)

    def leaves_of(self, root: Root) -> list[Leaf]:
        """The conjunctions of a plan."""
        return [self._leaves[place] for place in self._places_below(root) if place in self._leaves]

    @property
    def patterns(self) -> dict[int, SourcedPattern]:
        """All patterns, by their numbers."""
        return {n: p for leaf in self.leaves for n, p in zip(leaf.numbers, leaf.operator.plan.patterns, strict=True)}

    @property
    def components(self) -> list[Component]:
        return [component for leaf in self.leaves for component in leaf.operator.components]

    @property
    def is_conjunction(self) -> bool:
        """Whether there is nothing above a conjunction: then what ends can only take answers away."""
        return self._alone is not None

    # What happens -----------------------------------------------------------------------------------------------------

    def begin(self, root: Root, at_tick: int, change: int) -> Deltas:
        """What a plan that came gives at first, as one change; its leaves have been fed what there is."""
        number = number_of(at_tick, change)
        places = self._places_below(root)
        new = [place for place in places if place in self._new]
        self._new.difference_update(new)
        self.clear()
        for place, held in self._held([place for place in places if place not in new], at_tick, number).items():
            self._outs[place].fill(held)
        for place in new:
            if (operator := self._operators[place]) is not None:
                self._begin(operator, at_tick, number)
            elif place in self._leaves:
                leaf = self._leaves[place].operator
                if not leaf.components:
                    leaf.begin(at_tick, change)
                self._outs[place].fill(one_number_a_change(leaf.leaf.drain(at_tick)))
            else:
                self._outs[place].fill(self._others[place].drain())
            self._outs[place].count()
        self.look_ahead()
        return root.of(self._outs[root.place])

    def _begin(self, operator: Operator, at_tick: int, change: int) -> None:
        """What an operator gives that has been shown nothing: over nothing, and then over what its inputs hold."""
        operator.begin(at_tick, change)
        if any(map(len, operator.inputs)):
            both, columns = [operator.out.copy(), operator.run()], range(operator.out.width)
            operator.out.fill(Union(both, len(columns), [columns, columns]).run())
            self._bound.check(len(operator.out))

    def graph_changed(self, graph: str, triples: npt.NDArray[np.int64], op: int, at_tick: int, change: int) -> None:
        """Triples enter or leave a named graph."""
        for leaf in self._quads.values():
            leaf.feed(graph, triples, op, at_tick, number_of(at_tick, change))

    def show_graph(self, graph: str, triples: npt.NDArray[np.int64], at_tick: int, change: int) -> None:
        """The triples of a named graph, for what has been shown nothing."""
        for place, leaf in self._quads.items():
            if place in self._new:
                leaf.feed(graph, triples, 1, at_tick, number_of(at_tick, change))

    def feed_parts(self, part: npt.NDArray[np.int64], rows: Deltas) -> None:
        """Takes rows of parts that run elsewhere, in order, each behind the number of its part; see `ExchangeOutput`."""
        for leaf in self._arriving.values():
            ours = np.flatnonzero(part == leaf.part)
            if len(ours):
                leaf.feed(rows.pick(ours))

    def _close(self, place: int, at_tick: int) -> None:
        """Lets go of the terms of a step."""
        if place in self._leaves:
            self._leaves[place].operator.close(at_tick)
        for closing in (self._quads.get(place), self._arriving.get(place), self._operators[place]):
            if closing is not None:
                closing.close(at_tick)

    # State ------------------------------------------------------------------------------------------------------------

    def current(self, root: Root, now: int) -> Deltas:
        """The answers of a plan that hold now, found anew from what is stored, as one change."""
        return root.of(self._held(self._places_below(root), now, 0)[root.place])

    def _held(self, places: Collection[int], now: int, change: int) -> dict[int, Deltas]:
        """What steps would give if all that their leaves hold came now; all of their inputs are among them, before them."""
        held: dict[int, Deltas] = {}
        steps = list(self._steps)
        with self._references.rebuilding():
            for place in places:
                operator = self._made(steps[place], [held[self._steps[i]] for i in steps[place].inputs])
                if operator is None:
                    held[place] = self._leaf_holds(place, now, change)
                else:
                    self._begin(operator, now, change)
                    held[place] = operator.out
        return held

    def _leaf_holds(self, place: int, now: int, change: int) -> Deltas:
        """All that a leaf holds, as one change."""
        if place in self._leaves:
            columns, weight = self._leaves[place].operator.current(now)
        else:
            columns, weight = self._others[place].current()
        ticks, changes = (np.full(len(weight), value, np.int64) for value in (now, change))
        return consolidated(Deltas(columns, ticks, changes, weight))

    # Counts -----------------------------------------------------------------------------------------------------------

    def measure(self, who: object, *, measured: bool) -> None:
        """Takes the CPU time of every step, from zero on, as long as anybody asks for it."""
        if measured and not self._watchers:
            for out in self._outs:
                out.spent_ns = 0
        self._watchers = {*self._watchers, who} if measured else self._watchers - {who}
        self.measures = bool(self._watchers)

    @property
    def watchers(self) -> frozenset[object]:
        """Who has its steps measured."""
        return frozenset(self._watchers)

    def counts(self, step: Step, now: int) -> tuple[int, int | None, float | None]:
        """How many changes a step has given, how much it keeps, and its CPU time in microseconds, while it is measured."""
        place = self._steps[step]
        out, operator = self._outs[place], self._operators[place]
        if place in self._leaves:
            kept: int | None = sum(c.contents(now) for c in self._leaves[place].operator.components)
        elif place in self._others:
            kept = len(self._others[place].current()[1])
        else:
            kept = None if operator is None else operator.stored
        return out.given, kept, out.spent_ns / 1000 if self.measures else None

    def pattern_counts(self, step: Step, now: int) -> list[tuple[int, int]]:
        """What has come for each pattern of a conjunction, and what it holds."""
        return self._leaves[self._steps[step]].operator.pattern_counts(now)

    @property
    def firsts(self) -> list[int]:
        """The numbers of the leaves' first patterns."""
        return [leaf.first for leaf in self.leaves]

    def dump(self, now: int) -> dict[str, Any]:
        """All it keeps that does not follow from the rest; everything must have been drained."""
        return {
            "leaves": [leaf.operator.dump(now) for leaf in self.leaves],
            "quads": [quads.dump() for quads in self._quads.values()],
            "arriving": [arriving.dump() for arriving in self._arriving.values()],
        }

    def _check_numbers(self) -> None:
        """Patterns of different leaves have different numbers, and there are no others."""
        taken = sorted((leaf.first, leaf.first + len(leaf.operator.plan.patterns)) for leaf in self.leaves)
        left = [] if self._restored is None else list(self._restored)
        if left or any(one[1] > other[0] for one, other in pairwise(taken)):
            raise ValueError("patterns are not numbered one after the other")

    def load(self, state: dict[str, Any], now: int) -> None:
        """Takes what an equal dataflow dumped."""
        self._check_numbers()
        for leaf, kept in zip(self.leaves, state["leaves"], strict=True):
            leaf.operator.load(kept, now)
        for quads, rows in zip(self._quads.values(), state["quads"], strict=True):
            quads.load(rows)
        for arriving, rows in zip(self._arriving.values(), state["arriving"], strict=True):
            arriving.load(rows)
        self._new.clear()
        self._restored = None
        self.look_ahead()
        if self._alone is None:
            self.clear()
            for place, operator in enumerate(self._operators):
                if operator is None:
                    self._outs[place].fill(self._leaf_holds(place, now, 0))
                else:
                    self._begin(operator, now, 0)


def _moved(leaves: dict[int, _Leaf], places: dict[int, int]) -> dict[int, _Leaf]:
    """Leaves at other places, in order of these; without those that have none any more."""
    return dict(sorted((places[place], leaf) for place, leaf in leaves.items() if place in places))
