"""Windows that count: what they hold is seen until enough of the stream has followed.

A row leaves at the element that brings the stream's count to its own number plus the window's, unless the same triple came
again by then: then the later row stands for both. Rows wait in order of their numbers, so those that leave are at the front,
and an element costs what it brings and what it ends, however much the window holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.engine.batch import ElementBatch
from millstream.engine.pieces import Piece, without_end
from millstream.engine.window_operators import HoldingOperator
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.tuples import TUPLE, TupleTable
from millstream.operators import stored
from millstream.operators.matching import Matcher
from millstream.operators.rows import ELEMENT, FOREVER, Column, tick
from millstream.windows.window import CountWindow

_Rows = npt.NDArray[np.int64]

_SLOT, _FOLLOWED = 4, 5
"""Columns of a row behind pattern, s, p, o: the number of these four, and whether a later row stands for it."""
_FEW = 1024


class _Queue:
    """Rows in order of their numbers, taken away at the front; a row's place never changes while it is there."""

    def __init__(self) -> None:
        self._number = np.empty(_FEW, np.int64)
        self._rows = np.empty((_FEW, 6), np.int64)
        self._offset = self._first = self._last = 0

    def __len__(self) -> int:
        return self._last - self._first

    @property
    def front(self) -> int:
        """The place of the first row."""
        return self._offset + self._first

    @property
    def number(self) -> Column:
        return self._number[self._first : self._last]

    @property
    def rows(self) -> _Rows:
        return self._rows[self._first : self._last]

    def append(self, number: Column, rows: _Rows) -> int:
        """Adds rows; gives the place of the first of them."""
        if self._last + len(rows) > len(self._number):
            self._make_room(len(rows))
        first, self._last = self._last, self._last + len(rows)
        self._number[first : self._last] = number
        self._rows[first : self._last] = rows
        return self._offset + first

    def _make_room(self, more: int) -> None:
        """At least half of the room is free afterwards, so that moving is paid for by the rows that fill it."""
        size = len(self)
        number, rows = self.number, self.rows
        if 2 * (size + more) > len(self._number):
            capacity = 2 * (size + more)
            self._number, self._rows = np.empty(capacity, np.int64), np.empty((capacity, 6), np.int64)
        self._number[:size], self._rows[:size] = number.copy(), rows.copy()
        self._offset += self._first
        self._first, self._last = 0, size

    def drop(self, count: int) -> None:
        self._first += count


class CountOperator(HoldingOperator):
    """What it holds ends when so many triples or elements have followed."""

    def __init__(self, window: CountWindow, matcher: Matcher, dictionary: Dictionary) -> None:
        self._count = window.count
        self._of_triples = window.counts_triples
        self._matcher = matcher
        self._dictionary = dictionary
        self._clear()

    def _clear(self) -> None:
        self._queue = _Queue()
        self._followed = 0
        self._slots = TupleTable(4)
        self._latest = np.full(_FEW, -1, np.int64)
        """For each slot the place of its last row, -1 if it has none."""

    def arrive(self, batch: ElementBatch) -> list[Piece]:
        if not len(batch):
            return []
        row, pattern = batch.matches(self._matcher)
        element = batch.element[row]
        if self._of_triples:
            number, totals = batch.number[row], batch.total_triples
        else:
            number = batch.first_element + element
            totals = batch.first_element + np.arange(len(batch))
        pieces = []
        last = int(batch.ticks[-1])
        if len(row):
            triples = batch.triples[row]
            self._dictionary.hold(triples.ravel())
            self._enter(number, np.column_stack([pattern, triples]), element, totals, last)
            pieces.append(without_end(pattern, triples, batch.ticks[element], batch.order[element] * 2 + 1, 1))
        at, gone = self._leave(totals, last)
        if len(gone):
            pieces.append(without_end(gone[:, 0], gone[:, 1:4], batch.ticks[at], batch.order[at] * 2 + 1, -1))
        return pieces

    def take_one(
        self, rows: list[tuple[int, ...]], at_ms: int, total: int, triples: int, elements: int
    ) -> list[tuple[int, ...]]:
        count, at_tick = triples if self._of_triples else elements, tick(at_ms, ELEMENT)
        if rows:
            columns = np.array(rows, np.int64)
            if not self._of_triples:
                columns[:, 0] = elements
            self._dictionary.hold(columns[:, 2:].ravel())
            slots = self._number(columns[:, 1:], 1)
            first = self._queue.append(columns[:, 0], np.column_stack([columns[:, 1:], slots, slots * 0]))
            for place, slot in enumerate(slots.tolist(), first):
                before = int(self._latest[slot])
                self._latest[slot] = place
                if before >= 0:
                    # It leaves no earlier than with this element, so the later one stands for it.
                    row = self._queue.rows[before - self._queue.front]
                    row[_FOLLOWED] = 1
                    self._dictionary.release(row[1:4].copy(), at_tick)
                    self._followed += 1
            if self._followed > max(_FEW, len(self._queue) // 2):
                self._rebuild(self.dump())
        queue, gone = self._queue, []
        while len(queue) and queue.number[0] <= count - self._count:
            row, place = queue.rows[0].copy(), queue.front
            queue.drop(1)
            if row[_FOLLOWED]:
                self._followed -= 1
                continue
            gone.append(tuple(row[:4].tolist()))
            self._dictionary.release(row[1:4].copy(), at_tick)
            if self._latest[row[_SLOT]] == place:
                self._latest[row[_SLOT]] = -1
                self._number(row[None, :4], -1)
        return gone

    def _enter(self, number: Column, rows: _Rows, element: Column, totals: Column, at_tick: int) -> None:
        """Adds rows, and marks those, old and new, which one of them follows in time."""
        slots = self._number(rows, 1)
        first = self._queue.append(number, np.column_stack([rows, slots, slots * 0]))
        by_slot = np.argsort(slots, kind="stable")
        repeated = np.zeros(len(by_slot) + 1, np.bool_)
        repeated[1:-1] = slots[by_slot[1:]] == slots[by_slot[:-1]]
        before = self._latest[slots[by_slot]]
        before[repeated[:-1]] = first + by_slot[:-1][repeated[1:-1]]
        self._latest[slots[by_slot[~repeated[1:]]]] = first + by_slot[~repeated[1:]]
        known = before >= 0
        place, came = before[known] - self._queue.front, element[by_slot[known]]
        leaves = np.searchsorted(totals, self._queue.number[place] + self._count)
        place = place[came <= leaves]
        if len(place):
            self._queue.rows[place, _FOLLOWED] = 1
            self._dictionary.release(self._queue.rows[place, 1:4].ravel(), at_tick)
            self._followed += len(place)
            if self._followed > max(_FEW, len(self._queue) // 2):
                self._rebuild(self.dump())

    def _leave(self, totals: Column, at_tick: int) -> tuple[Column, _Rows]:
        """Takes away what the stream's count has reached: for each row that ends, at which element, and the row."""
        queue = self._queue
        count = int(np.searchsorted(queue.number, totals[-1] - self._count, side="right"))
        ends = np.flatnonzero(queue.rows[:count, _FOLLOWED] == 0)
        gone = queue.rows[ends]
        at = np.searchsorted(totals, queue.number[ends] + self._count)
        over = self._latest[gone[:, _SLOT]] == queue.front + ends
        queue.drop(count)
        self._followed -= count - len(ends)
        if len(gone):
            self._dictionary.release(gone[:, 1:4].ravel(), at_tick)
            self._latest[gone[over, _SLOT]] = -1
            self._number(gone[over, :4], -1)
        return at, gone

    def _number(self, rows: _Rows, op: int) -> Column:
        """The slots of rows that come (op 1) or end (-1)."""
        now, until, ops = (np.full(len(rows), value, np.int64) for value in (0, FOREVER, op))
        slots: Column = self._slots.intern(rows, now, until, ops) - TUPLE
        if len(slots) and int(slots.max()) >= len(self._latest):
            latest = np.full(2 * (int(slots.max()) + 1), -1, np.int64)
            latest[: len(self._latest)] = self._latest
            self._latest = latest
        return slots

    def _rebuild(self, live: _Rows) -> None:
        """Starts anew with rows in order; of two that are the same, the first leaves before the second came."""
        self._clear()
        slots = self._number(live[:, 1:], 1)
        first = self._queue.append(live[:, 0], np.column_stack([live[:, 1:], slots, slots * 0]))
        self._latest[slots] = first + np.arange(len(slots))

    def close(self, at_tick: int) -> None:
        self._dictionary.release(self.dump()[:, 2:].ravel(), at_tick)

    def dump(self) -> Any:
        """Rows of number, pattern, s, p, o."""
        stands = self._queue.rows[:, _FOLLOWED] == 0
        return np.column_stack([self._queue.number[stands], self._queue.rows[stands, :4]])

    def load(self, state: Any) -> None:
        live = stored.table(state, 5)
        stored.one_of(live[:, 1], self._matcher.numbers)
        if (np.diff(live[:, 0]) < 0).any() or (live[:, 0] < 0).any():
            raise ValueError("what a window counts is not in order")
        self._dictionary.hold(stored.triples(live[:, 2:], self._dictionary).ravel())
        self._rebuild(live)

    def check(self, triples: int, elements: int) -> None:
        if len(self._queue) and int(self._queue.number[-1]) > (triples if self._of_triples else elements):
            raise ValueError("a window has more than its stream")
