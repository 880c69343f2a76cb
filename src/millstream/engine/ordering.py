"""The order in which things happen: by time, equal times as they arrived, held back by the lateness.

What comes with a time that has been passed is late; the caller is told and keeps it out.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Ordering(Generic[T]):
    """Holds what may still be overtaken."""

    def __init__(self, lateness_ms: int) -> None:
        self.lateness_ms = lateness_ms
        self._largest_ms: int | None = None
        self._passed_ms: int | None = None
        self._held: list[tuple[int, int, T]] = []
        self._arrivals = 0
        self.point_ms: int | None = None
        """The earliest time that is not late; None while any is."""

    def __len__(self) -> int:
        return len(self._held)

    def is_late(self, at_ms: int) -> bool:
        return self.point_ms is not None and at_ms < self.point_ms

    def see(self, at_ms: int) -> None:
        """A time that was not late has come."""
        if self._largest_ms is None or at_ms > self._largest_ms:
            self._largest_ms = at_ms
            self._reach(at_ms - self.lateness_ms)

    def _reach(self, point_ms: int) -> None:
        if self.point_ms is None or point_ms > self.point_ms:
            self.point_ms = point_ms

    def is_next(self, at_ms: int) -> bool:
        """Whether what comes with a time is neither late nor has to wait for anything."""
        point_ms = self.point_ms
        return not self._held and not self.lateness_ms and (point_ms is None or at_ms >= point_ms)

    @property
    def passes_through(self) -> bool:
        """Whether what comes next need not wait for anything."""
        return not self.lateness_ms and not self._held

    def hold(self, at_ms: int, what: T) -> None:
        self._arrivals += 1
        heapq.heappush(self._held, (at_ms, self._arrivals, what))

    @property
    def reached_ms(self) -> int:
        """How far time has come: the largest time seen, less the lateness."""
        assert self._largest_ms is not None
        return self._largest_ms - self.lateness_ms

    def due(self, until_ms: int) -> Iterator[tuple[int, T]]:
        """What is held up to a time, in order."""
        while self._held and self._held[0][0] <= until_ms:
            at_ms, _, what = heapq.heappop(self._held)
            yield at_ms, what

    def everything(self) -> Iterator[tuple[int, T]]:
        while self._held:
            at_ms, _, what = heapq.heappop(self._held)
            yield at_ms, what

    def pass_through(self, at_ms: int) -> None:
        """All times up to and including this one are over."""
        self._passed_ms = at_ms if self._passed_ms is None else max(self._passed_ms, at_ms)
        self._reach(at_ms + 1)

    def dump(self) -> tuple[Any, ...]:
        return self._largest_ms, self._passed_ms, self._arrivals, sorted(self._held, key=lambda h: h[:2])

    def load(self, largest_ms: int | None, passed_ms: int | None, arrivals: int, held: list[tuple[int, int, T]]) -> None:
        self._largest_ms, self._passed_ms, self._arrivals = largest_ms, passed_ms, arrivals
        self._held = list(held)
        if largest_ms is not None:
            self._reach(largest_ms - self.lateness_ms)
        if passed_ms is not None:
            self._reach(passed_ms + 1)
