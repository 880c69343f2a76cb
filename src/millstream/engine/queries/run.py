"""Registered queries at work: what happens to their streams and graphs becomes rows of operators, deltas, emissions.

Mostly a run is for one query. Those that have parts of their plans in common share one: what they have in common runs once,
and each has its own emitter. Everything here is in processing order; the engine sees to that. Ticks say when; see
`millstream.operators.ticks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from millstream.engine.input.change_batch import GraphEdits, change_by_change
from millstream.engine.input.datasets import Graph, Triples
from millstream.engine.output.emitter import Emitter
from millstream.engine.output.reporting import BEFORE_ALL, ChangeReporter, CloseReporter, Emit, EverythingReporter
from millstream.engine.windows.content_ticks import ContentTicks, content_ticks_of
from millstream.engine.windows.inputs import PARAMETERS, Input
from millstream.engine.windows.window_operators import NEVER, TimeOperator
from millstream.engine.windows.window_state import GraphRows, WindowState
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.pending import Receiver
from millstream.kernels.engine.run import Run
from millstream.kernels.matching.elements import Elements
from millstream.kernels.matching.intake import Intake
from millstream.language import algebra as a
from millstream.operators import stored
from millstream.operators.dataflow.dataflow import Dataflow
from millstream.operators.dataflow.numbering import number_of
from millstream.operators.ticks import ELEMENT, FOREVER, Column, Deltas, tick, time_of
from millstream.plan.nodes import Node
from millstream.windows.kinds import StreamWindow

PartRows: TypeAlias = tuple[Column, Deltas]
"""Rows of parts of a plan that run elsewhere or ran before, and for each the number of its part."""


class QueryRun(Run):
    """The state of one query, or of several that share it."""

    emitter_type = Emitter
    operator: Dataflow
    contents: WindowState
    emitters: list[Emitter]

    def __init__(self, operator: Dataflow, dictionary: Dictionary, t0_ms: int) -> None:
        super().__init__(operator, WindowState(operator, dictionary, t0_ms))
        self.dictionary = dictionary
        self.t0_ms = t0_ms
        self.streams: frozenset[str] = frozenset()
        self._unshown: list[Input] = []
        """What only the query reads that came last."""
        # What emits everything after every change has a run of its own. Its windows close and expire, also those whose
        # patterns were all optimised away, or that match everything.
        self._everything: EverythingReporter | None = None
        self._visible: dict[StreamWindow, ContentTicks] = {}

    # Coming and going -------------------------------------------------------------------------------------------------

    def add(self, query: a.Query, plan: Node, emit: Emit | Receiver, era: int = 0) -> Emitter:
        """The end of another query, which has been shown nothing."""
        root = self.operator.add(plan, era)
        emitter = self.emitter_type(self, query, root, emit)
        self.emitters.append(emitter)
        self._unshown = self.contents.add(query.windows, root)
        self.streams |= emitter.streams
        self.is_plain = False
        self.closing = [o for o in self.emitters if isinstance(o.reporter, CloseReporter)]
        if isinstance(emitter.reporter, EverythingReporter):
            assert len(self.emitters) == 1
            self._everything = emitter.reporter
            operators = {i.window: i.operator for i in self.contents.inputs}
            self._visible = {w: content_ticks_of(w.window, operators[w], self.dictionary, self.t0_ms) for w in query.windows}
        return emitter

    def drop(self, emitter: Emitter, at_tick: int) -> None:
        """Lets go of a query, and of the terms that only it needs."""
        self.emitters.remove(emitter)
        self.operator.drop(emitter.root, at_tick)
        self.contents.drop(emitter.root, at_tick)
        emitter.reporter.close()
        self.closing = [o for o in self.emitters if isinstance(o.reporter, CloseReporter)]
        self.streams = frozenset(iri for other in self.emitters for iri in other.streams)

    @property
    def only(self) -> Emitter:
        """The end of the query that it is for, where it is for one alone."""
        (emitter,) = self.emitters
        return emitter

    # What it reads ----------------------------------------------------------------------------------------------------

    def reads(self, graph: str | None) -> bool:
        """Whether a change of a graph concerns any of its queries."""
        return any(emitter.sources.has(graph) for emitter in self.emitters)

    @property
    def windows(self) -> list[StreamWindow]:
        return [window for emitter in self.emitters for window in emitter.query.windows]

    @property
    def stored(self) -> int:
        """How many triples its patterns hold, those that wait for a partner included."""
        return sum(c.contents(self.tick) for c in self.operator.components)

    @property
    def needs_everything(self) -> bool:
        """Whether it must see triples that none of its patterns can match."""
        return self._everything is not None

    @property
    def has_first_change_ahead(self) -> bool:
        """Whether what the datasets gave at registration still waits to be reported."""
        return any(emitter.has_first_change_ahead for emitter in self.emitters)

    @property
    def repeats(self) -> bool:
        """Whether time alone makes it emit everything again."""
        return bool(self._visible) or any(
            isinstance(o.reporter, CloseReporter) and o.query.output is a.Output.RSTREAM for o in self.emitters
        )

    def answers_ahead(self, times_ms: tuple[int, int], elements: int, triples: int) -> int:
        """About how many answers it gives where everything is emitted again, while elements come from a time to another."""
        since_ms, until_ms = times_ms
        before = tick(until_ms, ELEMENT)
        if self._everything is not None:
            changes = elements - 1 + sum(visible.due_before(before) for visible in self._visible.values())
            return changes * (self._everything.answers.total + triples) if changes else 0
        spans = [(w.window.kept_ms or 0) // step for w in self.windows if (step := w.window.step_ms) is not None]
        closing = (o.reporter for o in self.emitters if isinstance(o.reporter, CloseReporter))
        return sum(reporter.ahead(since_ms, before, triples, max(spans)) for reporter in closing)

    @property
    def is_timed(self) -> bool:
        """Whether only time ends what its windows hold, so that elements it keeps nothing of do not matter."""
        operators = (i.operator for i in self.contents.inputs if i.operator is not None)
        return not self.needs_everything and all(isinstance(operator, TimeOperator) for operator in operators)

    # What happens -----------------------------------------------------------------------------------------------------

    def start(self, graphs: Mapping[str | None, Graph], now: int, passed: int, given: PartRows | None = None) -> None:
        """Shows the query that came last the datasets as they are.

        Over datasets alone this is the first answer set, now. `passed` is the last tick that is over: what the query sees
        comes after it. A query with windows keeps what the datasets give by themselves for its first change. `given` are
        rows of parts of the plan that ran before.
        """
        at_tick, first = passed if self.emitters[-1].query.windows else now, self.contents.change + 1
        for name, content in graphs.items():
            self.contents.change = first - 1
            self.contents.show_graph(name, content, at_tick, self._unshown)
            if name is not None and name != PARAMETERS and self.operator.has_quads:
                self.operator.show_graph(name, content.triples(), at_tick, first)
        self._start(at_tick, first, given)

    def start_rows(self, rows: list[GraphRows], passed: int, given: PartRows | None = None) -> None:
        """As `start` for a query with windows, of which this run has only a part: rows that are meant for patterns."""
        first = self.contents.change + 1
        for some in rows:
            self.contents.take_rows(some)
        self.contents.feed()
        self._start(passed, first, given)

    def parameters_changed(self, triples: Triples, op: int, at_tick: int) -> None:
        """Queries join those that the run is for, or leave them: nothing that happens to anybody else.

        Time must have passed up to that tick. To one that joins a run with windows, nothing has happened yet.
        """
        at_tick = max(at_tick, self.tick)
        self.contents.take_graph(PARAMETERS, Intake(triples), at_tick, op)
        self.contents.feed()
        emitter = self.only
        if emitter.has_first_change_ahead:
            (deltas,) = self.operator.drain(at_tick)
            emitter.keep_initial(deltas)
            self.tick = at_tick
        else:
            self.report(at_tick)

    def start_arrived(self, part: Column, rows: Deltas, passed: int) -> None:
        """As `start` for the rest of a plan, of which parts run elsewhere: what those give at the start."""
        first = self.contents.change + 1
        self.operator.feed_parts(part, Deltas(rows.columns, rows.tick, np.full(len(rows), first), rows.weight))
        self.contents.change, self.tick = first, passed
        self.only.keep_initial(self.operator.begin(self.only.root, passed, first))

    def arrived(self, part: Column, rows: Deltas, last: int) -> None:
        """Rows of parts of the plan that run elsewhere, up to a tick; changes are numbered by whoever puts them together."""
        self.operator.feed_parts(part, rows)
        self.report(last, self.emitters)

    def report_initial(self) -> None:
        """Reports what the datasets gave at registration by itself, not together with the first change."""
        for emitter in self.emitters:
            emitter.report_initial()

    def _start(self, at_tick: int, first: int, given: PartRows | None) -> None:
        emitter = self.emitters[-1]
        if given is not None:
            part, rows = given
            ticks = np.full(len(rows), at_tick, np.int64)
            changes = np.full(len(rows), number_of(at_tick, first), np.int64)
            self.operator.feed_parts(part, Deltas(rows.columns, ticks, changes, rows.weight))
        self.contents.change = max(self.contents.change, first)
        deltas = self.operator.begin(emitter.root, at_tick, first)
        self.tick = max(self.tick, at_tick)
        if emitter.query.windows:
            emitter.keep_initial(deltas)
        else:
            emitter.report(deltas, at_tick)
            self._tell_everything(at_tick)

    def elements_apart(self, batch: Elements) -> None:
        """Elements of one of its streams, where something may be special about them."""
        if self._everything is not None:
            for place in range(len(batch)):
                self._element(batch.slice(place, place + 1), self._everything)
            return
        first = [o for o in self.emitters if o.has_first_change_ahead and batch.stream in o.streams]
        if first and len(batch) > 1:
            # The first change is reported together with what the datasets gave.
            self.elements(batch.slice(0, 1))
            self.elements(batch.slice(1, len(batch)))
            return
        for emitter in self.closing:
            if batch.stream in emitter.streams:
                emitter.reporter.first_element(self.first_ms(batch))
        last = batch.last_tick
        self.contents.take(batch, last)
        self.contents.pass_time(last)
        self.contents.feed()
        self.report(last, first)
        self._look_again()

    def _look_again(self) -> None:
        """Whether nothing is special about what comes next."""
        self.is_plain = self._everything is None and not self.has_first_change_ahead

    def together(self, batches: list[Elements], changes: list[GraphRows], last: int) -> None:
        """Elements and changes of graphs up to a tick that happen in an order of their own, whatever they concern.

        Not for a query that emits everything after every change.
        """
        for batch in batches:
            self.contents.take(batch, last)
        self.contents.pass_time(last)
        for rows in changes:
            self.contents.take_rows(rows)
        self.contents.feed()
        self.report(last, self.emitters)

    def _element(self, batch: Elements, reporter: EverythingReporter) -> None:
        """One element, for a query that emits everything after every change."""
        at_tick = batch.first_tick
        self.pass_time(at_tick)
        self.contents.take(batch, at_tick)
        visible = [v for window, v in self._visible.items() if window.stream.value == batch.stream]
        if any(v.leaves_before_next for v in visible):
            # A change of its own, before that of the element.
            self.contents.feed(leaving=True)
            self.report(at_tick)
            reporter.changed(time_of(at_tick))
        for v in visible:
            v.arrive(batch)
        self.contents.feed()
        self.report(at_tick, self.emitters)
        reporter.changed(time_of(at_tick))

    def graph_changed_apart(self, graph: str | None, triples: Intake, op: int, at_tick: int) -> None:
        """An effective insert (op 1) or delete (-1) in one of its graphs, where something may be special about it."""
        self.pass_time(at_tick)
        before = self.contents.change
        self.contents.take_graph(graph, triples, at_tick, op)
        self.contents.feed()
        if graph is not None and self.operator.has_quads:
            self.contents.change = before + 1
            self.operator.graph_changed(graph, triples.triples, op, at_tick, self.contents.change)
        self.report(at_tick, [o for o in self.emitters if o.has_first_change_ahead and o.sources.has(graph)])
        self._tell_everything(at_tick)
        self._look_again()

    def graph_changes(self, parts: list[GraphEdits]) -> None:
        """Effective changes of its graphs, as `graph_changed` for one after the other."""
        if self._everything is not None or self.operator.has_quads or self.has_first_change_ahead:
            for edits in change_by_change(parts):
                self.graph_changed(edits.graph, Intake(edits.triples), int(edits.op[0]), int(edits.ticks[0]))
                if self._everything is None and not self.operator.has_quads and not self.has_first_change_ahead:
                    parts = [later for part in parts if len((later := part.after(int(edits.order[0]))).op)]
                    break
            else:
                return
        if not parts:
            return
        last = max(int(part.ticks[-1]) for part in parts)
        self.contents.pass_time(last)
        for part in parts:
            self.contents.take_edits(part)
        self.contents.feed()
        self.report(last)

    def _tell_everything(self, at_tick: int) -> None:
        if self._everything is not None:
            self._everything.changed(time_of(at_tick) if at_tick > BEFORE_ALL else self.t0_ms)

    def pass_time_apart(self, before: int) -> None:
        """Lets happen what time brings by itself at ticks before this one, where something may be special about it."""
        if self._everything is not None:
            while True:
                ticks = [v.next_change(self.tick, before) for v in self._visible.values()]
                at_tick = min((t for t in ticks if t is not None), default=None)
                if at_tick is None:
                    break
                self.contents.pass_time(at_tick + 1)
                self.contents.feed()
                self.report(at_tick)
                self._everything.changed(time_of(at_tick))
        self.contents.pass_time(before)
        self.contents.feed()
        self.report(before - 1)

    def may_skip(self, stream: str) -> bool:
        """Whether elements of a stream that match none of its patterns change nothing."""
        return self._follows_changes and not any(operator.sees_all for operator in self.contents.operators(stream))

    @property
    def may_skip_changes(self) -> bool:
        """Whether changes of graphs that match none of its patterns change nothing."""
        return self._follows_changes and not self.operator.has_quads

    @property
    def _follows_changes(self) -> bool:
        """Whether it answers after changes of its patterns' contents alone, which time by itself only ends."""
        return (
            not self.has_first_change_ahead
            and not self.contents.acting
            and all(isinstance(emitter.reporter, ChangeReporter) for emitter in self.emitters)
        )

    @property
    def emits_ends(self) -> bool:
        """Whether something is emitted when solutions end."""
        ends = (isinstance(o.reporter, ChangeReporter) and o.reporter.emits_ends for o in self.emitters)
        return not self.operator.is_conjunction or any(ends)

    def next_change(self, before: int) -> int | None:
        """The first tick before another at which time alone may make it emit something."""
        if self._everything is not None:
            ticks = [v.next_change(self.tick, before) for v in self._visible.values()]
        else:
            ends, acts = self.operator.next_tick, self.contents.next_tick
            at_tick = ends if acts == FOREVER else acts if ends is None else min(ends, acts)
            ticks = [emitter.next_change(at_tick) for emitter in self.emitters]
        return min((t for t in ticks if t is not None), default=None)

    # Snapshots --------------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All it keeps, in plain values and arrays."""
        return {
            "tick": self.tick,
            "firsts": self.operator.firsts,
            "contents": self.contents.dump(self.tick),
            "visible": [v.dump() for v in self._visible.values()],
            "operator": self.operator.dump(self.tick),
            "outlets": [emitter.dump() for emitter in self.emitters],
        }

    def load(self, state: dict[str, Any]) -> None:
        """Takes what a run of the same queries dumped."""
        self.tick = stored.whole(state["tick"], NEVER - 1, FOREVER - 1)
        self.contents.load(state["contents"])
        for visible, kept in zip(self._visible.values(), state["visible"], strict=True):
            visible.load(kept)
        self.operator.load(state["operator"], self.tick)
        for emitter, kept in zip(self.emitters, state["outlets"], strict=True):
            emitter.load(kept)
