"""Relation-to-stream (R2S): output operators over deltas, reported on every change or when windows close."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from millstream.engine.output.answer_order import AnswerOrder, as_change
from millstream.engine.windows.window_operators import NEVER
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.answer_set import AnswerSet, summed
from millstream.kernels.emission.emission import (
    APPEARS,
    BOTH,
    DISAPPEARS,
    Closing,
    Reporter,
    Selection,
    selected,
)
from millstream.kernels.emission.pending import PendingRows
from millstream.language.algebra import Output
from millstream.operators import stored
from millstream.operators.ticks import ELEMENT, GRID, MOST_MS, Column, Deltas, tick, time_of
from millstream.windows.window import instant

Emit = Callable[[Deltas], None]
"""Is handed rows of weight 1 and -1, which are overwritten later: what is kept is copied."""
BEFORE_ALL = NEVER + ELEMENT
"""The tick of what happens before anything else has come, which is told at t0."""
_ROWS_AT_ONCE = 1 << 16


def sign_of(output: Output) -> int:
    """The direction of changes that an output operator emits; of an answer set, which RSTREAM emits, rows only appear."""
    return {Output.ISTREAM: APPEARS, Output.DSTREAM: DISAPPEARS}.get(output, BOTH)


def _whole(answers: AnswerSet, order: AnswerOrder | None, at_tick: int) -> Deltas:
    """An answer set in order, as one change."""
    if order is None:
        return answers.at(at_tick)
    return as_change(order.ordered(*answers.counted()), at_tick)


class ChangeReporter(Selection):
    """ISTREAM, DSTREAM and CHANGES after every change."""

    def __init__(self, output: Output, seen: int, emit: Emit, t0_ms: int, *, on_grids: bool) -> None:
        super().__init__(sign_of(output), seen, emit, tick(t0_ms, ELEMENT), on_grids)
        self.emits_ends = output is not Output.ISTREAM


class EverythingReporter(Reporter):
    """RSTREAM after every change: told of each change, whether it brought a delta or not."""

    answers: AnswerSet

    def __init__(self, width: int, emit: Emit, order: AnswerOrder | None = None) -> None:
        self.emit = emit
        self._order = order
        self.answers = AnswerSet(width)

    def report(self, deltas: Deltas, upto: int) -> None:
        self.answers.apply(deltas)

    def changed(self, at_ms: int) -> None:
        """Emits the whole answer set."""
        if len(self.answers):
            self.emit(selected(_whole(self.answers, self._order, tick(at_ms, ELEMENT)), APPEARS))

    @property
    def reported(self) -> list[Deltas]:
        """All that was reported."""
        return [self.answers.at(0)]

    def dump(self) -> Any:
        return self.answers.counted()

    def load(self, state: Any, width: int, dictionary: Dictionary) -> None:
        self.answers.apply(as_change(stored.counted(state, width, dictionary), 0))


class CloseReporter(Closing):
    """Any output operator, when windows close: at the instants of all grids from the first element on."""

    answers: AnswerSet

    def __init__(
        self,
        output: Output,
        width: int,
        emit: Emit,
        steps_ms: list[int],
        t0_ms: int,
        dictionary: Dictionary,
        order: AnswerOrder | None = None,
    ) -> None:
        self._sign = sign_of(output)
        self._is_whole = output is Output.RSTREAM
        self._seen = width if order is None else order.width
        self._order = order
        self.emit = emit
        self._steps_ms = sorted(set(steps_ms))
        self._t0_ms = t0_ms
        self.waiting = PendingRows(width=width)
        self._dictionary = dictionary
        self.answers = AnswerSet(width)
        self._instant_ms: int | None = None

    @property
    def _next_ms(self) -> int | None:
        """The next instant, once there was an element."""
        return self._instant_ms

    @_next_ms.setter
    def _next_ms(self, at_ms: int | None) -> None:
        self._instant_ms = at_ms
        self.closes_at = NEVER if at_ms is None else tick(at_ms, GRID)

    def first_element(self, at_ms: int, since_ms: int | None = None) -> None:
        """From now on windows close; those that closed before `since_ms` have told what there was."""
        if self._next_ms is not None:
            return
        if since_ms is not None and self._instant(at_ms) < since_ms:
            closed_ms = max(instant(since_ms, step, self._t0_ms) - step for step in self._steps_ms)
            count = self.waiting.count_until(tick(closed_ms, GRID))
            self.answers.apply(self.waiting.first(count))
            self.waiting.drop(self._dictionary, count)
            at_ms = since_ms
        self._next_ms = self._instant(at_ms)

    def hold_waiting(self) -> None:
        """Keeps the terms of what waits for an instant: what it takes back may be gone from everywhere else."""
        self.waiting.hold(self._dictionary)

    def close(self) -> None:
        """Lets go of all terms."""
        self.waiting.drop(self._dictionary)

    def _instant(self, at_ms: int) -> int:
        """The first instant of any grid at or after a time."""
        return min(instant(at_ms, step, self._t0_ms) for step in self._steps_ms)

    def close_until(self, upto: int) -> None:
        """Windows close at instants up to a tick."""
        while self._next_ms is not None and tick(self._next_ms, GRID) <= upto:
            self._close(self._next_ms)
            self._next_ms = self._following(self._next_ms, upto)
            if self._is_whole:
                self._repeat(self._next_ms, upto)

    def ahead(self, since_ms: int, before: int, rows: int, instants: int) -> int:
        """About how many answers the instants before a tick bring; of what only emits changes that is never many.

        Rows come from a time on, each seen at so many instants.
        """
        next_ms = self._instant(since_ms) if self._next_ms is None else self._next_ms
        if not self._is_whole or tick(next_ms, GRID) >= before:
            return 0
        count = sum((time_of(before) - next_ms) // step + 1 for step in self._steps_ms)
        rows += len(self.waiting)
        return count * (1 + self.answers.total) + rows * min(count, instants)

    def _repeat(self, at_ms: int, upto: int) -> None:
        """The same again, at all instants from a time on before anything changes."""
        whole = _whole(self.answers, self._order, 0)
        columns, weight = whole.columns, whole.weight
        last_ms = (min(upto, self._waits_for(upto + 1) - 1) - GRID) >> 2
        while len(weight) and at_ms <= last_ms:
            instants = self._instants(at_ms, last_ms, max(1, _ROWS_AT_ONCE // len(weight)))
            ticks = np.repeat(instants * 4 + GRID, len(weight))
            again = Deltas(np.tile(columns, (len(instants), 1)), ticks, ticks * 0, np.tile(weight, len(instants)))
            # Moved on first: the receiver may refuse.
            self._next_ms = at_ms = self._instant(int(instants[-1]) + 1)
            self.emit(selected(again, APPEARS))

    def _waits_for(self, otherwise: int) -> int:
        """The tick of the first that waits."""
        return int(self.waiting.first(1).tick[0]) if len(self.waiting) else otherwise

    def _instants(self, first_ms: int, last_ms: int, most: int) -> Column:
        """The first instants of all grids from one on."""
        starts = [(instant(first_ms, step, self._t0_ms), step) for step in self._steps_ms]
        found = [np.arange(start, min(last_ms, start + (most - 1) * step) + 1, step) for start, step in starts]
        if len(found) == 1:
            return found[0]
        instants: Column = np.sort(np.concatenate(found))
        distinct: Column = instants[np.concatenate([[True], instants[1:] > instants[:-1]])]
        return distinct[:most]

    @property
    def reported(self) -> list[Deltas]:
        """All that was reported, of which the last instant has not seen everything."""
        return [self.answers.at(0), self.waiting]

    def closes_after(self, passed: int) -> bool:
        """Whether no window that closes has to be caught up with."""
        return self._next_ms is None or tick(self._next_ms, GRID) > passed

    def next_close(self, ahead: int | None) -> int | None:
        """The next instant that may emit something, if the next delta comes at a tick."""
        if self._next_ms is None:
            return None
        if self._is_whole and len(self.answers):
            return tick(self._next_ms, GRID)
        if ahead is None and not len(self.waiting):
            return None
        return tick(max(self._next_ms, self._instant(time_of(self._waits_for(ahead or 0)))), GRID)

    def sum_up(self) -> None:
        """All that waits does so for one instant, or for the first element: only what it comes to matters."""
        self.waiting.sum_up(self._dictionary)

    def _following(self, at_ms: int, upto: int) -> int:
        """The next instant worth looking at: nothing is emitted at one that changes nothing and has no answers."""
        following = self._instant(at_ms + 1)
        if self._is_whole and len(self.answers):
            return following
        return max(following, self._instant(time_of(min(self._waits_for(upto + 1), upto + 1))))

    def _close(self, at_ms: int) -> None:
        last = tick(at_ms, GRID)
        count = self.waiting.count_until(last)
        due = self.waiting.first(count)
        self.waiting.drop(self._dictionary, count)
        self.answers.apply(due)
        rows = _whole(self.answers, self._order, last) if self._is_whole else summed(self._seen, due).at(last)
        emitted = selected(rows, self._sign)
        if len(emitted):
            self.emit(emitted)

    def dump(self) -> Any:
        kept = self.waiting
        waiting = [(kept.columns, kept.tick, kept.change, kept.weight)] if len(kept) else []
        return self._next_ms, waiting, self.answers.counted()

    def load(self, state: Any, width: int, dictionary: Dictionary) -> None:
        next_ms, waiting, answers = state
        if next_ms is not None and self._instant(stored.whole(next_ms, -MOST_MS, MOST_MS)) != next_ms:
            raise ValueError(f"no window closes at {next_ms} ms")
        self._next_ms = next_ms
        for columns, ticks, change, weight in waiting:
            at = stored.ticks(ticks)
            rows = stored.rows(columns, width, dictionary, len(at))
            self.waiting.add(Deltas(rows, at, stored.column(change, len(at)), stored.weighted(weight, len(at))))
        if (np.diff(self.waiting.tick) < 0).any():
            raise ValueError("what waits for windows to close is not in the order of time")
        self.waiting.hold(dictionary)
        self.answers.apply(as_change(stored.counted(answers, width, dictionary), 0))
