"""Window operators: how a window of one query turns a stream's elements into changes of its content, by what ends them.

An operator keeps the terms of what it holds in the dictionary, from their arrival on. It gives pieces: rows that enter (op
1) or leave (-1) the content, with their tick and, within it, their order: an element has order 2k + 1, what leaves just
before it 2k; what time brings has a tick of its own. What ends at a time known when it enters needs no row that leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import Any

import numpy as np

from millstream.engine.batch import ElementBatch
from millstream.engine.pieces import FIELDS, Piece, taken
from millstream.kernels.dictionary import Dictionary
from millstream.operators import stored
from millstream.operators.matching import Matcher
from millstream.operators.rows import ELEMENT, EXPIRY, FOREVER, GRID, Column
from millstream.windows.window import TimeWindow

NEVER = -FOREVER


class WindowOperator(ABC):
    """One window of one query. What is not said otherwise is for one whose content time does not change."""

    acts = False
    """Whether its content may change without an element, other than by ends that are known."""

    @abstractmethod
    def arrive(self, batch: ElementBatch) -> list[Piece]:
        """What elements of its stream change at once."""

    def pass_time(self, before: int) -> list[Piece]:
        """What enters or leaves by itself at ticks before this one; all elements before it must have come."""
        return []

    @property
    def next_tick(self) -> int | None:
        """When something next enters or leaves by itself."""
        return None

    def end_of(self, at_ms: int) -> int:
        """The tick at which what comes at a time ends: FOREVER if not by time, NEVER if it is never seen."""
        return FOREVER

    def see(self, at_ms: int) -> None:  # noqa: B027 - for most of them, nothing to do
        """An element with triples came, none of which may matter."""

    def last_end(self) -> int:
        """The latest finite tick at which anything ends that time goes on for, or less than any time."""
        return NEVER

    def close(self, at_tick: int) -> None:  # noqa: B027 - for most of them, nothing to do
        """Lets go of the terms it holds."""

    @abstractmethod
    def dump(self) -> Any:
        """Its state in plain values and arrays."""

    @abstractmethod
    def load(self, state: Any) -> None:
        """Takes what an equal operator dumped."""

    def check(self, triples: int, elements: int) -> None:  # noqa: B027 - for most of them, nothing to do
        """Raises if it holds what cannot be, of a stream of so many triples and elements."""


class HoldingOperator(WindowOperator):
    """Nobody knows the end of what comes, so it holds the rows to take them out; it must be shown every element."""

    def leave_one(self, at_tick: int) -> list[tuple[int, ...]]:
        """What `arrive` takes out just before an element, if that comes alone: rows of pattern, s, p, o."""
        return []

    @abstractmethod
    def take_one(
        self, rows: list[tuple[int, ...]], at_ms: int, total: int, triples: int, elements: int
    ) -> list[tuple[int, ...]]:
        """The rest of `arrive` for one element, of which the rows that patterns match are given: number, pattern, s, p, o.

        It has `total` triples; with it there have been so many triples and elements. Gives the rows that leave with it:
        pattern, s, p, o. Rows differ in more than their number, which is that of a triple in the stream.
        """


class TimeOperator(WindowOperator):
    """The end is known on arrival. With a grid, arrivals wait for the instant at which they are first seen."""

    def __init__(self, window: TimeWindow, matcher: Matcher, dictionary: Dictionary, t0_ms: int) -> None:
        self.window = window
        self.t0_ms = t0_ms
        self.acts = window.step_ms is not None
        self._matcher = matcher
        self._dictionary = dictionary
        self._waiting: deque[Piece] = deque()
        self._last_end = NEVER

    def arrive(self, batch: ElementBatch) -> list[Piece]:
        if not len(batch):
            return []
        start, end = seen(self.window, batch.at_ms, self.t0_ms)
        is_seen = start < end
        self._last_end = int(end.max(where=is_seen & batch.prolonging & (end < FOREVER), initial=self._last_end))
        row, pattern = batch.matches(self._matcher)
        element = batch.element[row]
        if not is_seen.all():
            visible = is_seen[element]
            row, pattern, element = row[visible], pattern[visible], element[visible]
        if not len(row):
            return []
        triples, until = batch.triples[row], end[element]
        self._dictionary.touch(triples.ravel(), np.repeat(until, 3))
        ones = np.ones(len(row), np.int64)
        order = ones * 0 if self.acts else batch.order[element] * 2 + 1
        piece = Piece(pattern, triples, start[element], until, ones, order)
        if not self.acts:
            return [piece]
        self._waiting.append(piece)
        return []

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
        return int(self._waiting[0].now[0]) if self._waiting else None

    def end_of(self, at_ms: int) -> int:
        start, end = seen(self.window, np.array([at_ms], np.int64), self.t0_ms)
        return int(end[0]) if start[0] < end[0] else NEVER

    def see(self, at_ms: int) -> None:
        end = self.end_of(at_ms)
        if self._last_end < end < FOREVER:
            self._last_end = end

    def last_end(self) -> int:
        return self._last_end

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


def seen(window: TimeWindow, at_ms: Column, t0_ms: int) -> tuple[Column, Column]:
    """From which ticks until which what comes at times is seen."""
    start, end = window.interval(at_ms, t0_ms)
    if window.step_ms is None:
        return start * 4 + ELEMENT, ticks(end, EXPIRY)
    return ticks(start, GRID), ticks(end, GRID)


def ticks(at_ms: Column, phase: int) -> Column:
    """Times as ticks; those beyond the last that can be told never come."""
    found: Column = np.minimum(np.minimum(at_ms, FOREVER >> 2) * 4 + phase, FOREVER)
    return found
