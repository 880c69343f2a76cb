"""A default graph put together from several graphs and windows: a set union, each part with its own ends.

A triple is seen while some part has it. So an end in one part shortens what is seen only where no other part lasts
longer, and what a part brings extends it only beyond the ends that are there already.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from millstream.engine.windows.window_operators import NEVER
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators import stored
from millstream.operators.leaves.matching import Matcher
from millstream.operators.ticks import FOREVER

_SWEPT = 4


class MergedContent:
    """The parts' ends for each row that some part holds."""

    def __init__(self) -> None:
        self._ends: dict[tuple[int, ...], dict[int, int]] = {}
        self._due: list[tuple[int, tuple[int, ...]]] = []

    def take(self, part: int, key: tuple[int, ...], now: int, until: int, op: int) -> list[tuple[int, int]]:
        """A change of a part's content as changes of the union: until when a row is seen (op 1), or was seen (-1)."""
        self._sweep(now)
        before = self._end(key, now)
        if op > 0:
            ends = self._ends.setdefault(key, {})
            ends[part] = max(ends.get(part, NEVER), until)
            if until < FOREVER:
                heapq.heappush(self._due, (until, key))
        else:
            ends = self._ends.get(key, {})
            ends.pop(part, None)
            if not ends:
                self._ends.pop(key, None)
        after = self._end(key, now)
        if after > before:
            return [(after, 1)]
        if after == before:
            return []
        return [(before, -1), (after, 1)] if after > now else [(before, -1)]

    def _end(self, key: tuple[int, ...], now: int) -> int:
        """Until when the union has a row, as seen now; NEVER if it does not."""
        latest = max(self._ends.get(key, {}).values(), default=NEVER)
        return latest if latest > now else NEVER

    def _sweep(self, now: int) -> None:
        """Forgets a few rows that have ended."""
        for _ in range(_SWEPT):
            if not self._due or self._due[0][0] > now:
                return
            _, key = heapq.heappop(self._due)
            if self._end(key, now) == NEVER:
                self._ends.pop(key, None)

    def dump(self, passed: int) -> Any:
        """What has not ended by the last tick that is over: the terms of the rest may be forgotten."""
        return [(key, list(ends.items())) for key, ends in self._ends.items() if max(ends.values()) > passed]

    def load(self, state: Any, parts: int, matcher: Matcher, dictionary: Dictionary) -> None:
        """Takes what the union of as many parts dumped."""
        for key, ends in state:
            pattern, *triple = (stored.whole(number) for number in key)
            stored.one_of(np.array([pattern]), matcher.numbers)
            stored.triples(np.array([triple]), dictionary)
            for part, until in ends:
                stored.whole(part, 0, parts - 1)
                stored.whole(until, NEVER, FOREVER)
            self._ends[tuple(key)] = dict(ends)
            for _, until in ends:
                if until < FOREVER:
                    heapq.heappush(self._due, (until, tuple(key)))
