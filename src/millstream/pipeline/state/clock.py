"""How far a job has come: each source by what its lanes brought, all together by the one that lags.

Every cell keeps this for itself and comes to the same result, since all are told of every chunk. Sources have the order in
which they are listed: of what happens in one millisecond, that of the first source comes first, and of a source that of its
first lane. So a row may be processed once nobody can bring anything before it in the order of (time, source, lane).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.ingest.columns import times_at_rate
from millstream.pipeline.exchange.blobs import Header, numbers_of

Ids = npt.NDArray[np.int64]
FIRST_OF_ALL = -(1 << 62)


LANE_BITS = 40
"""A part's number says its lane, which is what comes before so many bits, and then its place there."""
LAST_PART = (1 << 62) - 1
"""Behind the parts of all lanes: where a source ends."""


@dataclass(slots=True)
class LaneClock:
    """One ordered part of a source: all of it, or a partition."""

    largest_ms: int | None = None
    idle: bool = False
    heard_ms: int | None = None
    """By the clock of beats: when it was last known to bring something."""
    brought: bool = False
    """Whether it has brought anything since the last beat."""


@dataclass(slots=True)
class SourceClock:
    """One source: its lanes, the least of which that is not idle tells how far it has come."""

    first: tuple[int, int, int] | None = None
    """The first element that was not late: its time, its part, its number there."""
    elements: int = 0
    triples: int = 0
    ended: bool = False
    open: bool = False
    """It has ended for this run only, so nothing passes it before all have ended."""
    lanes: dict[int, LaneClock] = field(default_factory=dict)

    def lane(self, part: int, reached_ms: int | None = None) -> LaneClock:
        """The lane of a part; one that is new begins where all had come before."""
        number = part >> LANE_BITS
        if number not in self.lanes:
            self.lanes[number] = LaneClock(reached_ms)
        return self.lanes[number]

    @property
    def largest_ms(self) -> int | None:
        """The largest time of all lanes."""
        return max((lane.largest_ms for lane in self.lanes.values() if lane.largest_ms is not None), default=None)

    @property
    def idle(self) -> bool:
        """Whether nothing is known to be coming."""
        return bool(self.lanes) and all(lane.idle for lane in self.lanes.values())

    @property
    def reached(self) -> tuple[int, int] | None:
        """How far all lanes have come that are not idle, and the first that is no further; None if one brought nothing."""
        counting = [(lane.largest_ms, number) for number, lane in self.lanes.items() if not lane.idle]
        known = [(at_ms, number) for at_ms, number in counting if at_ms is not None]
        return min(known) if known and len(known) == len(counting) else None

    @property
    def reached_ms(self) -> int | None:
        """How far all lanes have come."""
        return None if self.reached is None else self.reached[0]

    def dump(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "lanes": [[number, *astuple(lane)] for number, lane in self.lanes.items()]}

    @classmethod
    def of(cls, state: dict[str, Any]) -> SourceClock:
        """From what `dump` gave."""
        kept = dict(state)
        if "lanes" not in kept:
            # As it was before sources had lanes: one.
            names = ("largest_ms", "idle", "heard_ms", "brought")
            kept["lanes"] = [[0, *(kept.pop(name) for name in names)]]
        lanes = {number: LaneClock(*values) for number, *values in kept["lanes"]}
        first = None if kept["first"] is None else tuple(kept["first"])
        return cls(**{**kept, "lanes": lanes, "first": first})


class Clock:
    """All sources of a job."""

    def __init__(self, rates: Iterable[Fraction | None], ordered: Iterable[bool], lateness_ms: int) -> None:
        self._rates = list(rates)
        self._ordered = list(ordered)
        self._lateness_ms = lateness_ms
        self.sources = [SourceClock() for _ in self._rates]
        self._triggers = 0
        self.point = (FIRST_OF_ALL, 0, 0)
        """All that is before or at this (time, source, lane) has been processed."""

    def see(self, headers: list[Header]) -> list[Seen]:
        """Takes the chunks of one trigger, in order; gives for each what its rows' times are judged by."""
        seen = []
        self._triggers += 1
        reached = [source.reached_ms for source in self.sources]
        before_trigger = [{n: lane.largest_ms for n, lane in source.lanes.items()} for source in self.sources]
        part_of: dict[int, int] = {}
        base: dict[int, int] = {}
        for header in headers:
            source = self.sources[header.source]
            if header.now_ms is not None:
                for each in source.lanes.values() or [source.lane(0)]:
                    _beat(each, header.now_ms, header.idle_ms)
                seen.append(Seen(header.part, 0, None, None))
                continue
            if header.ended or header.idle:
                source.ended, source.open = header.ended, header.open
                if header.idle:
                    source.lane(header.part, reached[header.source]).idle = True
                seen.append(Seen(header.part, 0, None, None))
                continue
            lane = source.lane(header.part, reached[header.source])
            part = header.part
            if not self._ordered[header.source]:
                # Its parts have the same numbers again in the next trigger.
                part += self._triggers << 32
            if part_of.get(header.source) != header.part:
                part_of[header.source], base[header.source] = header.part, source.elements
            rate = self._rates[header.source]
            before_ms = before_trigger[header.source].get(header.part >> LANE_BITS)
            reference = lane.largest_ms if self._ordered[header.source] else before_ms
            seen.append(Seen(part, base[header.source], rate, reference))
            if header.elements:
                self._bring(source, lane, header, seen[-1])
        return seen

    def _bring(self, source: SourceClock, lane: LaneClock, header: Header, seen: Seen) -> None:
        # What had ended goes on: files came for a later run.
        lane.idle = source.ended = False
        lane.brought = True
        if seen.rate is None:
            assert header.largest_ms is not None
            largest = header.largest_ms
            pairs = zip(header.least_ms, header.least_element, strict=True)
            floor_ms = FIRST_OF_ALL if seen.before_ms is None else seen.before_ms - self._lateness_ms
            least = [(t, seen.part, e) for t, e in pairs if t >= floor_ms]
        else:
            ends = np.array([header.first, header.first + header.elements - 1]) + seen.base
            first, largest = times_at_rate(ends, seen.rate).tolist()
            least = [(first, seen.part, header.first)]
        source.elements += header.elements
        lane.largest_ms = largest if lane.largest_ms is None else max(lane.largest_ms, largest)
        if least:
            source.first = least[0] if source.first is None else min(source.first, least[0])

    def advance(self) -> None:
        """Moves the point as far as the sources allow; it never goes back."""
        over = self.ended
        lagging = [(i, s) for i, s in enumerate(self.sources) if not s.idle and not (s.ended and (over or not s.open))]
        if lagging:
            reached = min(self._reached(i, s) for i, s in lagging)
        else:
            # Nothing lags, so time is what the furthest source says; at the end also what a lateness held back has happened.
            lateness_ms = 0 if over else self._lateness_ms
            times_ms = (s.largest_ms - lateness_ms for s in self.sources if s.largest_ms is not None)
            reached = (max(times_ms, default=FIRST_OF_ALL), len(self.sources), 0)
        self.point = max(self.point, reached)

    def _reached(self, number: int, source: SourceClock) -> tuple[int, int, int]:
        if source.reached is None:
            return FIRST_OF_ALL, number, 0
        at_ms, lane = source.reached
        return at_ms - self._lateness_ms, number, lane

    def is_due(self, at_ms: Ids, source: Ids, part: Ids) -> npt.NDArray[np.bool_]:
        """Which rows nobody can overtake any more."""
        to_ms, to_source, to_lane = self.point
        is_before = source < to_source
        if to_source < len(self.sources):
            # Parts of a source without an order of its own have numbers that say nothing of lanes: it has one.
            in_lanes = self._ordered[to_source]
            is_before |= (source == to_source) & ((part >> LANE_BITS <= to_lane) | (not in_lanes))
        found: npt.NDArray[np.bool_] = (at_ms < to_ms) | ((at_ms == to_ms) & is_before)
        return found

    @property
    def at_ms(self) -> int | None:
        """The watermark: the time before which everything has been processed; None before the first element."""
        return None if self.point[0] <= FIRST_OF_ALL else self.point[0]

    @property
    def ended(self) -> bool:
        return all(source.ended for source in self.sources)

    def ends_with(self, headers: list[Header]) -> bool:
        """Whether with the chunks of a trigger the last source ends."""
        ended = [source.ended for source in self.sources]
        for header in sorted(headers, key=lambda header: header.place):
            if header.ended or header.idle or header.elements:
                ended[header.source] = header.ended
        return all(ended)

    def dump(self) -> dict[str, Any]:
        return {"sources": [s.dump() for s in self.sources], "point": list(self.point), "triggers": self._triggers}

    def load(self, state: dict[str, Any]) -> None:
        self.sources = [SourceClock.of(s) for s in state["sources"]]
        # Those of before lanes counted have none.
        at_ms, source, lane = (*state["point"], 0)[:3]
        self.point = (at_ms, source, lane)
        self._triggers = state["triggers"]


def _beat(lane: LaneClock, now_ms: int, idle_ms: int | None) -> None:
    """Whether a lane is idle, by what it has brought between beats."""
    if lane.brought or lane.heard_ms is None or idle_ms is None:
        lane.heard_ms, lane.brought = now_ms, False
    elif now_ms - lane.heard_ms >= idle_ms:
        lane.idle = True


@dataclass(frozen=True, slots=True)
class Seen:
    """What the rows of a chunk are judged by."""

    part: int
    """A number for its part that no other part has, which orders them."""
    base: int
    rate: Fraction | None
    before_ms: int | None
    """How far its lane had come before it; None: nothing had come."""


def times_of(batch: pa.RecordBatch, chunk: Ids, seen: Sequence[Seen]) -> Ids:
    """When rows happened: they say so themselves, or their elements' numbers do."""
    if seen[0].rate is None:
        return numbers_of(batch, "at")
    base = np.array([each.base for each in seen], np.int64)
    return times_at_rate(numbers_of(batch, "element") + base[chunk], seen[0].rate)
