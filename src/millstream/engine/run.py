"""A registered query at work: what happens to its streams and graphs becomes rows of its operator, deltas, emissions.

Everything here is in processing order; the engine sees to that. Ticks say when; see `millstream.operators.rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from millstream.engine.answers import AnswerSet, Emission, consolidate
from millstream.engine.arrangement import Arrangement, Rows
from millstream.engine.batch import ElementBatch, GraphRows
from millstream.engine.contents import Contents, Pieces
from millstream.engine.counting import CountFeed
from millstream.engine.datasets import Triples
from millstream.engine.feeds import NEVER, EventFeed, StepFeed
from millstream.engine.inputs import MEMBERS
from millstream.engine.reporting import ChangeReporter, CloseReporter, Emit, EverythingReporter, Reporter
from millstream.engine.visible import VisibleTicks
from millstream.kernels.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.language.windows import Event, Step, StreamWindow
from millstream.operators.dataflow import Dataflow, number_of
from millstream.operators.deltas import consolidated
from millstream.operators.rows import ELEMENT, Column, Deltas, tick, time_of
from millstream.plan.sources import Sources

PartRows: TypeAlias = tuple[Column, Deltas]
"""Rows of parts of a plan that run elsewhere or ran before, and for each the number of its part."""


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
        self.sources = sources
        self._dictionary = dictionary
        self.feeds: str | None = None
        """The stream that its answers form, while somebody reads it."""
        self.on_constructed: Callable[[str, Triples, int], None] | None = None
        self._initial: list[Deltas] | None = None
        self.tick = NEVER
        self.contents = Contents(query.windows, operator, dictionary, t0_ms)
        self.streams = frozenset(w.stream.value for w in query.windows)
        self._arrangement = Arrangement(operator.seen, operator.order, dictionary) if operator.order else None
        self.emit = emit
        self.reporter = self._make_reporter(self._emitted, t0_ms)
        # Windows whose patterns were all optimised away, or that match everything, still close and expire.
        self._visible: dict[StreamWindow, VisibleTicks] = {}
        if isinstance(self.reporter, EverythingReporter):
            self._visible = {w: VisibleTicks(w.window, dictionary, t0_ms) for w in query.windows}
        self._events_open: set[StreamWindow] = set()

    def _emitted(self, emission: Emission) -> None:
        """One emission: of one change, while its answers form a stream."""
        self.emit(emission)
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

    @property
    def is_timed(self) -> bool:
        """Whether only time ends what its windows hold, so that elements it keeps nothing of do not matter."""
        counted = (CountFeed, EventFeed)
        return not self.needs_everything and not any(isinstance(i.feed, counted) for i in self.contents.inputs)

    # What happens -----------------------------------------------------------------------------------------------------

    def start(self, graphs: dict[str | None, Triples], at_ms: int, passed: int, given: PartRows | None = None) -> None:
        """Takes the datasets as they are; over datasets alone this is the first answer set, at the clock.

        `passed` is the last tick that is over: what the query sees comes after it. A query with windows keeps what the
        datasets give by themselves for its first change. `given` are rows of parts of the plan that ran before.
        """
        at_tick = passed if self.query.windows else tick(at_ms, ELEMENT)
        pieces = [part for name, some in graphs.items() for part in self.contents.graph_pieces(name, some, at_tick, 1)]
        named = [(name, triples) for name, triples in graphs.items() if name is not None and name != MEMBERS]
        self._start(pieces, named, at_ms, at_tick, passed, given)

    def start_rows(self, rows: list[GraphRows], passed: int, given: PartRows | None = None) -> None:
        """As `start` for a query with windows, of which this run has only a part: rows that are meant for patterns."""
        self._start([part for some in rows for part in self.contents.graph_rows(some)], [], 0, passed, passed, given)

    def members_changed(self, triples: Triples, op: int, at_tick: int) -> None:
        """Queries join those that the run is for, or leave them: nothing that happens to anybody else.

        Time must have passed up to that tick. To one that joins a run with windows, nothing has happened yet.
        """
        at_tick = max(at_tick, self.tick)
        self.contents.feed(self.contents.graph_pieces(MEMBERS, triples, at_tick, op))
        if self._initial is not None:
            self._initial.append(self.operator.drain(at_tick))
            self.tick = at_tick
        else:
            self._report(at_tick)

    def start_arrived(self, part: Column, rows: Deltas, passed: int) -> None:
        """As `start` for the rest of a plan, of which parts run elsewhere: what those give at the start."""
        first = self.contents.change + 1
        self.operator.begin(passed, first)
        self.operator.feed_parts(part, Deltas(rows.columns, rows.tick, np.full(len(rows), first), rows.weight))
        self.contents.change, self.tick = first, passed
        self._initial = [self.operator.drain(passed)]

    def arrived(self, part: Column, rows: Deltas, last: int) -> None:
        """Rows of parts of the plan that run elsewhere, up to a tick; changes are numbered by whoever puts them together."""
        self.operator.feed_parts(part, rows)
        self._report(last, first=True)

    def report_initial(self) -> None:
        """Reports what the datasets gave at registration by itself, not together with the first change."""
        initial = self._take_initial()
        if initial is not None and len(initial):
            self.reporter.report(initial, self.tick)

    def _take_initial(self) -> Deltas | None:
        """What the datasets gave at registration, as one change."""
        parts, self._initial = self._initial, None
        if parts is None or len(parts) == 1:
            return None if parts is None else parts[0]
        columns, weight = consolidate(np.concatenate([d.columns for d in parts]), np.concatenate([d.weight for d in parts]))
        at_tick = np.full(len(weight), self.tick, np.int64)
        return Deltas(columns, at_tick, at_tick * 0, weight)

    def _start(
        self,
        pieces: Pieces,
        named: list[tuple[str, Triples]],
        at_ms: int,
        at_tick: int,
        passed: int,
        given: PartRows | None,
    ) -> None:
        first = self.contents.change + 1
        self.operator.begin(at_tick, first)
        self.contents.feed(pieces)
        if given is not None:
            part, rows = given
            ticks = np.full(len(rows), at_tick, np.int64)
            changes = np.full(len(rows), number_of(at_tick, first), np.int64)
            self.operator.feed_parts(part, Deltas(rows.columns, ticks, changes, rows.weight))
        self.contents.change = max(self.contents.change, first)
        for graph, triples in named:
            self.operator.graph_changed(graph, triples, 1, at_tick, first)
        if self.query.windows:
            self._initial = [self.operator.drain(at_tick)]
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
        due = self.contents.due(last)
        self.contents.feed([*due, *self.contents.arrive(batch, last)])
        self._report(last, first=True)

    def together(self, batches: list[ElementBatch], changes: list[GraphRows], last: int) -> None:
        """Elements and changes of graphs up to a tick that happen in an order of their own, whatever they concern.

        Not for a query that emits everything after every change.
        """
        pieces = self.contents.due(last)
        for batch in batches:
            pieces.extend(self.contents.arrive(batch, last))
        for rows in changes:
            pieces.extend(self.contents.graph_rows(rows))
        self.contents.feed(pieces)
        self._report(last, first=True)

    def _element(self, batch: ElementBatch, reporter: EverythingReporter) -> None:
        """One element, for a query that emits everything after every change."""
        at_tick = int(batch.ticks[0])
        self.pass_time(at_tick)
        ours = self.contents.of_stream(batch.stream)
        emptied = [w for w in self._events_open if w.stream.value == batch.stream]
        if emptied:
            pieces: Pieces = []
            for i in ours:
                if isinstance(i.feed, EventFeed):
                    pieces.extend((i, piece) for piece in i.feed.empty(at_tick))
            self.contents.feed(pieces)
            self._report(at_tick)
            reporter.changed(time_of(at_tick))
        for window, visible in self._visible.items():
            if window.stream.value == batch.stream:
                visible.arrive(batch)
                if isinstance(window.window, Event):
                    self._events_open.add(window)
        pieces = [(i, piece) for i in ours if i.feed is not None for piece in i.feed.arrive(batch)]
        self.contents.feed(pieces)
        self._report(at_tick, first=True)
        reporter.changed(time_of(at_tick))

    def graph_changed(self, graph: str | None, triples: Triples, op: int, at_tick: int) -> None:
        """An effective insert (op 1) or delete (-1) in one of its graphs."""
        self.pass_time(at_tick)
        before = self.contents.change
        self.contents.feed(self.contents.graph_pieces(graph, triples, at_tick, op))
        if graph is not None and self.operator.quads:
            self.contents.change = before + 1
            self.operator.graph_changed(graph, triples, op, at_tick, self.contents.change)
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
                self.contents.feed(self.contents.due(at_tick + 1))
                self._report(at_tick)
                self.reporter.changed(time_of(at_tick))
        self.contents.feed(self.contents.due(before))
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

    def close(self, at_tick: int) -> None:
        """Lets go of all terms."""
        self.contents.close(at_tick)
        self.operator.close(at_tick)
        self.reporter.close()

    @property
    def stored(self) -> int:
        """How many triples its patterns hold, those that wait for a partner included."""
        return sum(c.contents(self.tick) for c in self.operator.components)

    # Snapshots --------------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All it keeps, in plain values and arrays."""
        initial = self._take_initial()
        self._initial = None if initial is None else [initial]
        return {
            "tick": self.tick,
            "initial": None if initial is None else (initial.columns, initial.weight),
            "contents": self.contents.dump(),
            "visible": [v.dump() for v in self._visible.values()],
            "events_open": [w in self._events_open for w in self.query.windows],
            "operator": self.operator.dump(self.tick),
            "reporter": self.reporter.dump(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Takes what a run of the same query dumped."""
        self.tick = state["tick"]
        self.contents.load(state["contents"])
        if state["initial"] is not None:
            columns, weight = state["initial"]
            ticks = np.zeros(len(weight), np.int64)
            self._initial = [Deltas(columns, ticks, ticks, weight)]
        for visible, kept in zip(self._visible.values(), state["visible"], strict=True):
            visible.load(kept)
        windows = zip(self.query.windows, state["events_open"], strict=True)
        self._events_open = {window for window, is_open in windows if is_open}
        self.operator.load(state["operator"], self.tick)
        self.reporter.load(state["reporter"])

    # Answers --------------------------------------------------------------------------------------------------------------

    def _report(self, upto: int, *, first: bool = False) -> None:
        """Hands on what has become of the solutions; `first`: by a change that may be the first to concern the query."""
        self.tick = max(self.tick, upto)
        deltas = self.operator.drain(upto)
        if first and (initial := self._take_initial()) is not None:
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
        ahead = [i.feed.next_tick for i in self.contents.inputs if isinstance(i.feed, StepFeed)]
        ahead.append(self.operator.next_tick)
        at_tick = min((t for t in ahead if t is not None), default=None)
        if isinstance(self.reporter, CloseReporter):
            return self.reporter.next_close(at_tick)
        return at_tick

    # Looking in -------------------------------------------------------------------------------------------------------

    def answer_rows(self, member: int | None = None) -> Rows:
        """The answer set, each row once with how often it stands there, in the order the query asks for.

        A member gets its own rows, without the column that says so.
        """
        if self._arrangement is None:
            return rows_of(member, *self.answer_set().rows())
        if self.operator.seen < self.operator.width and isinstance(self.reporter, ChangeReporter):
            # What is reported of changes has no keys to order it by.
            if self.has_first_change_ahead:
                return rows_of(member, *AnswerSet(self.operator.seen).rows())
            current = self.operator.current(self.tick)
            rows = current.columns, current.weight
        else:
            rows = self.answer_set().rows()
        columns, weight = rows
        if member is not None:
            ours = columns[:, 0] == member
            columns, weight = columns[ours], weight[ours]
        return rows_of(member, *self._arrangement.arranged(columns, weight))

    def current_rows(self, member: int | None) -> Rows:
        """As `answer_rows`, for once: in no order but where everything is always emitted."""
        if isinstance(self.reporter, EverythingReporter):
            return self.answer_rows(member)
        current = self.operator.current(self.tick)
        return rows_of(member, *consolidate(current.columns[:, : self.operator.seen], current.weight))

    def answer_set(self) -> AnswerSet:
        """The answer set after the last change, none before the first; kept up to date from the first time anyone asks."""
        if self.reporter.answers is None:
            answers = AnswerSet(self.operator.width)
            if not self.has_first_change_ahead:
                current = self.operator.current(self.tick)
                answers.apply(current.columns, current.weight)
            self.reporter.answers = answers
        return self.reporter.answers


def rows_of(member: int | None, columns: npt.NDArray[np.int64], weight: Column) -> Rows:
    """The rows of a member without the column that says so; all rows, where there are no members."""
    if member is None:
        return columns, weight
    ours = columns[:, 0] == member
    return columns[ours, 1:], weight[ours]


def by_change(deltas: Deltas) -> Iterator[Deltas]:
    """The deltas of each change."""
    turns = (np.diff(deltas.tick) != 0) | (np.diff(deltas.change) != 0)
    for part in np.split(np.arange(len(deltas)), np.flatnonzero(turns) + 1):
        yield deltas.pick(part)
