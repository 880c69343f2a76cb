"""Lanes: the partitions of a source, each in an order of its own, merged by how far each has come.

Every message has the progress of its lane: the largest time up to it. Elements are handed on by (progress, lane, order in
the lane), as far as no lane that counts can still bring anything before them: so what comes out depends on what is in the
lanes alone, not on when it was fetched. Progress, less the lateness of whoever takes them, is the watermark.

A lane that has ended, or has had no news for too long, holds the others back no more. A lane that is new begins where the
others are. What is held back is a suffix of each lane: a position says how much of each was handed on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from millstream.errors import OptionError
from millstream.ingest.columns import NOTHING, Columns, Ids, joined
from millstream.ingest.messages import Lane, Messages
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.operators.ticks import FOREVER
from millstream.rdf import OnRejected, Rejected

_PAST = -FOREVER
# Of an element: its lane, the offset of its message, which of that message's elements it is, the progress of its lane, the
# batch of messages it came in, as which of them, and whether its terms are held.
_LANE, _OFFSET, _PLACE, _PROGRESS, _BATCH, _OF_BATCH, _HELD = range(7)


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
        self._waiting = _Waiting.none()
        self._handed = _Waiting.none()
        self._handed_after = _PAST
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
        return all(self._ended) and not len(self._waiting)

    def hear(self, number: int) -> None:
        """Something of a lane was fetched."""
        self._silent_since[number] = None

    def waiting(self, number: int) -> int:
        """How many elements of a lane wait for others."""
        return int(np.count_nonzero(self._waiting.marks[:, _LANE] == number))

    def position(self) -> dict[Lane, LaneState]:
        """How much was handed on."""
        return dict(zip(self.lanes, self._placed(), strict=True))

    # In and out -------------------------------------------------------------------------------------------------------

    def take(
        self, messages: Messages | None, dictionary: Dictionary, summary: Summary | None, on_rejected: OnRejected | None
    ) -> Columns:
        """What may be handed on, now that these have come."""
        if summary is not self._summary and len(self._waiting):
            self._read_again(dictionary, summary, on_rejected)
        self._summary = summary
        if messages is not None and len(messages):
            self._read(messages, dictionary, summary, on_rejected)
        return self._hand_on(dictionary)

    def handed(self) -> Iterator[tuple[Messages, int]]:
        """For each element of what was handed on last its message: a batch of them, and the place there."""
        for batch, place in self._handed.marks[:, [_BATCH, _OF_BATCH]].tolist():
            yield self._handed.batches[batch], place

    def handed_ms(self) -> Ids:
        """For each of these a time that goes back neither in its lane nor behind what was handed on before."""
        found: Ids = np.maximum.accumulate(np.maximum(self._handed.marks[:, _PROGRESS], self._handed_after))
        return found

    def _read(
        self, messages: Messages, dictionary: Dictionary, summary: Summary | None, on_rejected: OnRejected | None
    ) -> None:
        columns, origin = self._reader.encode(messages, dictionary, summary, self._told_once(messages, on_rejected))
        found = _Waiting.of(columns, messages, origin)
        for number in np.unique(messages.lane).tolist():
            state = self._states[number]
            if state.taken:
                # Of its first message some was handed on before.
                marks = found.marks
                is_message = (marks[:, _LANE] == number) & (marks[:, _OFFSET] == state.offset)
                gone = is_message & (marks[:, _PLACE] < state.taken)
                found = found.pick(np.flatnonzero(~gone)) if gone.any() else found
            at = np.flatnonzero(found.marks[:, _LANE] == number)
            if len(at):
                at_ms = found.columns.times(at)
                found.marks[at, _PROGRESS] = np.maximum.accumulate(np.maximum(at_ms, self._progress[number]))
                self._progress[number] = int(found.marks[at[-1], _PROGRESS])
            self._next[number] = int(messages.offset[messages.lane == number][-1]) + 1
            state.seen = max(state.seen, self._next[number])
        self._waiting = _Waiting.joined(self._waiting, found)

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
        waiting, self._states = self._waiting, self._placed()
        dictionary.release(waiting.columns.terms, _PAST)
        self._waiting = _Waiting.none()
        self._progress = [state.progress for state in self._states]
        for messages in waiting.messages():
            self._read(messages, dictionary, summary, on_rejected)

    def _hand_on(self, dictionary: Dictionary) -> Columns:
        waiting, self._handed = self._waiting, _Waiting.none()
        if not len(waiting):
            return waiting.columns
        last, lane = self._bound()
        marks = waiting.marks
        progress, rank = marks[:, _PROGRESS], self._rank[marks[:, _LANE]]
        ready = (progress < last) | ((progress == last) & (rank <= lane))
        if not ready.all():
            places = np.flatnonzero(ready)
            self._waiting = waiting.pick(np.flatnonzero(~ready))
            self._waiting.hold(dictionary)
            if not len(places):
                return replace(NOTHING, fault=waiting.columns.fault)
            waiting, progress, rank = waiting.pick(places), progress[places], rank[places]
        else:
            self._waiting = _Waiting.none()
        if len(self.lanes) > 1:
            waiting = waiting.pick(np.lexsort((rank, progress)))
        waiting.release(dictionary)
        marks = waiting.marks
        self._handed_after = self._reached
        self._reached = max(self._reached, int(marks[-1, _PROGRESS]))
        for number in np.unique(marks[:, _LANE]).tolist():
            row = np.flatnonzero(marks[:, _LANE] == number)[-1]
            state = self._states[number]
            state.progress = int(marks[row, _PROGRESS])
            state.offset, state.taken = int(marks[row, _OFFSET]), int(marks[row, _PLACE]) + 1
        self._handed = waiting
        return waiting.columns

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
        marks = self._waiting.marks
        for number, state in enumerate(self._states):
            at = np.flatnonzero(marks[:, _LANE] == number)
            if len(at):
                offset, taken = marks[at[0], [_OFFSET, _PLACE]].tolist()
                found.append(LaneState(offset, taken, state.progress, state.seen))
            else:
                found.append(LaneState(self._next[number], 0, state.progress, state.seen))
        return found


@dataclass(slots=True, eq=False)
class _Waiting:
    """Elements that were read, with the message each is of; in each lane in order."""

    columns: Columns
    marks: Ids
    """For each element a row, as said above."""
    batches: list[Messages]

    @classmethod
    def none(cls) -> _Waiting:
        return cls(NOTHING, np.empty((0, 7), np.int64), [])

    @classmethod
    def of(cls, columns: Columns, messages: Messages, origin: Ids) -> _Waiting:
        marks = np.zeros((len(origin), 7), np.int64)
        marks[:, _LANE], marks[:, _OFFSET], marks[:, _OF_BATCH] = messages.lane[origin], messages.offset[origin], origin
        marks[:, _PLACE] = np.arange(len(origin)) - np.searchsorted(origin, origin)
        return cls(columns, marks, [messages])

    @classmethod
    def joined(cls, one: _Waiting, other: _Waiting) -> _Waiting:
        if not len(one):
            return other
        other.marks[:, _BATCH] += len(one.batches)
        marks = np.concatenate([one.marks, other.marks])
        return cls(joined([one.columns, other.columns]), marks, [*one.batches, *other.batches])

    def __len__(self) -> int:
        return len(self.marks)

    def pick(self, places: Ids) -> _Waiting:
        """Some of them."""
        if not len(places):
            return _Waiting.none()
        marks = self.marks[places]
        used, marks[:, _BATCH] = np.unique(marks[:, _BATCH], return_inverse=True)
        return _Waiting(self.columns.pick(places), marks, [self.batches[number] for number in used.tolist()])

    def hold(self, dictionary: Dictionary) -> None:
        """Keeps the terms of those that are new here."""
        dictionary.hold(self._of(0).terms)
        self.marks[:, _HELD] = 1

    def release(self, dictionary: Dictionary) -> None:
        """Lets go of the terms that were held."""
        dictionary.release(self._of(1).terms, _PAST)

    def _of(self, held: int) -> Columns:
        places = np.flatnonzero(self.marks[:, _HELD] == held)
        return self.columns if len(places) == len(self.marks) else self.columns.pick(places)

    def messages(self) -> list[Messages]:
        """The messages of what waits."""
        marks = self.marks
        return [
            messages.pick(np.unique(marks[marks[:, _BATCH] == number, _OF_BATCH]))
            for number, messages in enumerate(self.batches)
        ]
