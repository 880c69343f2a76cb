"""A registered query at work: what happens to its streams and graphs becomes rows of its operator, deltas, emissions.

Everything here is in processing order; the engine sees to that. Ticks say when; see `millstream.operators.rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from pyoxigraph import NamedNode

from millstream.engine.answers import AnswerSet, Emission, consolidate
from millstream.engine.arrangement import Arrangement
from millstream.engine.batch import ElementBatch, GraphRows
from millstream.engine.counting import CountFeed
from millstream.engine.datasets import Triples
from millstream.engine.feeds import NEVER, EventFeed, Feed, StepFeed
from millstream.engine.inputs import Input, inputs_of
from millstream.engine.merged import MergedContent
from millstream.engine.pieces import Piece, concatenated, in_order, is_ordered, taken
from millstream.engine.reporting import ChangeReporter, CloseReporter, Emit, EverythingReporter, Reporter
from millstream.engine.visible import VisibleTicks
from millstream.kernels.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.language.windows import Event, Step, StreamWindow
from millstream.operators.dataflow import Dataflow
from millstream.operators.deltas import consolidated
from millstream.operators.matching import Matcher
from millstream.operators.rows import ELEMENT, FOREVER, Arrivals, Column, Deltas, tick, time_of
from millstream.plan.sources import Sources


class QueryRun:
    """The state of one query."""

    def __init__(
        self,
        query: a.Query,
        operator: Dataflow,
        sources: Sources,
        dictionary: Dictionary,
        emit: Emit,
        t0_ms: int,
    ) -> None:
        self.query = query
        self.operator = operator
        self._sources = sources
        self._dictionary = dictionary
        self.change = 0
        """The number of the last change."""
        self.orders: tuple[int, Column] = (1, np.empty(0, np.int64))
        """The number of the first change of what was fed last, and for it and all others their order within their tick."""
        self.feeds: str | None = None
        """The stream that its answers form, while somebody reads it."""
        self.on_constructed: Callable[[str, Triples, int], None] | None = None
        self._initial: Deltas | None = None
        self.tick = NEVER
        self._inputs = inputs_of(query.windows, operator, dictionary, t0_ms)
        self.streams = frozenset(w.stream.value for w in query.windows)
        self._arrangement = Arrangement(operator.seen, operator.order, dictionary) if operator.order else None
        self._emit = emit
        self.reporter = self._make_reporter(self._emitted, t0_ms)
        # Windows whose patterns were all optimised away, or that match everything, still close and expire.
        self._visible: dict[StreamWindow, VisibleTicks] = {}
        if isinstance(self.reporter, EverythingReporter):
            self._visible = {w: VisibleTicks(w.window, dictionary, t0_ms) for w in query.windows}
        self._events_open: set[StreamWindow] = set()

    def _emitted(self, emission: Emission) -> None:
        """One emission: of one change, while its answers form a stream."""
        self._emit(emission)
        if self.feeds is not None and self.on_constructed is not None:
            self.on_constructed(self.feeds, emission.columns, int(emission.at_ms[0]))

    def _make_reporter(self, emit: Emit, t0_ms: int) -> Reporter:
        width = self.operator.width
        steps = [w.window.step_ms for w in self.query.windows if isinstance(w.window, Step)]
        if self.query.closes_windows:
            return CloseReporter(self.query.output, width, emit, steps, t0_ms, self._dictionary, self._arrangement)
        if self.query.output is a.Output.RSTREAM:
            return EverythingReporter(width, emit, self._arrangement)
        return ChangeReporter(self.query.output, width, emit, on_grids=bool(steps))

    # What it reads ----------------------------------------------------------------------------------------------------

    @property
    def needs_everything(self) -> bool:
        """Whether it must see triples that none of its patterns can match."""
        return isinstance(self.reporter, EverythingReporter)

    @property
    def steps(self) -> bool:
        """Whether something of it happens on a grid."""
        return any(isinstance(w.window, Step) for w in self.query.windows)

    @property
    def has_first_change_ahead(self) -> bool:
        """Whether what the datasets gave at registration still waits to be reported."""
        return self._initial is not None

    def window_inputs(self, stream: str) -> list[tuple[Feed, Matcher, bool]]:
        """The windows on a stream: feed, matcher, and whether they are part of a union."""
        return [
            (i.feed, i.matcher, i.union is not None)
            for i in self._inputs
            if i.feed is not None and i.window is not None and i.window.stream.value == stream
        ]

    @property
    def is_timed(self) -> bool:
        """Whether only time ends what its windows hold, so that elements it keeps nothing of do not matter."""
        counted = (CountFeed, EventFeed)
        return not self.needs_everything and not any(isinstance(i.feed, counted) for i in self._inputs)

    def constants(self, stream: str) -> list[tuple[bytes | None, bytes | None, bytes | None]]:
        """The constants of its patterns over a stream: what a triple must have for one of them."""
        matchers = {id(i.matcher): i.matcher for i in self._inputs if i.window and i.window.stream.value == stream}
        return [constants for matcher in matchers.values() for constants in matcher.constants]

    def reads_graph(self, graph: str | None) -> bool:
        """Whether a change of that graph is a change for this query."""
        default, named = self.query.dataset.default, self.query.dataset.named
        if graph is None:
            return self._sources.default_graph and default is None
        # By text: a graph that a blank node names has no IRI, and only GRAPH with a variable finds it.
        if self._sources.default_graph and graph in _values(default):
            return True
        if named is not None and graph not in _values(named):
            return False
        return self._sources.any_named_graph or graph in _values(self._sources.named_graphs)

    # What happens -----------------------------------------------------------------------------------------------------

    def start(self, graphs: dict[str | None, Triples], at_ms: int, passed: int) -> None:
        """Takes the datasets as they are; over datasets alone this is the first answer set, at the clock.

        `passed` is the last tick that is over: what the query sees comes after it. A query with windows keeps what the
        datasets give by themselves for its first change.
        """
        at_tick = passed if self.query.windows else tick(at_ms, ELEMENT)
        pieces = []
        for i in self._inputs:
            if i.feed is None and i.graph in graphs:
                piece = self._graph_piece(i, graphs[i.graph], at_tick, 1)
                if len(piece):
                    pieces.append((i, piece))
        named = [(name, triples) for name, triples in graphs.items() if name is not None]
        self._start(pieces, named, at_ms, at_tick, passed)

    def start_rows(self, rows: list[GraphRows], passed: int) -> None:
        """As `start` for a query with windows, of which this run has only a part: rows that are meant for patterns."""
        self._start([part for some in rows for part in self._graph_rows(some)], [], 0, passed, passed)

    def start_arrived(self, part: Column, rows: Deltas, passed: int) -> None:
        """As `start` for the rest of a plan, of which parts run elsewhere: what those give at the start."""
        first = self.change + 1
        self.operator.begin(passed, first)
        self.operator.feed_parts(part, Deltas(rows.columns, rows.tick, np.full(len(rows), first), rows.weight))
        self.change, self.tick = first, passed
        self._initial = self.operator.drain(passed)

    def arrived(self, part: Column, rows: Deltas, last: int) -> None:
        """Rows of parts of the plan that run elsewhere, up to a tick; changes are numbered by whoever puts them together."""
        self.operator.feed_parts(part, rows)
        self._report(last, first=True)

    def report_initial(self) -> None:
        """Reports what the datasets gave at registration by itself, not together with the first change."""
        initial, self._initial = self._initial, None
        if initial is not None and len(initial):
            self.reporter.report(initial, self.tick)

    def _start(
        self,
        pieces: list[tuple[Input, Piece]],
        named: list[tuple[str, Triples]],
        at_ms: int,
        at_tick: int,
        passed: int,
    ) -> None:
        first = self.change + 1
        self.operator.begin(at_tick, first)
        self._feed(pieces)
        self.change = max(self.change, first)
        for graph, triples in named:
            self.operator.graph_changed(graph, triples, 1, at_tick, first)
        if self.query.windows:
            self._initial = self.operator.drain(at_tick)
        else:
            self._report(at_tick)
            if isinstance(self.reporter, EverythingReporter):
                self.reporter.changed(at_ms)
        self.tick = passed

    def elements(self, batch: ElementBatch) -> None:
        """Elements of one of its streams."""
        if self._initial is not None and len(batch) > 1:
            # The first change is reported together with what the datasets gave.
            self.elements(batch.slice(0, 1))
            batch = batch.slice(1, len(batch))
        if isinstance(self.reporter, EverythingReporter):
            for place in range(len(batch)):
                self._element(batch.slice(place, place + 1), self.reporter)
            return
        if isinstance(self.reporter, CloseReporter):
            self.reporter.first_element(int(batch.at_ms[0]))
        last = int(batch.ticks[-1])
        pieces = self._due(last)
        for i in self._inputs:
            if i.feed is not None and i.window is not None and i.window.stream.value == batch.stream:
                pieces.extend((i, piece) for piece in i.feed.arrive(batch))
                # A step window may show at once, within this batch, what the batch brought.
                pieces.extend((i, piece) for piece in i.feed.pass_time(last))
        self._feed(pieces)
        self._report(last, first=True)

    def together(self, batches: list[ElementBatch], changes: list[GraphRows], last: int) -> None:
        """Elements and changes of graphs up to a tick that happen in an order of their own, whatever they concern.

        Not for a query that emits everything after every change.
        """
        pieces = self._due(last)
        for batch in batches:
            for i in self._inputs:
                if i.feed is not None and i.window is not None and i.window.stream.value == batch.stream:
                    pieces.extend((i, piece) for piece in i.feed.arrive(batch))
                    pieces.extend((i, piece) for piece in i.feed.pass_time(last))
        for rows in changes:
            pieces.extend(self._graph_rows(rows))
        self._feed(pieces)
        self._report(last, first=True)

    def _element(self, batch: ElementBatch, reporter: EverythingReporter) -> None:
        """One element, for a query that emits everything after every change."""
        at_tick = int(batch.ticks[0])
        self.pass_time(at_tick)
        ours = [i for i in self._inputs if i.window is not None and i.window.stream.value == batch.stream]
        emptied = [w for w in self._events_open if w.stream.value == batch.stream]
        if emptied:
            pieces: list[tuple[Input, Piece]] = []
            for i in ours:
                if isinstance(i.feed, EventFeed):
                    pieces.extend((i, piece) for piece in i.feed.empty(at_tick))
            self._feed(pieces)
            self._report(at_tick)
            reporter.changed(time_of(at_tick))
        for window, visible in self._visible.items():
            if window.stream.value == batch.stream:
                visible.arrive(batch)
                if isinstance(window.window, Event):
                    self._events_open.add(window)
        pieces = [(i, piece) for i in ours if i.feed is not None for piece in i.feed.arrive(batch)]
        self._feed(pieces)
        self._report(at_tick, first=True)
        reporter.changed(time_of(at_tick))

    def graph_changed(self, graph: str | None, triples: Triples, op: int, at_tick: int) -> None:
        """An effective insert (op 1) or delete (-1) in one of its graphs."""
        self.pass_time(at_tick)
        pieces = []
        for i in self._inputs:
            if i.feed is None and i.graph == graph:
                piece = self._graph_piece(i, triples, at_tick, op)
                if len(piece):
                    pieces.append((i, piece))
        before = self.change
        self._feed(pieces)
        if graph is not None and self.operator.quads:
            self.change = before + 1
            self.operator.graph_changed(graph, triples, op, at_tick, self.change)
        self._report(at_tick, first=True)
        if isinstance(self.reporter, EverythingReporter):
            self.reporter.changed(time_of(at_tick))

    def pass_time(self, before: int) -> None:
        """Lets happen what time brings by itself at ticks before this one."""
        if before - 1 <= self.tick:
            return
        if isinstance(self.reporter, EverythingReporter):
            while True:
                ticks = [v.next_change(self.tick, before) for v in self._visible.values()]
                at_tick = min((t for t in ticks if t is not None), default=None)
                if at_tick is None:
                    break
                self._feed(self._due(at_tick + 1))
                self._report(at_tick)
                self.reporter.changed(time_of(at_tick))
        self._feed(self._due(before))
        self._report(before - 1)

    def report_rows(self, at_tick: int) -> None:
        """Reports what a change that was fed row by row, to the joins themselves, made of the solutions."""
        self.operator.feed_rows(at_tick)
        self._report(at_tick)

    def report_due(self, at_tick: int) -> None:
        """Reports what has ended by itself, if anything has."""
        due = self.operator.next_tick
        if due is not None and due <= at_tick:
            self._report(at_tick)

    def see(self, stream: str, at_ms: int) -> None:
        """An element of a stream has come at a time, though no row of it may have come here."""
        for feed, _, _ in self.window_inputs(stream):
            feed.see(at_ms)

    def last_end(self) -> int:
        """The latest finite tick at which something it has seen ends."""
        return max((i.feed.last_end() for i in self._inputs if i.feed is not None), default=NEVER)

    def close(self, at_tick: int) -> None:
        """Lets go of all terms."""
        for i in self._inputs:
            if i.feed is not None:
                i.feed.close(at_tick)
        self.operator.close(at_tick)
        self.reporter.close()

    @property
    def stored(self) -> int:
        """How many triples its patterns hold, those that wait for a partner included."""
        return sum(c.contents(self.tick) for c in self.operator.components)

    # Snapshots --------------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All it keeps, in plain values and arrays."""
        initial = self._initial
        return {
            "change": self.change,
            "tick": self.tick,
            "initial": None if initial is None else (initial.columns, initial.weight),
            "feeds": [None if i.feed is None else i.feed.dump() for i in self._inputs],
            "unions": [None if i.union is None else i.union.dump() for i in self._inputs],
            "visible": [v.dump() for v in self._visible.values()],
            "events_open": [w in self._events_open for w in self.query.windows],
            "operator": self.operator.dump(self.tick),
            "reporter": self.reporter.dump(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Takes what a run of the same query dumped."""
        self.change, self.tick = state["change"], state["tick"]
        if state["initial"] is not None:
            columns, weight = state["initial"]
            ticks = np.zeros(len(weight), np.int64)
            self._initial = Deltas(columns, ticks, ticks, weight)
        unions: set[int] = set()
        for i, feed, union in zip(self._inputs, state["feeds"], state["unions"], strict=True):
            if i.feed is not None:
                i.feed.load(feed)
            if i.union is not None and id(i.union) not in unions:
                unions.add(id(i.union))
                i.union.load(union)
        for visible, kept in zip(self._visible.values(), state["visible"], strict=True):
            visible.load(kept)
        windows = zip(self.query.windows, state["events_open"], strict=True)
        self._events_open = {window for window, is_open in windows if is_open}
        self.operator.load(state["operator"], self.tick)
        self.reporter.load(state["reporter"])

    # Rows -------------------------------------------------------------------------------------------------------------

    def _due(self, before: int) -> list[tuple[Input, Piece]]:
        return [(i, piece) for i in self._inputs if i.feed is not None for piece in i.feed.pass_time(before)]

    def _graph_piece(self, source: Input, triples: Triples, at_tick: int, op: int) -> Piece:
        row, pattern = source.matcher.match(triples)
        size = len(row)
        now, until, ops, order = (np.full(size, v, np.int64) for v in (at_tick, FOREVER, op, 0))
        return Piece(pattern, triples[row], now, until, ops, order)

    def _graph_rows(self, rows: GraphRows) -> list[tuple[Input, Piece]]:
        found = []
        for i in self._inputs:
            if i.feed is None and i.graph == rows.graph:
                ours = np.isin(rows.pattern, i.matcher.numbers)
                if ours.any():
                    until = np.full(int(ours.sum()), FOREVER, np.int64)
                    order = rows.order[ours] * 2 + 1
                    piece = Piece(rows.pattern[ours], rows.triples[ours], rows.ticks[ours], until, rows.op[ours], order)
                    found.append((i, piece))
        return found

    def _feed(self, pieces: list[tuple[Input, Piece]]) -> None:
        """Puts pieces in order, numbers their changes, and hands them to the operator."""
        if not pieces:
            return
        merged = self._merge_unions(pieces)
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
        self.operator.feed(Arrivals(whole.pattern, whole.triples, whole.now, whole.until, whole.op, change))

    def _merge_unions(self, pieces: list[tuple[Input, Piece]]) -> list[Piece]:
        direct = [piece for source, piece in pieces if source.union is None]
        unions: dict[int, tuple[MergedContent, list[tuple[Input, Piece]]]] = {}
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

    def _report(self, upto: int, *, first: bool = False) -> None:
        """Hands on what has become of the solutions; `first`: by a change that may be the first to concern the query."""
        self.tick = max(self.tick, upto)
        deltas = self.operator.drain(upto)
        if first and self._initial is not None:
            initial, self._initial = self._initial, None
            columns, weight = consolidate(
                np.concatenate([initial.columns, deltas.columns]), np.concatenate([initial.weight, deltas.weight])
            )
            at_tick = np.full(len(weight), upto, np.int64)
            deltas = Deltas(columns, at_tick, at_tick * 0, weight)
        if isinstance(self.reporter, ChangeReporter) and self.operator.seen < self.operator.width:
            seen = deltas.columns[:, : self.operator.seen]
            deltas = consolidated(Deltas(seen, deltas.tick, deltas.change, deltas.weight))
        if self.feeds is None or not len(deltas):
            self.reporter.report(deltas, upto)
            return
        for part in by_change(deltas):
            self.reporter.report(part, int(part.tick[0]))
        self.reporter.report(deltas.pick(slice(0, 0)), upto)

    def next_change(self, before: int) -> int | None:
        """The first tick before another at which time alone may make it emit something."""
        if isinstance(self.reporter, EverythingReporter):
            ticks = [v.next_change(self.tick, before) for v in self._visible.values()]
            return min((t for t in ticks if t is not None), default=None)
        ahead = [i.feed.next_tick for i in self._inputs if isinstance(i.feed, StepFeed)]
        ahead.append(self.operator.next_tick)
        at_tick = min((t for t in ahead if t is not None), default=None)
        if isinstance(self.reporter, CloseReporter):
            return self.reporter.next_close(at_tick)
        return at_tick

    # Looking in -------------------------------------------------------------------------------------------------------

    def answer_rows(self) -> tuple[npt.NDArray[np.int64], Column]:
        """The answer set, each row once with how often it stands there, in the order the query asks for."""
        if self._arrangement is None:
            return self.answer_set().rows()
        if self.operator.seen < self.operator.width and isinstance(self.reporter, ChangeReporter):
            # What is reported of changes has no keys to order it by.
            if self.has_first_change_ahead:
                return AnswerSet(self.operator.seen).rows()
            current = self.operator.current(self.tick)
            return self._arrangement.arranged(current.columns, current.weight)
        return self._arrangement.arranged(*self.answer_set().rows())

    def answer_set(self) -> AnswerSet:
        """The answer set after the last change, none before the first; kept up to date from the first time anyone asks."""
        if self.reporter.answers is None:
            answers = AnswerSet(self.operator.width)
            if not self.has_first_change_ahead:
                current = self.operator.current(self.tick)
                answers.apply(current.columns, current.weight)
            self.reporter.answers = answers
        return self.reporter.answers


def by_change(deltas: Deltas) -> Iterator[Deltas]:
    """The deltas of each change."""
    turns = (np.diff(deltas.tick) != 0) | (np.diff(deltas.change) != 0)
    for part in np.split(np.arange(len(deltas)), np.flatnonzero(turns) + 1):
        yield deltas.pick(part)


def _values(names: Iterable[NamedNode] | None) -> set[str]:
    return {name.value for name in names or ()}
