"""Lanes: the partitions of a source, each in an order of its own, merged by how far each has come.

Every message has the progress of its lane: the largest time up to it. Elements are handed on by (progress, lane, order in
the lane), as far as no lane that counts can still bring anything before them: so what comes out depends on what is in the
lanes alone, not on when it was fetched. Progress, less the lateness of whoever takes them, is the watermark.

A lane that has ended, or has had no news for too long, holds the others back no more. A lane that is new begins where the
others are. What is held back is a suffix of each lane: a position says how much of each was handed on. Since progress never
falls, what may be handed on is a prefix of that, so nobody looks at what goes on waiting.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from millstream.errors import DataError, OptionError
from millstream.ingest.columns import NOTHING, Columns, Ids, joined
from millstream.ingest.messages import Lane, Messages
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.operators.ticks import FOREVER
from millstream.rdf import OnRejected, Rejected

_PAST = -FOREVER
# Of an element: the offset of its message, which of that message's elements it is, the progress of its lane, and which of
# the messages that it came with is its own.
_OFFSET, _PLACE, _PROGRESS, _MESSAGE = range(4)


@dataclass(slots=True)
class LaneState:
    """How much of a lane was handed on."""

    offset: int
    """Of the first message that was not handed on as a whole."""
    taken: int = 0
    """How many elements of that message were."""
    progress: int = _PAST
    """The largest time of all that was handed on."""
    seen: int = 0
    """The offset behind the last message that was ever read: what is malformed before it was told."""


def pack_position(states: Mapping[Lane, LaneState], more: Mapping[str, Any] | None = None) -> bytes:
    """A position as bytes, with whatever else goes on with it."""
    rows = [
        [lane.topic, lane.partition, state.offset, state.taken, state.progress, state.seen]
        for lane, state in sorted(states.items(), key=lambda item: (item[0].topic, item[0].partition))
    ]
    return json.dumps({"lanes": rows, **(more or {})}).encode()


def unpack_position(data: bytes, prefix: str) -> dict[Lane, LaneState]:
    """What `pack_position` made; refuses anything else."""
    try:
        found = {}
        for topic, partition, *numbers in json.loads(data)["lanes"]:
            if not isinstance(topic, str) or not all(type(n) is int for n in (partition, *numbers)) or len(numbers) != 4:
                raise ValueError
            found[Lane(topic, partition, prefix)] = LaneState(*numbers)
    except (ValueError, TypeError, KeyError):
        raise OptionError(f"since: {data[:60]!r} is no position in partitions") from None
    return found


class Reader(Protocol):
    """Makes elements, or changes, of messages."""

    def encode(
        self, messages: Messages, dictionary: Dictionary, summary: Summary | None, on_rejected: OnRejected | None
    ) -> tuple[Columns, Ids]:
        """The elements, and for each the place of its message."""
        ...


class Lanes:
    """All lanes of a source: takes messages, hands elements on."""

    def __init__(self, reader: Reader, states: Mapping[Lane, LaneState], idle_s: float | None) -> None:
        """`idle_s`: how long a silent lane holds the others back; None: until it has ended."""
        self._reader = reader
        self._idle_s = idle_s
        self.lanes: list[Lane] = []
        self._states: list[LaneState] = []
        self._progress: list[int] = []
        """How far each was read, which may be further than what was handed on."""
        self._next: list[int] = []
        """The offset behind what was read of each."""
        self._silent_since: list[float | None] = []
        """Since when there is nothing more of each; None: there may be."""
        self._ended: list[bool] = []
        self._rank = np.empty(0, np.int64)
        """For each lane its place among all, whenever it came."""
        self._reached = max((state.progress for state in states.values()), default=_PAST)
        self._waiting: list[deque[_Portion]] = []
        """What was read of each and not handed on."""
        self._count: list[int] = []
        """How many elements that is."""
        self._handed: list[tuple[int, _Portion]] = []
        """What was handed on last, with the number of its lane."""
        self._order: Ids = np.empty(0, np.int64)
        """The order in which that was."""
        self._handed_after = _PAST
        self._fault: DataError | None = None
        """What ended the reading."""
        self._summary: Summary | None = None
        for lane, state in states.items():
            self.add(lane, state)

    def add(self, lane: Lane, state: LaneState) -> int:
        """A lane more, the number of which it gives; one of which nothing was handed on begins where the others are."""
        if lane not in self.lanes:
            self.lanes.append(lane)
            begin = self._reached if state.progress == _PAST else state.progress
            self._states.append(replace(state, progress=begin))
            self._progress.append(begin)
            self._next.append(state.offset)
            self._silent_since.append(None)
            self._ended.append(False)
            self._waiting.append(deque())
            self._count.append(0)
            names = [(lane.topic, lane.partition) for lane in self.lanes]
            self._rank = np.argsort(np.array(sorted(range(len(names)), key=names.__getitem__)))
        return self.lanes.index(lane)

    def catch_up(self, number: int) -> None:
        """All there is of a lane was read."""
        if self._silent_since[number] is None:
            self._silent_since[number] = time.monotonic()

    def end(self, number: int) -> None:
        """Nothing more comes of a lane."""
        self._ended[number] = True

    @property
    def has_ended(self) -> bool:
        """Whether all of them have, and everything was handed on."""
        return all(self._ended) and not any(self._waiting)

    def hear(self, number: int) -> None:
        """Something of a lane was fetched."""
        self._silent_since[number] = None

    def waiting(self, number: int) -> int:
        """How many elements of a lane wait for others."""
        return self._count[number]

    def position(self) -> dict[Lane, LaneState]:
        """How much was handed on."""
        return dict(zip(self.lanes, self._placed(), strict=True))

    # In and out -------------------------------------------------------------------------------------------------------

    def take(
        self, messages: Messages | None, dictionary: Dictionary, summary: Summary | None, on_rejected: OnRejected | None
    ) -> Columns:
        """What may be handed on, now that these have come."""
        if summary is not self._summary and any(self._waiting):
            self._read_again(dictionary, summary, on_rejected)
        self._summary = summary
        if messages is not None and len(messages):
            self._read(messages, dictionary, summary, on_rejected)
        return self._hand_on(dictionary)

    def handed(self) -> Iterator[tuple[Messages, int]]:
        """For each element of what was handed on last its message: a batch of them, and the place there."""
        found = [(portion.messages, place) for _, portion in self._handed for place in portion.marks[:, _MESSAGE].tolist()]
        return (found[place] for place in self._order.tolist())

    def handed_ms(self) -> Ids:
        """For each of these a time that goes back neither in its lane nor behind what was handed on before."""
        progress = np.concatenate([portion.progress for _, portion in self._handed] or [self._order])[self._order]
        found: Ids = np.maximum.accumulate(np.maximum(progress, self._handed_after))
        return found

    def _read(
        self, messages: Messages, dictionary: Dictionary, summary: Summary | None, on_rejected: OnRejected | None
    ) -> None:
        columns, origin = self._reader.encode(messages, dictionary, summary, self._told_once(messages, on_rejected))
        self._fault = self._fault or columns.fault
        columns.fault = None
        marks = np.empty((len(origin), 4), np.int64)
        marks[:, _OFFSET], marks[:, _MESSAGE] = messages.offset[origin], origin
        marks[:, _PLACE] = np.arange(len(origin)) - np.searchsorted(origin, origin)
        lane = messages.lane[origin]
        if len(lane) and (lane != lane[0]).any():
            order = np.argsort(lane, kind="stable")
            columns, marks, lane = columns.pick(order), marks[order], lane[order]
        for number in np.unique(messages.lane).tolist():
            first, last = np.searchsorted(lane, (number, number + 1)).tolist()
            self._wait(number, _Portion(columns, first, marks[first:last], messages))
            self._next[number] = int(messages.offset[messages.lane == number][-1]) + 1
            state = self._states[number]
            state.seen = max(state.seen, self._next[number])

    def _wait(self, number: int, found: _Portion) -> None:
        """More of a lane, behind what waits of it."""
        state, marks = self._states[number], found.marks
        if state.taken:
            # Of its first message some was handed on before.
            gone = np.count_nonzero((marks[:, _OFFSET] == state.offset) & (marks[:, _PLACE] < state.taken))
            found = found.slice(int(gone), len(found))
        if len(found):
            np.maximum.accumulate(np.maximum(found.columns.times(), self._progress[number]), out=found.progress)
            self._progress[number] = int(found.progress[-1])
            self._waiting[number].append(found)
            self._count[number] += len(found)

    def _told_once(self, messages: Messages, on_rejected: OnRejected | None) -> OnRejected | None:
        """Who is told what is malformed, unless it was told before."""
        seen = np.array([state.seen for state in self._states], np.int64)
        before = np.flatnonzero(messages.offset < seen[messages.lane]).tolist()
        if on_rejected is None or not before:
            return on_rejected
        names = {messages.name(place) for place in before}

        def tell(rejected: Rejected) -> None:
            if rejected.source not in names:
                on_rejected(rejected)

        return tell

    def _read_again(self, dictionary: Dictionary, summary: Summary | None, on_rejected: OnRejected | None) -> None:
        """Other triples are asked for now: what waits was read for those of before."""
        waiting = [portion for some in self._waiting for portion in some]
        self._states = self._placed()
        self._waiting = [deque() for _ in self.lanes]
        self._count = [0] * len(self.lanes)
        self._progress = [state.progress for state in self._states]
        for portion in waiting:
            dictionary.release(portion.columns.terms, _PAST)
        for portion in waiting:
            messages = portion.messages.pick(np.unique(portion.marks[:, _MESSAGE]))
            self._read(messages, dictionary, summary, on_rejected)

    def _hand_on(self, dictionary: Dictionary) -> Columns:
        self._handed = list(self._ready())
        self._order = np.arange(sum(len(portion) for _, portion in self._handed))
        for some in self._waiting:
            # Terms that nobody holds are forgotten while others are processed; those that came before are held.
            for portion in reversed(some):
                if portion.is_held:
                    break
                dictionary.hold(portion.columns.terms)
                portion.is_held = True
        if not self._handed:
            return replace(NOTHING, fault=self._fault)
        columns = joined([portion.columns for _, portion in self._handed])
        if self._handed[0][0] != self._handed[-1][0]:
            progress = np.concatenate([portion.progress for _, portion in self._handed])
            rank = np.repeat(
                [self._rank[number] for number, _ in self._handed], [len(portion) for _, portion in self._handed]
            )
            self._order = np.lexsort((rank, progress))
            columns = columns.pick(self._order)
        self._handed_after = self._reached
        for number, portion in self._handed:
            if portion.is_held:
                dictionary.release(portion.columns.terms, _PAST)
            offset, place, progress, _ = portion.marks[-1].tolist()
            state = self._states[number]
            state.offset, state.taken, state.progress = offset, place + 1, progress
            self._reached = max(self._reached, progress)
            self._count[number] -= len(portion)
        return replace(columns, fault=self._fault)

    def _ready(self) -> Iterator[tuple[int, _Portion]]:
        """Takes out of what waits the elements that nothing can come before any more, lane by lane."""
        last, rank = self._bound()
        for number, some in enumerate(self._waiting):
            side: Literal["left", "right"] = "right" if self._rank[number] <= rank else "left"
            while some:
                portion = some[0]
                count = int(np.searchsorted(portion.progress, last, side))
                if count == len(portion):
                    yield number, some.popleft()
                    continue
                if count:
                    some[0] = portion.slice(count, len(portion))
                    yield number, portion.slice(0, count)
                break

    def _bound(self) -> tuple[int, int]:
        """The progress and the rank of a lane up to which everything has come."""
        now = time.monotonic()
        counting = (
            (self._progress[number], int(self._rank[number]))
            for number in range(len(self.lanes))
            if not (self._ended[number] or self._is_idle(number, now))
        )
        return min(counting, default=(FOREVER, len(self.lanes)))

    def _is_idle(self, number: int, now: float) -> bool:
        since = self._silent_since[number]
        return self._idle_s is not None and since is not None and now - since >= self._idle_s

    def _placed(self) -> list[LaneState]:
        """For each lane how much was handed on: to go on at the message after it, unless some of it still waits."""
        found = []
        for state, some, after in zip(self._states, self._waiting, self._next, strict=True):
            offset, taken = some[0].marks[0, :_PROGRESS].tolist() if some else (after, 0)
            found.append(LaneState(offset, taken, state.progress, state.seen))
        return found


@dataclass(slots=True, eq=False)
class _Portion:
    """Elements of a lane that were read together, in order, with the message each is of."""

    read: Columns
    """All that was read with them: to leave out the first of these must not copy the others."""
    first: int
    """Their place in it."""
    marks: Ids
    """For each element a row, as said above."""
    messages: Messages
    is_held: bool = False
    """Whether the dictionary holds its terms."""

    def __len__(self) -> int:
        return len(self.marks)

    @property
    def columns(self) -> Columns:
        if len(self) == self.read.elements:
            return self.read
        return self.read.slice(self.first, self.first + len(self))

    @property
    def progress(self) -> Ids:
        return self.marks[:, _PROGRESS]

    def slice(self, first: int, last: int) -> _Portion:
        """The elements from one place up to another."""
        return replace(self, first=self.first + first, marks=self.marks[first:last])
