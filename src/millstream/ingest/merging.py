"""Several sources as one: each put in order by itself, then merged by time, equal times in the order of the sources.

What comes late is late in its own source: before its largest time less the lateness; so is what jumps too far ahead. A
source that has nothing to give holds the others back, until it has ended or, where sources are followed, has been idle for
long enough: that is the watermark.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from millstream.errors import DataError
from millstream.ingest.chunk import Chunk, known
from millstream.ingest.columns import Columns, Ids
from millstream.ingest.ordering import Ordering
from millstream.kernels.dictionary.dictionary import Dictionary

OnRefused = Callable[[int, Columns, str], None]
"""The number of the source, the element that is not taken, and why."""
_LAST = 1 << 62
_PAST = -_LAST


@dataclass(slots=True)
class Ready:
    """Elements of a lane in time order, waiting for their turn."""

    columns: Columns
    at_ms: Ids | None
    """Their times; None: they happen at once."""
    held: bool = False
    """Whether their terms are held in the dictionary."""

    @property
    def first_ms(self) -> int:
        return _PAST if self.at_ms is None else int(self.at_ms[0])


class MergeInput:
    """One source in order: what is ready to be merged, and what may still be overtaken."""

    def __init__(
        self,
        number: int,
        chunks: Iterator[Chunk],
        ordering: Ordering[Columns],
        encode: Callable[[Chunk], Columns],
        on_refused: OnRefused,
        *,
        is_timed: bool = True,
    ) -> None:
        """`encode` makes columns of what the source gives; without times (`is_timed`) everything happens at once."""
        self.number = number
        self.ordering = ordering
        self.is_timed = is_timed
        self.behind = known(b"")
        """The last chunk that told a position."""
        self.ready: deque[Ready] = deque()
        self.open_ended = False
        """Whether what its source may still get counts: then the end of the input is not the end of the lane."""
        self.heard_at = time.monotonic()
        self.has_ended = False
        """Whether its source has: nothing more can be read."""
        self._chunks = chunks
        self._encode = encode
        self._on_refused = on_refused
        self._fault: DataError | None = None
        self._drained = False

    def fill(self, dictionary: Dictionary) -> None:
        """Reads on until something is ready, or there is nothing now."""
        while not self.ready and not self._drained:
            if self._fault is not None:
                raise self._fault
            chunk = None if self.has_ended else next(self._chunks, None)
            if chunk is None:
                self.has_ended = True
                if self.open_ended:
                    return
                self._drained = True
                self.ready.extend(_waited(at_ms, element) for at_ms, element in self.ordering.everything())
                return
            columns = self._encode(chunk)
            self.behind = chunk if chunk.is_placed else self.behind
            self._fault = columns.fault
            if columns.elements:
                self.heard_at = time.monotonic()
                self._sort(columns, dictionary)
            elif chunk.is_idle:
                return

    def _sort(self, columns: Columns, dictionary: Dictionary) -> None:
        if not self.is_timed:
            self.ready.append(Ready(columns, None))
            return
        at_ms, ordering = columns.times(), self.ordering
        if ordering.passes_through:
            for first, last, taken in ordering.stretches(at_ms):
                some = columns if last - first == columns.elements else columns.slice(first, last)
                if taken:
                    ordering.see(int(at_ms[last - 1]))
                    self.ready.append(Ready(some, at_ms[first:last]))
                else:
                    self._refuse(some, int(at_ms[first]))
            return
        for place, time_ms in enumerate(at_ms.tolist()):
            element = columns.slice(place, place + 1)
            if not ordering.takes(time_ms):
                self._refuse(element, time_ms)
                continue
            ordering.see(time_ms)
            dictionary.hold(element.terms)
            ordering.hold(time_ms, element)
        if not ordering.passes_through:
            self.ready.extend(_waited(at_ms, element) for at_ms, element in ordering.due(ordering.reached_ms))

    def _refuse(self, element: Columns, at_ms: int) -> None:
        reason = self.ordering.reason(at_ms)
        assert reason is not None
        self._on_refused(self.number, element, reason)

    @property
    def finished(self) -> bool:
        return self._drained and not self.ready

    def take(self, count: int) -> Ready:
        """The first so many elements that are ready."""
        found = self.ready.popleft()
        size = found.columns.elements
        if count < size:
            assert found.at_ms is not None
            rest = Ready(found.columns.slice(count, size), found.at_ms[count:], found.held)
            self.ready.appendleft(rest)
            found = Ready(found.columns.slice(0, count), found.at_ms[:count], found.held)
        return found


def _waited(at_ms: int, element: Columns) -> Ready:
    return Ready(element, np.array([at_ms], np.int64), held=True)


class Merge:
    """The sources of a run, in the order in which they are listed."""

    def __init__(self, merge_inputs: list[MergeInput], dictionary: Dictionary, *, idle_s: float | None = None) -> None:
        """`idle_s`: how long a silent source holds the others back; None: until it has finished."""
        self._merge_inputs = merge_inputs
        self._dictionary = dictionary
        self._idle_s = idle_s

    @property
    def finished(self) -> bool:
        return all(merge_input.finished for merge_input in self._merge_inputs)

    @property
    def at_open_end(self) -> bool:
        """Whether a source has no more input although its lane has not ended."""
        return any(merge_input.open_ended and merge_input.has_ended for merge_input in self._merge_inputs)

    def leave_open(self, is_open: bool) -> None:
        """Whether to stop where the input ends, in the state from which more input could be taken."""
        for merge_input in self._merge_inputs:
            merge_input.open_ended = is_open

    def take(self) -> tuple[int, Ready] | None:
        """The next elements of one source, with its number; None if there are none yet, or none any more.

        Whoever has processed them lets go of their terms, if these are held.
        """
        for merge_input in self._merge_inputs:
            merge_input.fill(self._dictionary)
        taken = self._next()
        for merge_input in self._merge_inputs:
            for each in merge_input.ready:
                # Terms that nobody holds are forgotten while others are processed.
                if not each.held:
                    self._dictionary.hold(each.columns.terms)
                    each.held = True
        return taken

    def _next(self) -> tuple[int, Ready] | None:
        found = [
            (merge_input.ready[0].first_ms, merge_input.number) for merge_input in self._merge_inputs if merge_input.ready
        ]
        if not found:
            return None
        _, number = min(found)
        first = self._merge_inputs[number]
        count = min(
            (self._passes(first, merge_input) for merge_input in self._merge_inputs if merge_input is not first),
            default=_LAST,
        )
        return (number, first.take(count)) if count else None

    def _passes(self, first: MergeInput, other: MergeInput) -> int:
        """How many elements of a lane come before whatever another lane has or still gets."""
        at_ms = first.ready[0].at_ms
        if at_ms is None:
            return _LAST
        if other.ready:
            bound_ms = other.ready[0].first_ms
        elif not other.finished and self._waits(other):
            bound_ms = other.ordering.bounds[0]
        else:
            return _LAST
        return int(np.searchsorted(at_ms, bound_ms, "right" if first.number < other.number else "left"))

    def _waits(self, merge_input: MergeInput) -> bool:
        if self._idle_s is None:
            return True
        return merge_input.is_timed and time.monotonic() - merge_input.heard_at < self._idle_s
