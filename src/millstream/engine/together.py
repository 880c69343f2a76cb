"""Windows whose content leaves together: just before the stream's next element, or when none has come for a while.

Rows enter without an end, and all that is held is taken out at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.engine.batch import ElementBatch
from millstream.engine.pieces import Piece, without_end
from millstream.engine.window_operators import NEVER, HoldingOperator, ticks
from millstream.kernels.dictionary import Dictionary
from millstream.operators import stored
from millstream.operators.deltas import consolidated
from millstream.operators.matching import Matcher
from millstream.operators.rows import ELEMENT, EXPIRY, FOREVER, Deltas, tick
from millstream.windows.window import SilenceWindow

_Rows = npt.NDArray[np.int64]
_NONE = np.empty((0, 4), np.int64)
_FEW = 1024


class TogetherOperator(HoldingOperator):
    """Rows of pattern, s, p, o that leave together."""

    def __init__(self, matcher: Matcher, dictionary: Dictionary) -> None:
        self._matcher = matcher
        self._dictionary = dictionary
        self._parts: list[_Rows] = []
        """What is held; a row that came again may be there again."""
        self._size, self._compact = 0, _FEW
        """How many rows these are, and how many they may be before they are looked through for repeats."""

    def _hold(self, rows: _Rows, at_tick: int) -> None:
        if len(rows):
            self._dictionary.hold(rows[:, 1:].ravel())
            self._parts.append(rows)
            self._size += len(rows)
        if self._size > self._compact:
            distinct = self._distinct()
            self._dictionary.hold(distinct[:, 1:].ravel())
            self.close(at_tick)
            self._parts, self._size, self._compact = [distinct], len(distinct), max(_FEW, 4 * len(distinct))

    def _distinct(self) -> _Rows:
        """What is held, each row once."""
        rows = np.concatenate([_NONE, *self._parts])
        zeros = np.zeros(len(rows), np.int64)
        return consolidated(Deltas(rows, zeros, zeros, zeros + 1)).columns

    def _taken(self, at_tick: int) -> _Rows:
        """What was held, each row once, which it lets go of."""
        if not self._parts:
            return _NONE
        rows = self._distinct()
        self.close(at_tick)
        return rows

    def close(self, at_tick: int) -> None:
        for rows in self._parts:
            self._dictionary.release(rows[:, 1:].ravel(), at_tick)
        self._parts, self._size, self._compact = [], 0, _FEW

    def dump(self) -> Any:
        return self._distinct()

    def load(self, state: Any) -> None:
        rows = stored.table(state, 4)
        stored.one_of(rows[:, 0], self._matcher.numbers)
        stored.triples(rows[:, 1:], self._dictionary)
        self._hold(rows, NEVER)


class ElementOperator(TogetherOperator):
    """One element at a time, emptied as a change of its own before the stream's next."""

    def arrive(self, batch: ElementBatch) -> list[Piece]:
        if not len(batch):
            return []
        row, pattern = batch.matches(self._matcher)
        element, triples, now = batch.element[row], batch.triples[row], batch.ticks
        rows, ended = np.column_stack([pattern, triples]), element < len(batch) - 1
        held, at = self._taken(int(now[0])), element[ended] + 1
        self._dictionary.touch(triples[ended].ravel(), np.repeat(now[at], 3))
        self._hold(rows[~ended], int(now[-1]))
        gone, at = np.concatenate([held, rows[ended]]), np.concatenate([np.zeros(len(held), np.int64), at])
        pieces = [
            without_end(pattern, triples, now[element], batch.order[element] * 2 + 1, 1),
            without_end(gone[:, 0], gone[:, 1:], now[at], batch.order[at] * 2, -1),
        ]
        return [piece for piece in pieces if len(piece)]

    def _distinct(self) -> _Rows:
        # An element has no repeats.
        return self._parts[0] if self._parts else _NONE

    def leave_one(self, at_tick: int) -> list[tuple[int, ...]]:
        return [tuple(row) for row in self._taken(at_tick).tolist()]

    def take_one(
        self, rows: list[tuple[int, ...]], at_ms: int, total: int, triples: int, elements: int
    ) -> list[tuple[int, ...]]:
        if rows:
            self._hold(np.array(rows, np.int64)[:, 1:], tick(at_ms, ELEMENT))
        return []


class SilenceOperator(TogetherOperator):
    """Every element, matched or not, puts the end off; one that comes at the end or later begins anew."""

    acts = True

    def __init__(self, window: SilenceWindow, matcher: Matcher, dictionary: Dictionary) -> None:
        super().__init__(matcher, dictionary)
        self._gap_ms = window.gap_ms
        self._end = NEVER
        """When what is held ends, if nothing comes before."""
        self._has_triples = False
        """Whether there is anything then that ends, matched or not."""
        self._last_end = NEVER

    def arrive(self, batch: ElementBatch) -> list[Piece]:
        if not len(batch):
            return []
        ends = np.concatenate([[self._end], ticks(batch.at_ms + self._gap_ms, EXPIRY)])
        begins = batch.ticks > ends[:-1]
        # What is held is of session 0; session k ends before the k-th of those that begin here.
        session, over = np.cumsum(begins, dtype=np.int64), ends[:-1][begins]
        # Those without triples put an end off, but have none of their own.
        filled = np.diff(batch.total_triples, prepend=batch.triples_before)[session == len(over)].any()
        self._see(int(ends[-1]), bool(filled), goes_on=not len(over), waited_for=batch.prolongs)
        row, pattern = batch.matches(self._matcher)
        element = batch.element[row]
        triples, of, until = batch.triples[row], session[element], np.full(len(row), FOREVER, np.int64)
        known = (of > 0) & (of < len(over))
        until[known] = over[of[known]]
        self._dictionary.touch(triples[known].ravel(), np.repeat(until[known], 3))
        rows = np.column_stack([pattern, triples])
        self._hold(rows[of == 0], int(batch.ticks[-1]))
        pieces = []
        if len(over):
            pieces += self._leave(int(over[0]))
            self._hold(rows[of == len(over)], int(batch.ticks[-1]))
        if len(row):
            ones = np.ones(len(row), np.int64)
            pieces.append(Piece(pattern, triples, batch.ticks[element], until, ones, batch.order[element] * 2 + 1))
        return pieces

    def take_one(
        self, rows: list[tuple[int, ...]], at_ms: int, total: int, triples: int, elements: int
    ) -> list[tuple[int, ...]]:
        at_tick = tick(at_ms, ELEMENT)
        self._see(self.end_of(at_ms), total > 0, goes_on=at_tick < self._end)
        if rows:
            self._hold(np.array(rows, np.int64)[:, 1:], at_tick)
        return []

    def _see(self, end: int, filled: bool, *, goes_on: bool, waited_for: bool = True) -> None:
        """The session that is open, or one that begins, lasts until an end."""
        self._end, self._has_triples = end, filled or (goes_on and self._has_triples)
        if self._has_triples and waited_for and end < FOREVER:
            self._last_end = end

    def pass_time(self, before: int) -> list[Piece]:
        if self._end >= before:
            return []
        at_tick, self._end, self._has_triples = self._end, NEVER, False
        return self._leave(at_tick)

    @property
    def next_tick(self) -> int | None:
        return self._end if self._has_triples and self._end < FOREVER else None

    def end_of(self, at_ms: int) -> int:
        return min(tick(at_ms + self._gap_ms, EXPIRY), FOREVER)

    def last_end(self) -> int:
        return self._last_end

    def _leave(self, at_tick: int) -> list[Piece]:
        """All that is held leaves."""
        rows = self._taken(at_tick)
        now = np.full(len(rows), at_tick, np.int64)
        return [without_end(rows[:, 0], rows[:, 1:], now, now * 0, -1)] if len(rows) else []

    def dump(self) -> Any:
        return self._last_end, self._end, self._has_triples, super().dump()

    def load(self, state: Any) -> None:
        last_end, end, has_triples, rows = stored.items(state, 4)
        self._last_end = stored.whole(last_end, NEVER, FOREVER)
        self._end = stored.whole(end, NEVER, FOREVER)
        self._has_triples = stored.flag(has_triples)
        super().load(rows)
        if self._parts and not self._has_triples:
            raise ValueError("a window holds triples of elements that have none")
