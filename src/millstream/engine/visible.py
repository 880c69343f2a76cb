"""When the whole content of windows changes by itself, triples that no pattern matches included.

Only needed for RSTREAM after every change: it answers at each expiry in its windows, whether that changes an answer or not.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from millstream.engine.batch import ElementBatch
from millstream.engine.feeds import grid_after
from millstream.kernels.dictionary import Dictionary
from millstream.language.windows import Now, Range, Slide, Step, WindowKind
from millstream.operators import stored
from millstream.operators.rows import ELEMENT, EXPIRY, FOREVER, GRID


class VisibleTicks:
    """The intervals of all triples of one window, and the ticks at which one of them begins or ends."""

    def __init__(self, window: WindowKind, dictionary: Dictionary, t0_ms: int) -> None:
        self._window = window
        self._dictionary = dictionary
        self._t0_ms = t0_ms
        self._intervals: dict[tuple[int, int, int], list[list[int]]] = {}
        self._due: list[tuple[int, tuple[int, int, int]]] = []

    def arrive(self, batch: ElementBatch) -> None:
        for triple, element in zip(batch.triples.tolist(), batch.element.tolist(), strict=True):
            interval = self._interval(int(batch.at_ms[element]))
            if interval is not None:
                interval = interval[0], min(interval[1], FOREVER)
                # A term that were forgotten would come again with another id, and look like another triple.
                for term in triple:
                    self._dictionary.touch_one(term, interval[1])
                self._add((triple[0], triple[1], triple[2]), *interval)

    def _interval(self, at_ms: int) -> tuple[int, int] | None:
        match self._window:
            case Range(range_ms):
                return at_ms * 4 + ELEMENT, (at_ms + range_ms) * 4 + EXPIRY
            case Slide(range_ms, slide_ms):
                return at_ms * 4 + ELEMENT, (self._grid(at_ms, slide_ms) + range_ms) * 4 + EXPIRY
            case Now():
                return at_ms * 4 + ELEMENT, (at_ms + 1) * 4 + EXPIRY
            case Step(range_ms, step_ms):
                start, end = self._grid(at_ms, step_ms), self._grid(at_ms + range_ms, step_ms)
                return (start * 4 + GRID, end * 4 + GRID) if start < end else None
            case _:
                return None

    def _grid(self, at_ms: int, length_ms: int) -> int:
        return int(grid_after(np.array([at_ms], np.int64), length_ms, self._t0_ms)[0])

    def _add(self, triple: tuple[int, int, int], start: int, end: int) -> None:
        intervals = self._intervals.setdefault(triple, [])
        if intervals and start <= intervals[-1][1]:
            intervals[-1][1] = max(intervals[-1][1], end)
        else:
            intervals.append([start, end])
            heapq.heappush(self._due, (start, triple))
        heapq.heappush(self._due, (intervals[-1][1], triple))

    def next_change(self, after: int, before: int) -> int | None:
        """The first tick in between at which the content changes."""
        while self._due and self._due[0][0] < before:
            at, triple = self._due[0]
            if at > after and any(at in interval for interval in self._intervals.get(triple, ())):
                return at
            heapq.heappop(self._due)
            self._forget(triple, min(at, after))
        return None

    def due_before(self, before: int) -> int:
        """At most how many ticks there are before another at which the content changes."""
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
