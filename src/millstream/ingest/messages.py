"""Messages of brokers: what one is, when it happened, and what is set aside of it.

| option | values                                                                                                     |
|--------|------------------------------------------------------------------------------------------------------------|
| `time` | `timestamp` (default): the message's own; `header:NAME`: milliseconds or a dateTime; `prov`, `predicate:..` |

`message_reader` makes elements of them, `change_messages` changes of graphs. A message with a fault is set aside as a whole,
unless its reader says otherwise; where nobody takes what is set aside, the messages before the first fault still count.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from pyoxigraph import Literal

from millstream.errors import DataError, OptionError
from millstream.ingest.columns import Columns, Ids
from millstream.kernels.scanning.message_scanner import MessageTexts
from millstream.rdf import OnRejected, Rejected, parse_time_option
from millstream.rdf.element import bounded
from millstream.rdf.times import MAX_MS, OUT_OF_RANGE, integer_ms, time_ms
from millstream.rdf.timing import TimeKind, TimeOption

TIMES = "timestamp, header:NAME, prov, predicate:<iri>"
CONTENT_TYPE = "content-type"
Headers = Sequence[tuple[str, bytes | None]]


@cache
def _digest(topic: str) -> str:
    from hashlib import blake2b  # OpenSSL with it, which who reads no messages has no use for

    return blake2b(topic.encode("utf-8", "replace"), digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A message as it was, for whoever gets what was set aside."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        headers = [[name, to_base64(value)] for name, value in self.headers]
        return {**asdict(self), "key": to_base64(self.key), "value": to_base64(self.value), "headers": headers}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> RawMessage:
        """From what `to_json` gave."""
        headers = [(name, from_base64(value)) for name, value in state["headers"]]
        return cls(**{**state, "key": from_base64(state["key"]), "value": from_base64(state["value"]), "headers": headers})


@dataclass(frozen=True, slots=True)
class RejectedMessage(Rejected):
    """What was set aside of a message, with the message."""

    message: RawMessage


@dataclass(frozen=True, slots=True)
class Lane:
    """An ordered part of a source, a partition say: where its messages come from."""

    topic: str
    partition: int
    prefix: str = ""
    """Keeps its blank nodes apart from those of another source."""

    def name(self, offset: int) -> str:
        """What a message is called where something is wrong with it."""
        return f"{self.topic}/{self.partition} at offset {offset}"

    def scope(self, offset: int) -> str:
        """What names a message's blank nodes: the same whenever it is read, and no other message's."""
        return f"k{self.prefix}{_digest(self.topic)}p{self.partition}o{offset}x"


@dataclass(slots=True, eq=False)
class Messages:
    """Messages that came together, as columns."""

    lanes: Sequence[Lane]
    lane: Ids
    """For each message the number of its lane."""
    offset: Ids
    values: Sequence[bytes | None]
    at_ms: Ids
    """Their timestamps; -1 for those that have none."""
    key_of: Callable[[int], bytes | None]
    headers_of: Callable[[int], Headers]

    def __len__(self) -> int:
        return len(self.values)

    def raw(self, place: int) -> RawMessage:
        lane = self._lane(place)
        headers = self.headers_of(place)
        return RawMessage(
            lane.topic, lane.partition, int(self.offset[place]), self.key_of(place), self.values[place], headers
        )

    def name(self, place: int) -> str:
        return self._lane(place).name(int(self.offset[place]))

    def scope(self, place: int) -> str:
        return self._lane(place).scope(int(self.offset[place]))

    def content_type(self, place: int) -> str | None:
        """What a message says of its format."""
        found = (value for name, value in self.headers_of(place) if name.lower() == CONTENT_TYPE and value is not None)
        value = next(found, None)
        return None if value is None else value.decode("utf-8", "replace")

    def _lane(self, place: int) -> Lane:
        return self.lanes[int(self.lane[place])]

    def pick(self, places: Ids) -> Messages:
        """Some of them."""
        numbers = places.tolist()
        key_of, headers_of = self.key_of, self.headers_of
        return Messages(
            self.lanes,
            self.lane[places],
            self.offset[places],
            [self.values[i] for i in numbers],
            self.at_ms[places],
            lambda place: key_of(numbers[place]),
            lambda place: headers_of(numbers[place]),
        )


def texts_of(column: Any) -> MessageTexts:
    """An Arrow column of large binary as texts, where it is."""
    _, offsets, data = column.buffers()
    places = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    valid = column.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8)
    return MessageTexts(np.frombuffer(data or b"", np.uint8), places, valid)


def message_time(text: str | None) -> TimeOption:
    """Where the times of messages come from."""
    option = parse_time_option("timestamp" if text is None else text)
    if option.kind not in (TimeKind.TIMESTAMP, TimeKind.HEADER, TimeKind.PROV, TimeKind.PREDICATE):
        raise OptionError(f"time {text!r} is not for messages; it is one of {TIMES}")
    return option


class MessageTimes:
    """When messages happened, by what is said besides their values."""

    def __init__(self, option: TimeOption) -> None:
        self._option = option

    def of(self, messages: Messages, faults: MessageFaults) -> Ids | None:
        """The times of messages; None if only their values tell them."""
        if self._option.kind is TimeKind.HEADER:
            return np.array([self._header_time(messages, place, faults) for place in range(len(messages))], np.int64)
        if self._option.kind is not TimeKind.TIMESTAMP:
            return None
        at_ms = messages.at_ms
        for place in np.flatnonzero((at_ms < 0) | (at_ms > MAX_MS)).tolist():
            no_time = "it has no timestamp" if at_ms[place] < 0 else f"its timestamp is {at_ms[place]}: {OUT_OF_RANGE}"
            faults.refuse(place, no_time)
        return at_ms

    def _header_time(self, messages: Messages, place: int, faults: MessageFaults) -> int:
        name = self._option.header
        value = next((value for key, value in messages.headers_of(place) if key == name), None)
        if value is None:
            faults.refuse(place, f"it has no header {name}, which is to say when it happened")
            return 0
        text = value.decode("utf-8", "replace").strip()
        try:
            return integer_ms(text) if text.lstrip("+-").isdigit() else time_ms(Literal(text))
        except DataError as error:
            faults.refuse(place, f"its header {name} is no time: {error.reason}", text=value)
            return 0


class MessageFaults:
    """What is set aside of a batch of messages; where that is strict, what comes before the first fault stays."""

    def __init__(self, messages: Messages, on_rejected: OnRejected | None) -> None:
        self._messages = messages
        self._receiver = on_rejected
        self.is_strict = on_rejected is None
        self.refused: set[int] = set()
        self._first: tuple[int, Rejected] | None = None

    def refuse(self, place: int, reason: str, *, text: str | bytes = "") -> None:
        """Sets a whole message aside."""
        self.report(place, reason, text=text or self._messages.values[place] or b"", whole=True)

    def report(
        self,
        place: int,
        reason: str,
        *,
        line: int | None = None,
        column: int | None = None,
        text: str | bytes = "",
        whole: bool,
    ) -> None:
        """Sets aside what stands at a place of a message; of one that is refused as a whole only the first is told."""
        if place in self.refused:
            return
        if whole:
            self.refused.add(place)
        messages = self._messages
        rejected = RejectedMessage(messages.name(place), line, column, reason, bounded(text), messages.raw(place))
        if self._receiver is not None:
            self._receiver(rejected)
        elif self._first is None or place < self._first[0]:
            self._first = (place, rejected)

    def tell(self, rejected: Rejected) -> None:
        """What only the scanner of parsed statements found."""
        if self._receiver is None:
            raise rejected.as_error()
        self._receiver(rejected)

    def cut(self, columns: Columns, origin: Ids) -> tuple[Columns, Ids]:
        """The elements before the first fault, where that ends the reading."""
        if self._first is None:
            return columns, origin
        place, rejected = self._first
        count = int(np.searchsorted(origin, place))
        return replace(columns.slice(0, count), fault=rejected.as_error()), origin[:count]


def to_base64(data: bytes | None) -> str | None:
    """Bytes as text, for JSON."""
    return None if data is None else base64.b64encode(data).decode()


def from_base64(text: str | None) -> bytes | None:
    """The bytes of such a text."""
    return None if text is None else base64.b64decode(text)
