"""The watermark: things happen by time, equal times as they arrived, held back by the lateness.

What comes with a time that has been passed is late, what comes too far ahead of all before it is implausible; the caller is
told and keeps it out.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from millstream.ingest.columns import Ids
from millstream.kernels.engine.event_order import EventOrder
from millstream.rdf.times import MAX_MS

T = TypeVar("T")
_FOREVER = 1 << 62


class Ordering(EventOrder, Generic[T]):
    """Holds what may still be overtaken."""

    held: list[tuple[int, int, T]]

    def __init__(self, lateness_ms: int, max_jump_ms: int | None = None) -> None:
        self._passed_ms: int | None = None
        self._arrivals = 0

    def __len__(self) -> int:
        return len(self.held)

    # What is taken ----------------------------------------------------------------------------------------------------

    @property
    def bounds(self) -> tuple[int, int]:
        """The earliest time that is not late, and the latest that is plausible."""
        return self.low_ms, self.high_ms

    def last_after(self, at_ms: int) -> int:
        """The latest time that is plausible after another has come."""
        return _FOREVER if self.max_jump_ms is None else at_ms + self.max_jump_ms

    def stretches(self, at_ms: Ids) -> Iterator[tuple[int, int, bool]]:
        """Places of what comes one after the other: from where to where it is taken together, and each that is not.

        Whoever takes a stretch has seen its last time before asking for more.
        """
        if self.takes_all(at_ms):
            yield 0, len(at_ms), True
            return
        first, (low_ms, high_ms) = 0, self.bounds
        for place, time_ms in enumerate(at_ms.tolist()):
            if low_ms <= time_ms <= high_ms:
                low_ms, high_ms = time_ms, self.last_after(time_ms)
                continue
            if first < place:
                yield first, place, True
            yield place, place + 1, False
            first, (low_ms, high_ms) = place + 1, self.bounds
        if first < len(at_ms):
            yield first, len(at_ms), True

    def reason(self, at_ms: int) -> str | None:
        """Why what comes with a time is not taken."""
        if at_ms < self.low_ms:
            return f"late: its time is {at_ms} ms, when only {self.low_ms} ms and later was still taken"
        if at_ms > self.high_ms:
            last_ms = self.high_ms - (self.max_jump_ms or 0)
            return f"implausible: its time is {at_ms} ms, more than {self.max_jump_ms} ms after {last_ms} ms"
        return None

    def is_late(self, at_ms: int) -> bool:
        return at_ms < self.low_ms

    # What waits -------------------------------------------------------------------------------------------------------

    def hold(self, at_ms: int, what: T) -> None:
        self._arrivals += 1
        heapq.heappush(self.held, (at_ms, self._arrivals, what))

    @property
    def reached_ms(self) -> int:
        """How far time has come: the largest time seen, less the lateness."""
        assert self.largest_ms is not None
        return self.largest_ms - self.lateness_ms

    def due(self, until_ms: int) -> Iterator[tuple[int, T]]:
        """What is held up to a time, in order."""
        while self.held and self.held[0][0] <= until_ms:
            at_ms, _, what = heapq.heappop(self.held)
            yield at_ms, what

    def everything(self) -> Iterator[tuple[int, T]]:
        while self.held:
            at_ms, _, what = heapq.heappop(self.held)
            yield at_ms, what

    def pass_through(self, at_ms: int) -> None:
        """All times up to and including this one are over."""
        self._passed_ms = at_ms if self._passed_ms is None else max(self._passed_ms, at_ms)
        self.reached(at_ms + 1, at_ms)

    def dump(self) -> tuple[Any, ...]:
        return self.largest_ms, self._passed_ms, self._arrivals, sorted(self.held, key=lambda h: h[:2])

    def load(self, largest_ms: int | None, passed_ms: int | None, arrivals: int, held: list[tuple[int, int, T]]) -> None:
        times = [at_ms for at_ms, _, _ in held]
        for at_ms in (largest_ms, passed_ms, *times):
            if at_ms is not None and (type(at_ms) is not int or abs(at_ms) > MAX_MS + 1):
                raise ValueError(f"{at_ms!r} is not a time")
        numbers = [number for _, number, _ in held]
        if type(arrivals) is not int or len(set(numbers)) < len(numbers) or not all(0 < n <= arrivals for n in numbers):
            raise ValueError("what is held is not numbered as it came")
        self._passed_ms, self._arrivals = passed_ms, arrivals
        self.held = sorted(held, key=lambda h: h[:2])
        if largest_ms is not None:
            self.see(largest_ms)
        if passed_ms is not None:
            self.reached(passed_ms + 1, passed_ms)
        if times and (largest_ms is None or not self._still_waits(min(times)) or max(times) > largest_ms):
            raise ValueError("something is held whose time has passed, or was never seen")

    def _still_waits(self, at_ms: int) -> bool:
        return at_ms >= self.low_ms and at_ms > self.reached_ms
