"""Window operators with their state: what each kind of window does is in `millstream.kernels.windows.window`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.patterns import Patterns
from millstream.kernels.windows.held import CountingWindow, LastElementWindow, SilentWindow, TogetherWindow
from millstream.kernels.windows.window import TimedWindow
from millstream.operators import stored
from millstream.operators.ticks import FOREVER, GRID
from millstream.windows.window import CountWindow, ElementWindow, SilenceWindow, TimeWindow, WindowKind

NEVER = -FOREVER


class TimeOperator(TimedWindow):
    """The end is known on arrival. With a grid, arrivals wait for the instant at which they are first seen."""

    def dump(self) -> Any:
        """Its state in plain values and arrays."""
        rows = self.waits()
        ones = np.ones(len(rows), np.int64)
        columns = [rows[:, 0], rows[:, 1:4], rows[:, 4], rows[:, 5], ones, ones * 0]
        return self.last_end(), [columns] if len(rows) else []

    def load(self, state: Any) -> None:
        """Takes what an equal operator dumped."""
        last_end, waiting = stored.items(state, 2)
        parts = [self._stored(*columns) for columns in waiting]
        rows = np.concatenate([np.empty((0, 6), np.int64), *parts])
        now = rows[:, 4]
        if len(rows) and (not self.acts or (np.diff(now) < 0).any() or ((now & 3) != GRID).any()):
            raise ValueError("what waits for an instant is not in the order of time")
        self.wait_again(stored.whole(last_end, NEVER, FOREVER), rows)

    def _stored(self, pattern: Any, triples: Any, now: Any, until: Any, op: Any, order: Any) -> npt.NDArray[np.int64]:
        numbers = stored.one_of(stored.column(pattern), self.patterns.numbers)
        size = len(numbers)
        stored.one_of(stored.column(op, size), (1,))
        stored.one_of(stored.column(order, size), (0,))
        rows = stored.triples(triples, self.dictionary, size)
        return np.column_stack([numbers, rows, stored.ticks(now, size), stored.ends(until, size)])


class CountOperator(CountingWindow):
    """What it holds ends when so many triples or elements have followed."""

    def dump(self) -> Any:
        return self.held()

    def load(self, state: Any) -> None:
        live = stored.table(state, 5)
        stored.one_of(live[:, 1], self.patterns.numbers)
        stored.triples(live[:, 2:], self.dictionary)
        if (np.diff(live[:, 0]) < 0).any() or (live[:, 0] < 0).any():
            raise ValueError("what a window counts is not in order")
        self.hold_again(live)

    def check(self, triples: int, elements: int) -> None:
        if self.last_number > (triples if self.of_triples else elements):
            raise ValueError("a window has more than its stream")


class ElementOperator(LastElementWindow):
    """One element at a time, emptied as a change of its own before the stream's next."""

    def dump(self) -> Any:
        return self.held()

    def load(self, state: Any) -> None:
        _hold_again(self, state)


class SilenceOperator(SilentWindow):
    """Every element, matched or not, puts the end off; one that comes at the end or later begins anew."""

    def dump(self) -> Any:
        return *self.state(), self.held()

    def load(self, state: Any) -> None:
        last_end, end, has_triples, rows = stored.items(state, 4)
        last_end, end = (stored.whole(some, NEVER, FOREVER) for some in (last_end, end))
        self.go_on(last_end, end, stored.flag(has_triples))
        _hold_again(self, rows)
        if len(rows) and not has_triples:
            raise ValueError("a window holds triples of elements that have none")


Operator = TimeOperator | CountOperator | ElementOperator | SilenceOperator


def operator_for(window: WindowKind, patterns: Patterns, dictionary: Dictionary, t0_ms: int) -> Operator:
    """The operator of a window over a stream, of which patterns say what matters."""
    match window:
        case TimeWindow():
            return TimeOperator(window, patterns, dictionary, t0_ms)
        case CountWindow():
            return CountOperator(window.count, window.counts_triples, patterns, dictionary)
        case ElementWindow():
            return ElementOperator(patterns, dictionary)
        case SilenceWindow():
            return SilenceOperator(window.gap_ms, patterns, dictionary)


def _hold_again(operator: TogetherWindow, state: Any) -> None:
    rows = stored.table(state, 4)
    stored.one_of(rows[:, 0], operator.patterns.numbers)
    stored.triples(rows[:, 1:], operator.dictionary)
    operator.hold_again(rows)
