"""Several sources as one: each put in order by itself, then merged by time, equal times in the order of the sources.

What comes late is late in its own source: before its largest time less the lateness; so is what jumps too far ahead. A
source that has nothing to give holds the others back, until it has finished or, where sources are followed, has been idle
for long enough.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from millstream.cli.feeds import Feed, Item
from millstream.engine.ordering import Ordering

OnRefused = Callable[[int, Item, str], None]
"""The number of the source, what is not taken, and why."""


class Lane:
    """One source in order: what is ready to be merged, and what may still be overtaken."""

    def __init__(
        self, number: int, feed: Feed, ordering: Ordering[Item], on_refused: OnRefused, *, untimed: bool = False
    ) -> None:
        self.number = number
        self.feed = feed
        self.untimed = untimed
        self.open_ended = False
        """Whether what its source may still get counts: then the end of the input is not the end of the lane."""
        self.ordering = ordering
        self.ready: deque[Item] = deque()
        self.heard_at = time.monotonic()
        self._on_refused = on_refused
        self._ended = False

    def fill(self) -> None:
        """Reads on until something is ready, or there is nothing now."""
        ordering = self.ordering
        while not self.ready and not self._ended:
            item = self.feed.poll()
            if item is None:
                if self.open_ended or not self.feed.finished:
                    return
                self._ended = True
                self.ready.extend(what for _, what in ordering.everything())
                return
            self.heard_at = time.monotonic()
            if item.at_ms is None:
                self.ready.append(item)
                continue
            if (reason := ordering.reason(item.at_ms)) is not None:
                self._on_refused(self.number, item, reason)
                continue
            ordering.see(item.at_ms)
            if ordering.passes_through:
                self.ready.append(item)
            else:
                ordering.hold(item.at_ms, item)
                self.ready.extend(what for _, what in ordering.due(ordering.reached_ms))

    @property
    def finished(self) -> bool:
        return self._ended and not self.ready

    def lets_pass(self, at_ms: int | None, number: int) -> bool:
        """Whether nothing that is still to come from here can be before something at a time from another source."""
        return at_ms is None or (at_ms, number) < (self.ordering.bounds[0], self.number)


class Merge:
    """The sources of a run, in the order in which they are listed."""

    def __init__(self, lanes: list[Lane], *, idle_s: float | None = None) -> None:
        """`idle_s`: how long a silent source holds the others back; None: until it has finished."""
        self._lanes = lanes
        self._idle_s = idle_s

    @property
    def finished(self) -> bool:
        return all(lane.finished for lane in self._lanes)

    @property
    def at_open_end(self) -> bool:
        """Whether a source has no more input although its lane has not ended."""
        return any(lane.open_ended and lane.feed.finished for lane in self._lanes)

    def leave_open(self, is_open: bool) -> None:
        """Whether to stop where the input ends, in the state from which more input could be taken."""
        for lane in self._lanes:
            lane.open_ended = is_open

    def take(self) -> tuple[int, Item] | None:
        """The next item with the number of its source; None if there is none yet, or none any more."""
        first: Lane | None = None
        key: tuple[bool, int, int] = (True, 0, 0)
        for lane in self._lanes:
            lane.fill()
            if lane.ready:
                at_ms = lane.ready[0].at_ms
                # What has no time happens at once, before anything that has.
                found = (at_ms is not None, at_ms or 0, lane.number)
                if first is None or found < key:
                    first, key = lane, found
        if first is None:
            return None
        at_ms = first.ready[0].at_ms
        for lane in self._lanes:
            if not lane.ready and not lane.finished and self._waits(lane) and not lane.lets_pass(at_ms, first.number):
                return None
        return first.number, first.ready.popleft()

    def _waits(self, lane: Lane) -> bool:
        if self._idle_s is None:
            return True
        return not lane.untimed and time.monotonic() - lane.heard_at < self._idle_s
