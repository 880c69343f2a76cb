"""The emitter of one query: from the deltas of its solutions to what it emits, and its answer set for those who ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from millstream.engine.input.datasets import Triples
from millstream.engine.output.answer_order import AnswerOrder, Rows, as_change
from millstream.engine.output.reporting import ChangeReporter, CloseReporter, Emit, EverythingReporter
from millstream.kernels.emission.answer_set import AnswerSet, summed
from millstream.kernels.emission.emission import Reporter
from millstream.kernels.emission.pending import Receiver
from millstream.kernels.engine.run import RunOutput
from millstream.language import algebra as a
from millstream.language.printer import Printer
from millstream.operators import stored
from millstream.operators.dataflow.layout import Root
from millstream.operators.ticks import Column, Deltas, time_of
from millstream.plan.sources import sources_of

if TYPE_CHECKING:
    from millstream.engine.queries.run import QueryRun
    from millstream.plan.explain.counts import CountedPlan


class Emitter(RunOutput):
    """What is reported of one plan's answers."""

    def __init__(self, run: QueryRun, query: a.Query, root: Root, emit: Emit | Receiver) -> None:
        self.run = run
        self.query = query
        self.root = root
        self.sources = sources_of(query)
        self.streams = frozenset(w.stream.value for w in query.windows)
        self._emit = emit
        self.on_constructed: Callable[[Emitter, Triples, int], None] | None = None
        self._order = AnswerOrder(root.seen, root.order, run.dictionary) if root.order else None
        self._initial: list[Deltas] | None = None
        self.report_to(self._make_reporter(self._emitted))
        self.connect()

    @property
    def emit(self) -> Emit | Receiver:
        """Who is handed what it emits."""
        return self._emit

    @emit.setter
    def emit(self, emit: Emit | Receiver) -> None:
        self._emit = emit
        self.connect()

    def connect(self) -> None:
        """Has the reporter hand rows to the query itself, if that is all there is to do."""
        plain = self.derives is None and isinstance(self._emit, Receiver)
        self.reporter.receiver = self._emit if plain else None

    def _emitted(self, rows: Deltas) -> None:
        """Rows emitted together: of one change, while its answers form a stream."""
        emit = self._emit.emit if isinstance(self._emit, Receiver) else self._emit
        emit(rows)
        if self.derives is not None and self.on_constructed is not None:
            self.on_constructed(self, rows.columns, time_of(int(rows.tick[0])))

    def _make_reporter(self, emit: Emit) -> Reporter:
        run, width, steps = self.run, self.root.width, self.steps_ms
        if self.query.closes_windows:
            return CloseReporter(self.query.output, width, emit, steps, run.t0_ms, run.dictionary, self._order)
        if self.query.output is a.Output.RSTREAM:
            return EverythingReporter(width, emit, self._order)
        return ChangeReporter(self.query.output, self.root.seen, emit, run.t0_ms, on_grids=bool(steps))

    @property
    def steps_ms(self) -> list[int]:
        """The grids on which something of it happens."""
        return [step for w in self.query.windows if (step := w.window.step_ms) is not None]

    # The first change -------------------------------------------------------------------------------------------------

    @property
    def has_first_change_ahead(self) -> bool:
        """Whether what the datasets gave at registration still waits to be reported."""
        return self._initial is not None

    def keep_initial(self, deltas: Deltas) -> None:
        """Keeps what the datasets give by themselves for the first change."""
        self._initial = [*(self._initial or ()), deltas.copy()]

    def report_initial(self) -> None:
        """Reports it by itself, not together with the first change."""
        initial = self._take_initial()
        if initial is not None and len(initial):
            self.reporter.report(initial, self.run.tick)

    def _take_initial(self) -> Deltas | None:
        """It as one change."""
        parts, self._initial = self._initial, None
        if parts is None or len(parts) == 1:
            return None if parts is None else parts[0]
        return summed(self.root.width, *parts).at(self.run.tick)

    # Answers ----------------------------------------------------------------------------------------------------------

    def report(self, deltas: Deltas, upto: int, *, first: bool = False) -> None:
        """Hands on what has become of the solutions; `first`: by a change that may be the first to concern the query."""
        if first and (initial := self._take_initial()) is not None:
            deltas = summed(self.root.width, initial, deltas).at(upto)
        if self.derives is None or not len(deltas):
            self.reporter.report(deltas, upto)
            return
        for part in by_change(deltas):
            self.reporter.report(part, int(part.tick[0]))
        self.reporter.report(deltas.pick(slice(0, 0)), upto)

    def next_change(self, at_tick: int | None) -> int | None:
        """The first tick at which it may emit something, if its solutions change at a tick by themselves."""
        return self.reporter.next_close(at_tick) if isinstance(self.reporter, CloseReporter) else at_tick

    @property
    def stored(self) -> int:
        """How many triples its patterns hold, those that wait for a partner included."""
        components = (c for leaf in self.run.operator.leaves_of(self.root) for c in leaf.operator.components)
        return sum(c.contents(self.run.tick) for c in components)

    def counted(self, printer: Printer) -> CountedPlan:
        """Its plan as it runs, with what its operators have done."""
        from millstream.operators.dataflow.counting import counted_plan

        return counted_plan(self.run.operator, self.root, printer, self.run.tick)

    # Looking in -------------------------------------------------------------------------------------------------------

    def answer_rows(self, instance: int | None = None) -> Rows:
        """The answer set, each row once with how often it stands there, in the order the query asks for.

        An instance gets its own rows, without the column that says so.
        """
        if self._order is None:
            return rows_of(instance, *self.answer_set().counted())
        if self.root.seen < self.root.width and isinstance(self.reporter, ChangeReporter):
            # What is reported of changes has no keys to order it by.
            if self.has_first_change_ahead:
                return rows_of(instance, *AnswerSet(self.root.seen).counted())
            current = self._current()
            rows = current.columns, current.weight
        else:
            rows = self.answer_set().counted()
        columns, weight = rows
        if instance is not None:
            ours = columns[:, 0] == instance
            columns, weight = columns[ours], weight[ours]
        return rows_of(instance, *self._order.ordered(columns, weight))

    def current_rows(self, instance: int | None) -> Rows:
        """As `answer_rows`, for once: in no order but where everything is always emitted."""
        if isinstance(self.reporter, EverythingReporter):
            return self.answer_rows(instance)
        return rows_of(instance, *summed(self.root.seen, self._current()).counted())

    def answer_set(self) -> AnswerSet:
        """The answer set after the last change, none before the first; kept up to date from the first time anyone asks."""
        answers: AnswerSet | None = self.reporter.answers
        if answers is None:
            answers = AnswerSet(self.root.width)
            if not self.has_first_change_ahead:
                answers.apply(self._current())
            self.reporter.answers = answers
        return answers

    def _current(self) -> Deltas:
        return self.run.operator.current(self.root, self.run.tick)

    # Snapshots --------------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All it keeps, in plain values and arrays."""
        initial = self._take_initial()
        self._initial = None if initial is None else [initial]
        return {
            "initial": None if initial is None else (initial.columns, initial.weight),
            "reporter": self.reporter.dump(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Takes what the emitter of the same query dumped."""
        width, dictionary = self.root.width, self.run.dictionary
        if state["initial"] is not None:
            self._initial = [as_change(stored.counted(state["initial"], width, dictionary), 0)]
        self.reporter.load(state["reporter"], width, dictionary)
        if isinstance(self.reporter, CloseReporter) and not self.reporter.closes_after(self.run.tick):
            raise ValueError("windows should have closed that have not")
        if isinstance(self.reporter, CloseReporter | EverythingReporter):
            # It must add up, or what is taken back later would not have been there.
            missing = summed(width, *self.reporter.reported, *(self._initial or ()))
            missing.apply(self._current(), -1)
            if len(missing):
                raise ValueError("answers are not those of what the windows hold")


def rows_of(instance: int | None, columns: npt.NDArray[np.int64], weight: Column) -> Rows:
    """The rows of an instance without the column that says so; all rows, where there are no instances."""
    if instance is None:
        return columns, weight
    ours = columns[:, 0] == instance
    return columns[ours, 1:], weight[ours]


def by_change(deltas: Deltas) -> Iterator[Deltas]:
    """The deltas of each change."""
    turns = (np.diff(deltas.tick) != 0) | (np.diff(deltas.change) != 0)
    for part in np.split(np.arange(len(deltas)), np.flatnonzero(turns) + 1):
        yield deltas.pick(part)
