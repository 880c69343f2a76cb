"""How a window of one query turns a stream's elements into changes of its content: one class a kind of end.

A feed keeps the terms of what it holds in the dictionary, from their arrival on. It gives pieces: rows that enter (op 1)
or leave (-1) the content, with their tick and, within it, their order: an element has order 2k + 1, the emptying of an
EVENT window before it 2k; what happens on a grid has a tick of its own. What ends by time needs no row: its end is known
when it enters.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from millstream.engine.batch import ElementBatch
from millstream.engine.pieces import FIELDS, Piece, taken, without_end
from millstream.kernels.dictionary import Dictionary
from millstream.language.windows import All, Now, Range, Slide, Step
from millstream.operators import stored
from millstream.operators.matching import Matcher
from millstream.operators.rows import EXPIRY, FOREVER, GRID, Column


class Feed(Protocol):
    """One window of one query."""

    def arrive(self, batch: ElementBatch) -> list[Piece]:
        """What elements of its stream change at once."""

    def pass_time(self, before: int) -> list[Piece]:
        """What enters by itself at ticks before this one."""

    def end_of(self, at_ms: int) -> int:
        """The tick at which what comes at a time ends: FOREVER if not by time, less than any time if it is never seen."""

    def see(self, at_ms: int) -> None:
        """An element with triples came, none of which may matter."""

    def last_end(self) -> int:
        """The latest finite tick at which anything ends that time goes on for, or less than any time."""

    def close(self, at_tick: int) -> None:
        """Lets go of the terms it holds."""

    def dump(self) -> Any:
        """Its state in plain values and arrays."""

    def load(self, state: Any) -> None:
        """Takes what an equal feed dumped."""


NEVER = -FOREVER


class TimeFeed:
    """RANGE, SLIDE, NOW and ALL: seen at once, until a time known on arrival."""

    def __init__(self, window: Range | Slide | Now | All, matcher: Matcher, dictionary: Dictionary, t0_ms: int) -> None:
        self.window = window
        self._matcher = matcher
        self._dictionary = dictionary
        self._t0_ms = t0_ms
        self._last_end = NEVER

    def arrive(self, batch: ElementBatch) -> list[Piece]:
        if not len(batch):
            return []
        ends = self._ends(batch.at_ms)
        self._last_end = int(ends.max(where=batch.prolonging & (ends < FOREVER), initial=self._last_end))
        row, pattern = batch.matches(self._matcher)
        if not len(row):
            return []
        element = batch.element[row]
        triples, until = batch.triples[row], ends[element]
        self._dictionary.touch(triples.ravel(), np.repeat(until, 3))
        ones = np.ones(len(row), np.int64)
        return [Piece(pattern, triples, batch.ticks[element], until, ones, batch.order[element] * 2 + 1)]

    def end_of(self, at_ms: int) -> int:
        # As `_ends`, for one time.
        match self.window:
            case Range(range_ms):
                return min((at_ms + range_ms) * 4 + EXPIRY, FOREVER)
            case Slide(range_ms, slide_ms):
                t0_ms = self._t0_ms
                return min((t0_ms - (t0_ms - at_ms) // slide_ms * slide_ms + range_ms) * 4 + EXPIRY, FOREVER)
            case Now():
                return (at_ms + 1) * 4 + EXPIRY
            case All():
                return FOREVER

    def see(self, at_ms: int) -> None:
        end = self.end_of(at_ms)
        if self._last_end < end < FOREVER:
            self._last_end = end

    def _ends(self, at_ms: Column) -> Column:
        match self.window:
            case Range(range_ms):
                return _ticks(at_ms + range_ms, EXPIRY)
            case Slide(range_ms, slide_ms):
                return _ticks(grid_after(at_ms, slide_ms, self._t0_ms) + range_ms, EXPIRY)
            case Now():
                return _ticks(at_ms + 1, EXPIRY)
            case All():
                return np.full(len(at_ms), FOREVER, np.int64)

    def pass_time(self, before: int) -> list[Piece]:
        return []

    def last_end(self) -> int:
        return self._last_end

    def close(self, at_tick: int) -> None:
        pass

    def dump(self) -> Any:
        return self._last_end

    def load(self, state: Any) -> None:
        self._last_end = stored.whole(state, NEVER, FOREVER)


class StepFeed:
    """STEP and TUMBLING: arrivals wait for the instant at which they are first seen."""

    def __init__(self, window: Step, matcher: Matcher, dictionary: Dictionary, t0_ms: int) -> None:
        self._window = window
        self._matcher = matcher
        self._dictionary = dictionary
        self._t0_ms = t0_ms
        self._waiting: deque[Piece] = deque()
        self._last_end = NEVER

    def arrive(self, batch: ElementBatch) -> list[Piece]:
        if not len(batch):
            return []
        start = _ticks(grid_after(batch.at_ms, self._window.step_ms, self._t0_ms), GRID)
        end = _ticks(grid_after(batch.at_ms + self._window.range_ms, self._window.step_ms, self._t0_ms), GRID)
        seen = start < end
        self._last_end = int(end.max(where=seen & batch.prolonging & (end < FOREVER), initial=self._last_end))
        row, pattern = batch.matches(self._matcher)
        element = batch.element[row]
        visible = seen[element]
        row, pattern, element = row[visible], pattern[visible], element[visible]
        if len(row):
            triples, until = batch.triples[row], end[element]
            self._dictionary.touch(triples.ravel(), np.repeat(until, 3))
            ones = np.ones(len(row), np.int64)
            self._waiting.append(Piece(pattern, triples, start[element], until, ones, ones * 0))
        return []

    def end_of(self, at_ms: int) -> int:
        one = np.array([at_ms], np.int64)
        step_ms, range_ms = self._window.step_ms, self._window.range_ms
        start = grid_after(one, step_ms, self._t0_ms)
        end = grid_after(one + range_ms, step_ms, self._t0_ms)
        return int(_ticks(end, GRID)[0]) if start[0] < end[0] else NEVER

    def see(self, at_ms: int) -> None:
        end = self.end_of(at_ms)
        if self._last_end < end < FOREVER:
            self._last_end = end

    def pass_time(self, before: int) -> list[Piece]:
        # Elements come in time order, and so do the instants at which they are first seen.
        due: list[Piece] = []
        while self._waiting and self._waiting[0].now[0] < before:
            piece = self._waiting.popleft()
            ready = piece.now < before
            if not ready.all():
                self._waiting.appendleft(taken(piece, ~ready))
                piece = taken(piece, ready)
            due.append(piece)
        return due

    @property
    def next_tick(self) -> int | None:
        """When something that waits will be seen."""
        return int(self._waiting[0].now[0]) if self._waiting else None

    def last_end(self) -> int:
        return self._last_end

    def close(self, at_tick: int) -> None:
        pass

    def dump(self) -> Any:
        return self._last_end, [[getattr(piece, name) for name in FIELDS] for piece in self._waiting]

    def load(self, state: Any) -> None:
        last_end, waiting = state
        self._last_end = stored.whole(last_end, NEVER, FOREVER)
        self._waiting = deque(self._stored(*columns) for columns in waiting)
        starts = [int(piece.now[i]) for piece in self._waiting for i in (0, -1)]
        if starts != sorted(starts):
            raise ValueError("what waits is not in the order of its instants")

    def _stored(self, *columns: Any) -> Piece:
        pattern, triples, now, until, op, order = columns
        size = len(stored.column(pattern))
        found = Piece(
            stored.one_of(stored.column(pattern), self._matcher.numbers),
            stored.triples(triples, self._dictionary, size),
            stored.ticks(now, size),
            stored.ends(until, size),
            stored.one_of(stored.column(op, size), (1,)),
            stored.one_of(stored.column(order, size), (0,)),
        )
        if not size or (np.diff(found.now) < 0).any() or ((found.now & 3) != GRID).any():
            raise ValueError("what waits for an instant is not in the order of time")
        self._dictionary.touch(found.triples.ravel(), np.repeat(found.until, 3))
        return found


class EventFeed:
    """EVENT: one element at a time, emptied as a change of its own before the stream's next."""

    def __init__(self, matcher: Matcher, dictionary: Dictionary) -> None:
        self._matcher = matcher
        self._dictionary = dictionary
        self._held: list[tuple[int, ...]] = []
        """Pattern and triple of what the last element brought."""

    def arrive(self, batch: ElementBatch) -> list[Piece]:
        if not len(batch):
            return []
        row, pattern = batch.matches(self._matcher)
        element = batch.element[row]
        held, held_triples = self._columns()
        pattern = np.concatenate([held, pattern])
        triples = np.concatenate([held_triples, batch.triples[row]])
        came = np.concatenate([np.full(len(held), -1, np.int64), element])
        pieces = []
        if len(row):
            fresh = came >= 0
            pieces.append(without_end(pattern[fresh], triples[fresh], batch.ticks[element], batch.order[element] * 2 + 1, 1))
        gone = came + 1 < len(batch)
        self._dictionary.hold(batch.triples[row].ravel())
        if gone.any():
            self._dictionary.release(triples[gone].ravel(), int(batch.ticks[-1]))
            at = came[gone] + 1
            pieces.append(without_end(pattern[gone], triples[gone], batch.ticks[at], batch.order[at] * 2, -1))
        self._keep(pattern[~gone], triples[~gone])
        return pieces

    def enter_one(self, rows: list[tuple[int, ...]]) -> None:
        """As `arrive` for one element after `leave_one`, of which the rows that patterns match are given."""
        self._held = rows
        self._dictionary.hold(self._columns()[1].ravel())

    def leave_one(self, at_tick: int) -> list[tuple[int, ...]]:
        """Takes the last element out, before another comes; gives its rows."""
        gone = self._held
        if gone:
            self._dictionary.release(self._columns()[1].ravel(), at_tick)
            self._held = []
        return gone

    def _columns(self) -> tuple[Column, npt.NDArray[np.int64]]:
        table = np.array(self._held, np.int64).reshape(-1, 4)
        return table[:, 0], table[:, 1:]

    def _keep(self, pattern: Column, triples: npt.NDArray[np.int64]) -> None:
        self._held = [tuple(row) for row in np.column_stack([pattern, triples]).tolist()]

    def empty(self, at_tick: int) -> list[Piece]:
        """Takes the last element out now; the next one then only arrives."""
        if not self._held:
            return []
        pattern, triples = self._columns()
        self._held = []
        self._dictionary.release(triples.ravel(), at_tick)
        now = np.full(len(pattern), at_tick, np.int64)
        return [without_end(pattern, triples, now, now * 0, -1)]

    def end_of(self, at_ms: int) -> int:
        return FOREVER

    def see(self, at_ms: int) -> None:
        pass

    def pass_time(self, before: int) -> list[Piece]:
        return []

    def last_end(self) -> int:
        return NEVER

    def close(self, at_tick: int) -> None:
        self._dictionary.release(self._columns()[1].ravel(), at_tick)

    def dump(self) -> Any:
        return self._columns()

    def load(self, state: Any) -> None:
        some, triples = state
        pattern = stored.one_of(stored.column(some), self._matcher.numbers)
        self._keep(pattern, stored.triples(triples, self._dictionary, len(pattern)))
        self._dictionary.hold(self._columns()[1].ravel())


def grid_after(at_ms: Column, length_ms: int, t0_ms: int) -> Column:
    """The first grid instants at or after times."""
    return t0_ms - (t0_ms - at_ms) // length_ms * length_ms


def _ticks(at_ms: Column, phase: int) -> Column:
    """Times as ticks; those beyond the last that can be told never come."""
    ticks: Column = np.minimum(np.minimum(at_ms, FOREVER >> 2) * 4 + phase, FOREVER)
    return ticks
