"""When a query answers and what it emits: output operators over deltas, on every change or when windows close."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.engine.answers import AnswerSet, Emission, Holding, consolidate
from millstream.engine.arrangement import Arrangement
from millstream.engine.window_operators import NEVER
from millstream.kernels.dictionary import Dictionary
from millstream.language.algebra import Output
from millstream.operators import stored
from millstream.operators.rows import ELEMENT, GRID, MOST_MS, Column, Deltas, tick, time_of
from millstream.windows.window import instant

Emit = Callable[[Emission], None]
BEFORE_ALL = NEVER + ELEMENT
"""The tick of what happens before anything else has come, which is told at t0."""
_SUMMED_UP = 1 << 12
_ROWS_AT_ONCE = 1 << 16
_FEW = 8


def select(output: Output, columns: npt.NDArray[np.int64], at_ms: Column, weight: Column) -> Emission:
    """What an output operator emits of consolidated changes; a row that changed by n is emitted n times."""
    # Most changes are small, and reducing columns costs more than looking at a few numbers.
    if output is not Output.DSTREAM and len(weight) <= _FEW and all(w == 1 for w in weight.tolist()):
        return Emission(columns, at_ms, weight)
    if output is Output.ISTREAM or output is Output.DSTREAM:
        # RSTREAM selects from an answer set, which has no other weights.
        keep = weight > 0 if output is Output.ISTREAM else weight < 0
        if not keep.all():
            columns, at_ms, weight = columns[keep], at_ms[keep], weight[keep]
    times = weight if output is Output.ISTREAM else np.abs(weight)
    if len(times) and int(times.max()) > 1:
        columns, at_ms, weight = (np.repeat(x, times, axis=0) for x in (columns, at_ms, weight))
        weight = np.sign(weight)
    return Emission(columns, at_ms, np.abs(weight) if output is Output.DSTREAM else weight)


class ChangeReporter:
    """ISTREAM, DSTREAM and CHANGES after every change."""

    def __init__(self, output: Output, width: int, emit: Emit, t0_ms: int, *, on_grids: bool) -> None:
        self._output = output
        self._emit = emit
        self._t0_ms = t0_ms
        self._on_grids = on_grids
        self.emits_ends = output is not Output.ISTREAM
        self.answers: AnswerSet | None = None

    def report(self, deltas: Deltas, upto: int) -> None:
        if not len(deltas):
            return
        columns, at_tick, weight = deltas.columns, deltas.tick, deltas.weight
        if self._on_grids:
            columns, at_tick, weight = _one_change_a_grid_tick(deltas)
        if self.answers is not None:
            self.answers.apply(columns, weight)
        at_ms = at_tick >> 2 if upto > BEFORE_ALL else np.full(len(weight), self._t0_ms, np.int64)
        emission = select(self._output, columns, at_ms, weight)
        if len(emission.weight):
            self._emit(emission)

    def hold_waiting(self) -> None:
        pass

    def close(self) -> None:
        pass

    def dump(self) -> Any:
        """Nothing: the answer set is found anew when somebody asks for it."""

    def load(self, state: Any, width: int, dictionary: Dictionary) -> None:
        pass


def _one_change_a_grid_tick(deltas: Deltas) -> tuple[npt.NDArray[np.int64], Column, Column]:
    """What enters and what leaves on a grid at one time is one change, though only the first of them has a number."""
    grid = (deltas.tick & 3) == GRID
    if not grid.any():
        return deltas.columns, deltas.tick, deltas.weight
    columns, ticks, weights = [], [], []
    boundaries = np.flatnonzero(np.diff(deltas.tick)) + 1
    for part in np.split(np.arange(len(deltas)), boundaries):
        found, weight = deltas.columns[part], deltas.weight[part]
        if grid[part[0]]:
            found, weight = consolidate(found, weight)
        columns.append(found)
        weights.append(weight)
        ticks.append(np.full(len(weight), deltas.tick[part[0]], np.int64))
    return np.concatenate(columns), np.concatenate(ticks), np.concatenate(weights)


class EverythingReporter:
    """RSTREAM after every change: told of each change, whether it brought a delta or not."""

    def __init__(self, width: int, emit: Emit, arrangement: Arrangement | None = None) -> None:
        self._emit = emit
        self._arrangement = arrangement
        self.answers = AnswerSet(width)

    def report(self, deltas: Deltas, upto: int) -> None:
        self.answers.apply(deltas.columns, deltas.weight)

    def changed(self, at_ms: int) -> None:
        """Emits the whole answer set."""
        columns, weight = self.answers.rows()
        if len(weight):
            if self._arrangement is not None:
                columns, weight = self._arrangement.arranged(columns, weight)
            self._emit(select(Output.RSTREAM, columns, np.full(len(weight), at_ms, np.int64), weight))

    @property
    def reported(self) -> list[tuple[npt.NDArray[np.int64], Column]]:
        """All that was reported."""
        return [self.answers.rows()]

    def hold_waiting(self) -> None:
        pass

    def close(self) -> None:
        pass

    def dump(self) -> Any:
        return self.answers.rows()

    def load(self, state: Any, width: int, dictionary: Dictionary) -> None:
        self.answers.apply(*stored.counted(state, width, dictionary))


class CloseReporter:
    """Any output operator, when windows close: at the instants of all grids from the first element on."""

    def __init__(
        self,
        output: Output,
        width: int,
        emit: Emit,
        steps_ms: list[int],
        t0_ms: int,
        dictionary: Dictionary,
        arrangement: Arrangement | None = None,
    ) -> None:
        self._output = output
        self._arrangement = arrangement
        self._emit = emit
        self._steps_ms = sorted(set(steps_ms))
        self._t0_ms = t0_ms
        self._waiting: list[Deltas] = []
        self._holding = Holding(dictionary)
        self._next_ms: int | None = None
        self.answers = AnswerSet(width)

    def first_element(self, at_ms: int) -> None:
        if self._next_ms is None:
            self._next_ms = self._instant(at_ms)

    def hold_waiting(self) -> None:
        """Keeps the terms of what waits for an instant: what it takes back may be gone from everywhere else."""
        self._holding.hold(self._waiting)

    def close(self) -> None:
        """Lets go of all terms."""
        self._waiting = []
        self._holding.release()

    def _instant(self, at_ms: int) -> int:
        """The first instant of any grid at or after a time."""
        return min(instant(at_ms, step, self._t0_ms) for step in self._steps_ms)

    def report(self, deltas: Deltas, upto: int) -> None:
        if len(deltas):
            self._waiting.append(deltas.copy())
            if self._next_ms is None:
                self._sum_up()
        while self._next_ms is not None and tick(self._next_ms, GRID) <= upto:
            self._close(self._next_ms)
            self._next_ms = self._following(self._next_ms, upto)
            if self._output is Output.RSTREAM:
                self._repeat(self._next_ms, upto)

    def ahead(self, since_ms: int, before: int, rows: int, instants: int) -> int:
        """About how many answers the instants before a tick bring; of what only emits changes that is never many.

        Rows come from a time on, each seen at so many instants.
        """
        next_ms = self._instant(since_ms) if self._next_ms is None else self._next_ms
        if self._output is not Output.RSTREAM or tick(next_ms, GRID) >= before:
            return 0
        count = sum((time_of(before) - next_ms) // step + 1 for step in self._steps_ms)
        rows += sum(map(len, self._waiting))
        return count * (1 + int(self.answers.rows()[1].sum())) + rows * min(count, instants)

    def _repeat(self, at_ms: int, upto: int) -> None:
        """The same again, at all instants from a time on before anything changes."""
        columns, weight = self._whole()
        last_ms = (min([upto, *(int(d.tick[0]) - 1 for d in self._waiting)]) - GRID) >> 2
        while len(weight) and at_ms <= last_ms:
            instants = self._instants(at_ms, last_ms, max(1, _ROWS_AT_ONCE // len(weight)))
            times = np.repeat(instants, len(weight))
            again = [np.tile(columns, (len(instants), 1)), times, np.tile(weight, len(instants))]
            # Moved on first: the receiver may refuse.
            self._next_ms = at_ms = self._instant(int(instants[-1]) + 1)
            self._emit(select(self._output, *again))

    def _whole(self) -> tuple[npt.NDArray[np.int64], Column]:
        """The answer set in order."""
        columns, weight = self.answers.rows()
        if len(weight) and self._arrangement is not None:
            return self._arrangement.arranged(columns, weight)
        return columns, weight

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
    def reported(self) -> list[tuple[npt.NDArray[np.int64], Column]]:
        """All that was reported, of which the last instant has not seen everything."""
        return [self.answers.rows(), *((d.columns, d.weight) for d in self._waiting)]

    def closes_after(self, passed: int) -> bool:
        """Whether no window that closes has to be caught up with."""
        return self._next_ms is None or tick(self._next_ms, GRID) > passed

    def next_close(self, ahead: int | None) -> int | None:
        """The next instant that may emit something, if the next delta comes at a tick."""
        if self._next_ms is None:
            return None
        if self._output is Output.RSTREAM and len(self.answers.rows()[1]):
            return tick(self._next_ms, GRID)
        waiting = [int(d.tick[0]) for d in self._waiting] + ([] if ahead is None else [ahead])
        if not waiting:
            return None
        return tick(max(self._next_ms, self._instant(time_of(min(waiting)))), GRID)

    def _sum_up(self) -> None:
        """Before the first element there is no instant to wait for: only what all changes come to matters."""
        first, *others = self._waiting
        if sum(map(len, others)) > max(_SUMMED_UP, len(first)):
            columns, weight = consolidate(
                np.concatenate([d.columns for d in self._waiting]), np.concatenate([d.weight for d in self._waiting])
            )
            at_tick = np.full(len(weight), others[-1].tick[-1], np.int64)
            self._waiting = [Deltas(columns, at_tick, at_tick * 0, weight)] if len(weight) else []
            self._holding.release()

    def _following(self, at_ms: int, upto: int) -> int:
        """The next instant worth looking at: nothing is emitted at one that changes nothing and has no answers."""
        following = self._instant(at_ms + 1)
        if self._output is Output.RSTREAM and len(self.answers.rows()[1]):
            return following
        ahead = min((int(d.tick[0]) for d in self._waiting), default=upto + 1)
        return max(following, self._instant(time_of(min(ahead, upto + 1))))

    def _close(self, at_ms: int) -> None:
        last = tick(at_ms, GRID)
        due, later = [], []
        for deltas in self._waiting:
            count = int(np.searchsorted(deltas.tick, last, side="right"))
            if count:
                due.append((deltas.columns[:count], deltas.weight[:count]))
            if count < len(deltas):
                later.append(
                    Deltas(deltas.columns[count:], deltas.tick[count:], deltas.change[count:], deltas.weight[count:])
                )
        self._waiting = later
        self._holding.release()
        columns, weight = np.empty((0, 0), np.int64), np.empty(0, np.int64)
        if due:
            columns, weight = consolidate(np.concatenate([c for c, _ in due]), np.concatenate([w for _, w in due]))
            self.answers.apply(columns, weight)
        if self._output is Output.RSTREAM:
            columns, weight = self._whole()
        elif len(weight) and self._arrangement is not None:
            columns, weight = self._arrangement.seen(columns, weight)
        if len(weight):
            emission = select(self._output, columns, np.full(len(weight), at_ms, np.int64), weight)
            if len(emission):
                self._emit(emission)

    def dump(self) -> Any:
        waiting = [(d.columns, d.tick, d.change, d.weight) for d in self._waiting]
        return self._next_ms, waiting, self.answers.rows()

    def load(self, state: Any, width: int, dictionary: Dictionary) -> None:
        next_ms, waiting, answers = state
        if next_ms is not None and self._instant(stored.whole(next_ms, -MOST_MS, MOST_MS)) != next_ms:
            raise ValueError(f"no window closes at {next_ms} ms")
        self._next_ms = next_ms
        for columns, ticks, change, weight in waiting:
            at = stored.ticks(ticks)
            if not len(at) or (np.diff(at) < 0).any():
                raise ValueError("what waits for windows to close is not in the order of time")
            rows = stored.rows(columns, width, dictionary, len(at))
            deltas = Deltas(rows, at, stored.column(change, len(at)), stored.weighted(weight, len(at)))
            self._waiting.append(deltas)
        self._holding.hold(self._waiting)
        self.answers.apply(*stored.counted(answers, width, dictionary))


Reporter = ChangeReporter | EverythingReporter | CloseReporter
