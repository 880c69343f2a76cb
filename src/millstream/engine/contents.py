"""What the patterns of queries can see: changes of windows and graphs, numbered and handed to their operators in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from millstream.engine.batch import ElementBatch, GraphRows
from millstream.engine.datasets import Triples
from millstream.engine.inputs import Input, inputs_of, unread
from millstream.engine.merged import MergedContent
from millstream.engine.pieces import Piece, concatenated, in_order, is_ordered, taken
from millstream.engine.window_operators import NEVER
from millstream.kernels.dictionary import Dictionary
from millstream.operators import stored
from millstream.operators.dataflow import Dataflow, Leaf
from millstream.operators.layout import Root
from millstream.operators.matching import Constants
from millstream.operators.rows import FOREVER, MOST_MS, Arrivals, Column
from millstream.plan.conjunction import SourcedPattern
from millstream.windows.kinds import StreamWindow

Pieces = list[tuple[Input, Piece]]


class Contents:
    """The inputs of a dataflow."""

    def __init__(self, operator: Dataflow, dictionary: Dictionary, t0_ms: int) -> None:
        self.inputs: list[Input] = []
        self._by_leaf: dict[Leaf, list[Input]] = {}
        self._unread: dict[Root, list[Input]] = {}
        """The windows of queries that their patterns do not read."""
        self._operator = operator
        self._dictionary = dictionary
        self._t0_ms = t0_ms
        self.change = 0
        """The number of the last change."""
        self.orders: tuple[int, Column] = (1, np.empty(0, np.int64))
        """The number of the first change of what was fed last, and for it and all others their order within their tick."""
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

    # What it reads ----------------------------------------------------------------------------------------------------

    def of_stream(self, stream: str) -> list[Input]:
        """Its windows on a stream."""
        return [i for i in self.inputs if i.window is not None and i.window.stream.value == stream]

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

    def see(self, stream: str, at_ms: int) -> None:
        """An element of a stream has come at a time, though no row of it may have come here."""
        for i in self.of_stream(stream):
            if i.operator is not None:
                i.operator.see(at_ms)

    def last_end(self) -> int:
        """The latest finite tick at which something it has seen ends."""
        return max((i.operator.last_end() for i in self.inputs if i.operator is not None), default=NEVER)

    def end_of(self, stream: str, at_ms: int) -> int:
        """The latest finite tick at which an element of a stream ends that comes at a time, in any of its windows."""
        ends = [i.operator.end_of(at_ms) for i in self.of_stream(stream) if i.operator is not None]
        return max((end for end in ends if end < FOREVER), default=NEVER)

    # What happens -----------------------------------------------------------------------------------------------------

    def arrive(self, batch: ElementBatch, last: int) -> Pieces:
        """What elements of a stream bring up to a tick."""
        pieces: Pieces = []
        for i in self.of_stream(batch.stream):
            if i.operator is not None:
                pieces.extend((i, piece) for piece in i.operator.arrive(batch))
                # Within this batch, a window may show what the batch brought, or end.
                pieces.extend((i, piece) for piece in i.operator.pass_time(last))
        return pieces

    def due(self, before: int) -> Pieces:
        """What time brings by itself before a tick."""
        return [(i, piece) for i in self.inputs if i.operator is not None for piece in i.operator.pass_time(before)]

    def graph_pieces(
        self, graph: str | None, triples: Triples, at_tick: int, op: int, inputs: Iterable[Input] | None = None
    ) -> Pieces:
        """Triples that come to a graph, or leave it; for some of the inputs, if not for all."""
        ours = [i for i in (self.inputs if inputs is None else inputs) if i.operator is None and i.graph == graph]
        found = [(i, _graph_piece(i, triples, at_tick, op)) for i in ours]
        return [(i, piece) for i, piece in found if len(piece)]

    def graph_rows(self, rows: GraphRows) -> Pieces:
        """Changes of a graph that are meant for patterns already."""
        found = []
        for i in self.inputs:
            if i.operator is None and i.graph == rows.graph:
                ours = np.isin(rows.pattern, i.matcher.numbers)
                if ours.any():
                    until = np.full(int(ours.sum()), FOREVER, np.int64)
                    order = rows.order[ours] * 2 + 1
                    piece = Piece(rows.pattern[ours], rows.triples[ours], rows.ticks[ours], until, rows.op[ours], order)
                    found.append((i, piece))
        return found

    def feed(self, pieces: Pieces) -> None:
        """Puts pieces in order, numbers their changes, and hands them to the operator."""
        if not pieces:
            return
        merged = _merge_unions(pieces)
        if not merged:
            return
        whole = merged[0] if len(merged) == 1 else concatenated(merged)
        if len(merged) > 1 or not is_ordered(whole):
            whole = in_order(whole)
        new = np.ones(len(whole), np.bool_)
        new[1:] = (whole.now[1:] != whole.now[:-1]) | (whole.order[1:] != whole.order[:-1])
        self.orders = self.change + 1, whole.order[new]
        change = np.cumsum(new) + self.change
        self.change = int(change[-1]) if len(change) else self.change
        self._operator.feed(Arrivals(whole.pattern, whole.triples, whole.now, whole.until, whole.op, change))

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
                parts = sum(other.union is i.union for other in self.inputs)
                i.union.load(union, parts, i.matcher, self._dictionary)


def _graph_piece(source: Input, triples: Triples, at_tick: int, op: int) -> Piece:
    row, pattern = source.matcher.match(triples)
    size = len(row)
    now, until, ops, order = (np.full(size, v, np.int64) for v in (at_tick, FOREVER, op, 0))
    return Piece(pattern, triples[row], now, until, ops, order)


def _merge_unions(pieces: Pieces) -> list[Piece]:
    direct = [piece for source, piece in pieces if source.union is None]
    unions: dict[int, tuple[MergedContent, Pieces]] = {}
    for source, piece in pieces:
        if source.union is not None:
            unions.setdefault(id(source.union), (source.union, []))[1].append((source, piece))
    for union, parts in unions.values():
        whole = concatenated([piece for _, piece in parts])
        number = np.concatenate([np.full(len(piece), source.part, np.int64) for source, piece in parts])
        order = np.lexsort((whole.order, whole.now))
        merged = union.merge(taken(whole, order), number[order])
        if len(merged):
            direct.append(merged)
    return direct
