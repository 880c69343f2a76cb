"""Window state: changes of the windows and graphs that patterns see, numbered and handed to operators in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.engine.input.change_batch import GraphEdits
from millstream.engine.input.datasets import Graph
from millstream.engine.windows.inputs import Input, inputs_of, unread
from millstream.engine.windows.window_operators import NEVER, Operator
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.intake import Intake
from millstream.kernels.windows.window_changes import ContentChanges
from millstream.operators import stored
from millstream.operators.dataflow.dataflow import Dataflow, Leaf
from millstream.operators.dataflow.layout import Root
from millstream.operators.leaves.matching import Constants
from millstream.operators.ticks import FOREVER, MOST_MS, Column
from millstream.plan.conjunction import SourcedPattern
from millstream.windows.kinds import StreamWindow

_AT_ONCE = 4096
"""Triples of a graph that are shown together."""


@dataclass(frozen=True, slots=True)
class GraphRows:
    """Rows that enter (op 1) or leave (-1) a graph, each for one pattern, in processing order."""

    graph: str | None
    triples: npt.NDArray[np.int64]
    pattern: Column
    ticks: Column
    op: Column
    order: Column
    """For each row the place of its change among all that happens together."""


class WindowState(ContentChanges):
    """The inputs of a dataflow."""

    def __init__(self, operator: Dataflow, dictionary: Dictionary, t0_ms: int) -> None:
        self.inputs: list[Input] = []
        self._by_leaf: dict[Leaf, list[Input]] = {}
        self._unread: dict[Root, list[Input]] = {}
        """The windows of queries that their patterns do not read."""
        self._operator = operator
        self._dictionary = dictionary
        self._t0_ms = t0_ms
        self.named: Callable[[SourcedPattern, Constants], Iterable[Constants]] = lambda _, constants: (constants,)
        """What a triple must have for a pattern, if more is known than its constants."""

    # Coming and going -------------------------------------------------------------------------------------------------

    def add(self, windows: Iterable[StreamWindow], root: Root) -> list[Input]:
        """Begins to read what a query reads; gives what nobody has read before."""
        leaves = self._operator.leaves_of(root)
        new = [leaf for leaf in leaves if leaf not in self._by_leaf]
        for leaf in new:
            self._by_leaf[leaf] = inputs_of(leaf, self._dictionary, self._t0_ms)
        read = {i.window for leaf in leaves for i in self._by_leaf[leaf]}
        self._unread[root] = unread((w for w in windows if w not in read), self._dictionary, self._t0_ms)
        self._arrange()
        return [i for leaf in new for i in self._by_leaf[leaf]]

    def drop(self, root: Root, at_tick: int) -> None:
        """Reads no more what only a query read that is gone."""
        gone = self._unread.pop(root)
        for leaf in self._by_leaf.keys() - set(self._operator.leaves):
            gone += self._by_leaf.pop(leaf)
        for i in gone:
            if i.operator is not None:
                i.operator.close(at_tick)
        self._arrange()

    def _arrange(self) -> None:
        """In the order that a dataflow of the same queries has, whatever others there have been."""
        read = [i for leaf in self._operator.leaves for i in self._by_leaf.get(leaf, ())]
        self.inputs = [*read, *(i for root in self._operator.roots for i in self._unread.get(root, ()))]
        self.windows, self.acting, self.unions, self.graphs = {}, [], {}, {}
        for place, i in enumerate(self.inputs):
            if i.union is not None:
                self.unions[place] = i.union, i.part
            if i.operator is None:
                self.graphs.setdefault(i.graph, []).append((i.matcher.together, place))
            elif i.window is not None:
                i.operator.source = place
                self.windows.setdefault(i.window.stream.value, []).append(i.operator)
                if i.operator.acts:
                    self.acting.append(i.operator)

    # What it reads ----------------------------------------------------------------------------------------------------

    def of_stream(self, stream: str) -> list[Input]:
        """Its windows on a stream."""
        return [i for i in self.inputs if i.window is not None and i.window.stream.value == stream]

    def of_graph(self, graph: str | None) -> list[Input]:
        """What it reads of a graph."""
        return [i for i in self.inputs if i.operator is None and i.graph == graph]

    def constants(self, stream: str) -> list[Constants]:
        """The constants of its patterns over a stream: what a triple must have for one of them."""
        patterns = self._operator.patterns
        matchers = {id(i.matcher): i.matcher for i in self.of_stream(stream)}
        return [
            found
            for matcher in matchers.values()
            for number, constants in zip(matcher.numbers.tolist(), matcher.constants, strict=True)
            for found in self.named(patterns[number], constants)
        ]

    def operators(self, stream: str) -> list[Operator]:
        """The operators of its windows on a stream."""
        found: list[Operator] = self.windows.get(stream, [])
        return found

    def see(self, stream: str, at_ms: int) -> None:
        """An element of a stream has come at a time, though no row of it may have come here."""
        for operator in self.operators(stream):
            operator.see(at_ms)

    def last_end(self) -> int:
        """The latest finite tick at which something it has seen ends."""
        return max((i.operator.last_end() for i in self.inputs if i.operator is not None), default=NEVER)

    def end_of(self, stream: str, at_ms: int) -> int:
        """The latest finite tick at which an element of a stream ends that comes at a time, in any of its windows."""
        ends = [operator.end_of(at_ms) for operator in self.operators(stream)]
        return max((end for end in ends if end < FOREVER), default=NEVER)

    @property
    def next_tick(self) -> int:
        """When something next enters or leaves a window by itself; FOREVER if never."""
        return min((tick for i in self.acting if (tick := i.next_tick) is not None), default=FOREVER)

    # What happens -----------------------------------------------------------------------------------------------------

    def show_graph(self, graph: str | None, content: Graph, at_tick: int, inputs: Iterable[Input]) -> None:
        """Hands what patterns ask for of a graph to the operators, for some of the inputs, as one change.

        In parts: what is between a graph and a join then stays in the processor's cache.
        """
        wanted, before = set(map(id, inputs)), self.change
        for place, i in enumerate(self.inputs):
            if i.operator is None and i.graph == graph and id(i) in wanted:
                triples = content.triples() if i.matcher.predicates is None else content.triples_of(i.matcher.predicates)
                for first in range(0, len(triples), _AT_ONCE):
                    self.graph_changed(i.matcher.together, place, Intake(triples[first : first + _AT_ONCE]), at_tick, 1)
                    self.change = before
                    self.feed()

    def take_edits(self, edits: GraphEdits) -> None:
        """Collects changes of a graph, each of them by itself."""
        for place, i in enumerate(self.inputs):
            if i.operator is None and i.graph == edits.graph:
                self.graph_changes(i.matcher.together, place, edits.triples, edits.ticks, edits.op, edits.order)

    def take_rows(self, rows: GraphRows) -> None:
        """Collects changes of a graph that are meant for patterns already."""
        for place, i in enumerate(self.inputs):
            if i.operator is None and i.graph == rows.graph:
                self.graph_rows(i.matcher.patterns, place, rows.pattern, rows.triples, rows.ticks, rows.op, rows.order)

    def feed(self, *, leaving: bool = False) -> None:
        """Hands what was collected to the operators; `leaving`: only what leaves before an element."""
        arrivals = self.number(leaving)
        if arrivals is not None:
            self._operator.feed(arrivals)

    # Snapshots --------------------------------------------------------------------------------------------------------

    def dump(self, passed: int) -> dict[str, Any]:
        """All it keeps, in plain values and arrays."""
        return {
            "change": self.change,
            "windows": [None if i.operator is None else i.operator.dump() for i in self.inputs],
            "unions": [None if i.union is None else i.union.dump(passed) for i in self.inputs],
        }

    def load(self, state: dict[str, Any]) -> None:
        """Takes what the contents of the same queries dumped."""
        self.change = stored.whole(state["change"], 0, MOST_MS)
        unions: set[int] = set()
        for i, window, union in zip(self.inputs, state["windows"], state["unions"], strict=True):
            if i.operator is not None:
                i.operator.load(window)
            if i.union is not None and id(i.union) not in unions:
                unions.add(id(i.union))
                i.union.load(union, i.matcher, self._dictionary)
