"""Content ticks: when the whole content of windows changes by itself, triples that no pattern matches included.

Only needed for RSTREAM after every change: it answers at each expiry in its windows, whether that changes an answer or not.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from millstream.engine.windows.window_operators import Operator
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.elements import Elements
from millstream.operators import stored
from millstream.operators.ticks import ELEMENT, EXPIRY, FOREVER, GRID, Column
from millstream.windows.window import ElementWindow, SilenceWindow, TimeWindow, WindowKind


class ContentTicks:
    """What all triples of one window do; here nothing, as long as no element comes."""

    leaves_before_next = False
    """Whether the stream's next element empties it before it comes."""

    def arrive(self, batch: Elements) -> None:
        """Elements of its stream."""

    def next_change(self, after: int, before: int) -> int | None:
        """The first tick in between at which the content changes."""
        return None

    def due_before(self, before: int) -> int:
        """At most how many ticks there are before another at which the content changes."""
        return 0

    def dump(self) -> Any:
        """Its state in plain values."""

    def load(self, state: Any) -> None:
        """Takes what was dumped of an equal window."""


def content_ticks_of(window: WindowKind, operator: Operator | None, dictionary: Dictionary, t0_ms: int) -> ContentTicks:
    """What all triples of a window do, of which one of its operators sees what patterns match."""
    if isinstance(window, ElementWindow):
        return _ElementContentTicks()
    if isinstance(window, SilenceWindow) and operator is not None:
        return _SessionContentTicks(operator)
    if isinstance(window, TimeWindow) and window.kept_ms is not None:
        return _TimeContentTicks(window, dictionary, t0_ms)
    return ContentTicks()


class _ElementContentTicks(ContentTicks):
    """One element at a time."""

    def arrive(self, batch: Elements) -> None:
        self.leaves_before_next = True

    def dump(self) -> Any:
        return self.leaves_before_next

    def load(self, state: Any) -> None:
        self.leaves_before_next = stored.flag(state)


class _SessionContentTicks(ContentTicks):
    """All of it ends at once, which the window's operator knows."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator

    def next_change(self, after: int, before: int) -> int | None:
        end = self._operator.next_tick
        return end if end is not None and after < end < before else None

    def due_before(self, before: int) -> int:
        return int(self.next_change(-FOREVER, before) is not None)


class _TimeContentTicks(ContentTicks):
    """The intervals of all triples of one window, and the ticks at which one of them begins or ends."""

    def __init__(self, window: TimeWindow, dictionary: Dictionary, t0_ms: int) -> None:
        self._window = window
        self._dictionary = dictionary
        self._t0_ms = t0_ms
        self._intervals: dict[tuple[int, int, int], list[list[int]]] = {}
        self._due: list[tuple[int, tuple[int, int, int]]] = []

    def arrive(self, batch: Elements) -> None:
        starts, ends = (some.tolist() for some in _seen(self._window, batch.times, self._t0_ms))
        for triple, element in zip(batch.triples.tolist(), batch.places.tolist(), strict=True):
            start, end = starts[element], ends[element]
            if start < end:
                # A term that were forgotten would come again with another id, and look like another triple.
                for term in triple:
                    self._dictionary.touch_one(term, end)
                self._add((triple[0], triple[1], triple[2]), start, end)

    def _add(self, triple: tuple[int, int, int], start: int, end: int) -> None:
        intervals = self._intervals.setdefault(triple, [])
        if intervals and start <= intervals[-1][1]:
            intervals[-1][1] = max(intervals[-1][1], end)
        else:
            intervals.append([start, end])
            heapq.heappush(self._due, (start, triple))
        heapq.heappush(self._due, (intervals[-1][1], triple))

    def next_change(self, after: int, before: int) -> int | None:
        while self._due and self._due[0][0] < before:
            at, triple = self._due[0]
            if at > after and any(at in interval for interval in self._intervals.get(triple, ())):
                return at
            heapq.heappop(self._due)
            self._forget(triple, min(at, after))
        return None

    def due_before(self, before: int) -> int:
        count, places = 0, [0]
        # A heap: what is below something that is not due is not due either.
        while places:
            place = places.pop()
            if place < len(self._due) and self._due[place][0] < before:
                count += 1
                places += (2 * place + 1, 2 * place + 2)
        return count

    def dump(self) -> Any:
        return [(triple, intervals) for triple, intervals in self._intervals.items()]

    def load(self, state: Any) -> None:
        for (s, p, o), intervals in state:
            stored.triples(np.array([[s, p, o]]), self._dictionary)
            self._intervals[s, p, o] = [list(interval) for interval in intervals]
            for start, end in intervals:
                if stored.whole(start, -FOREVER, FOREVER) >= stored.whole(end, -FOREVER, FOREVER):
                    raise ValueError("an interval ends before it begins")
                for term in (s, p, o):
                    self._dictionary.touch_one(term, end)
                heapq.heappush(self._due, (start, (s, p, o)))
                heapq.heappush(self._due, (end, (s, p, o)))

    def _forget(self, triple: tuple[int, int, int], now: int) -> None:
        left = [interval for interval in self._intervals.get(triple, ()) if interval[1] > now]
        if left:
            self._intervals[triple] = left
        else:
            self._intervals.pop(triple, None)


def _seen(window: TimeWindow, at_ms: Column, t0_ms: int) -> tuple[Column, Column]:
    """From which ticks until which what comes at times is seen."""
    start, end = window.interval(at_ms, t0_ms)
    if window.step_ms is None:
        return start * 4 + ELEMENT, _ticks(end, EXPIRY)
    return _ticks(start, GRID), _ticks(end, GRID)


def _ticks(at_ms: Column, phase: int) -> Column:
    """Times as ticks; those beyond the last that can be told never come."""
    found: Column = np.minimum(np.minimum(at_ms, FOREVER >> 2) * 4 + phase, FOREVER)
    return found
