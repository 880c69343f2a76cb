"""Messages as elements: what a broker delivers, each a document with a time, whatever carried it.

| option    | values                                                                                                     |
|-----------|------------------------------------------------------------------------------------------------------------|
| `format`  | any RDF format that is text; without it each message says so in its header `content-type`                  |
| `element` | `message` (default): all of one; `graph`, `line`, `subject`: what each of those is in a document           |
| `time`    | `timestamp` (default): the message's own; `header:NAME`: milliseconds or a dateTime; `prov`, `predicate:..` |

N-Triples and N-Quads whose messages have their times go to the scanner, thousands at a time; everything else goes through
the format's parser, a message at a time. A message with a fault is set aside as a whole, since an element is atomic, unless
its lines, subjects or graphs are elements: then what is sound of it stays.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from pyoxigraph import Literal, Quad

from millstream.errors import DataError, OptionError
from millstream.ingest.columns import Columns, Ids
from millstream.ingest.parts import Part
from millstream.ingest.readers.gathering import Entry, encode_entries, statements_of
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.repeats import repeats
from millstream.kernels.scanning.message_scanner import MessageScanner, MessageTexts
from millstream.kernels.scanning.summary import Summary
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf import BlankScope, Format, OnRejected, Rejected, Rejections, parse_time_option
from millstream.rdf.element import bounded
from millstream.rdf.formats import FormatChoice, named_format
from millstream.rdf.grouping import by_graph_of_document, by_statement, by_subject
from millstream.rdf.inputs import ByteStream, memory
from millstream.rdf.statements import Event, Mark
from millstream.rdf.times import MAX_MS, OUT_OF_RANGE, integer_ms, time_ms
from millstream.rdf.timing import Group, TimeKind, TimeOption, Timing

ELEMENTS = ("message", "graph", "line", "subject")
TIMES = "timestamp, header:NAME, prov, predicate:<iri>"
CONTENT_TYPE = "content-type"
Headers = Sequence[tuple[str, bytes | None]]


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
        topic = hashlib.blake2b(self.topic.encode("utf-8", "replace"), digest_size=6).hexdigest()
        return f"k{self.prefix}{topic}p{self.partition}o{offset}x"


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


class MessageReader:
    """Messages to elements, by the options of one source."""

    def __init__(
        self,
        format: str | None = None,
        time: str | None = None,
        element: str | None = None,
        base: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
        *,
        graphs: bool = False,
    ) -> None:
        self._choice = None if format is None else message_format(format)
        self._option = message_time(time)
        if element is not None and element not in ELEMENTS:
            raise OptionError(f"element {element!r} is not for messages; it is one of {', '.join(ELEMENTS)}")
        self._element = element or "message"
        self._base = base
        self._limits = limits
        self._graphs = graphs
        self._timing = Timing(self._option)
        self._times = MessageTimes(self._option)
        self._scanner: MessageScanner | None = None
        self._dictionary: Dictionary | None = None

    @property
    def is_whole(self) -> bool:
        """Whether a message is one element."""
        return self._element == "message"

    def encode(
        self, messages: Messages, dictionary: Dictionary, summary: Summary | None, on_rejected: OnRejected | None
    ) -> tuple[Columns, Ids]:
        """The elements of messages, and for each the place of its message; without a receiver the first fault ends them."""
        faults = MessageFaults(messages, on_rejected)
        at_ms = self._times.of(messages, faults)
        choices = self._choices(messages, faults)
        found = None
        is_by_line = choices <= {FormatChoice(Format.N_TRIPLES)} or choices <= {FormatChoice(Format.N_QUADS)}
        if is_by_line and at_ms is not None and self._element in ("message", "line"):
            found = self._scan(messages, at_ms, choices, faults, dictionary, summary)
        columns, origin = found or self._parse(messages, at_ms, faults, dictionary, summary)
        return faults.cut(columns, origin)

    # In which format --------------------------------------------------------------------------------------------------

    def _choices(self, messages: Messages, faults: MessageFaults) -> set[FormatChoice]:
        if self._choice is not None:
            return {self._choice}
        return {
            choice
            for place in range(len(messages))
            if messages.values[place] is not None and (choice := self._choice_of(messages, place, faults)) is not None
        }

    def _choice_of(self, messages: Messages, place: int, faults: MessageFaults) -> FormatChoice | None:
        if self._choice is not None:
            return self._choice
        for name, value in messages.headers_of(place):
            if name.lower() == CONTENT_TYPE and value is not None:
                try:
                    return message_format(value.decode("utf-8", "replace"))
                except OptionError as error:
                    faults.refuse(place, f"its header {CONTENT_TYPE}: {error}")
                    return None
        faults.refuse(place, f"it has no header {CONTENT_TYPE}, and no option format was given")
        return None

    # The scanner ------------------------------------------------------------------------------------------------------

    def _scan(
        self,
        messages: Messages,
        at_ms: Ids,
        choices: set[FormatChoice],
        faults: MessageFaults,
        dictionary: Dictionary,
        summary: Summary | None,
    ) -> tuple[Columns, Ids] | None:
        """Messages by the scanner; None if one of them is more than lines of statements."""
        quads = FormatChoice(Format.N_QUADS) in choices
        scanner = self._scanner
        if scanner is None or scanner.graphs != quads or self._dictionary is not dictionary:
            scanner = self._scanner = MessageScanner(dictionary, graphs=quads, literal_bytes=self._limits.literal_bytes)
            self._dictionary = dictionary
        scanner.watch(None if faults.is_strict else summary)
        values = messages.values
        if faults.refused:
            values = [None if place in faults.refused else value for place, value in enumerate(values)]
        before, whole = scanner.statements, self.is_whole
        # The label behind the scope as the parsers name it: the same nodes whichever reader a message has.
        found, of_message, sizes, errors = scanner.messages(values, lambda place: messages.scope(place) + "l", whole)
        if any(b"VERSION" in (values[error[0]] or b"") for error in errors):
            return None
        for place, line, column, reason, text in errors:
            faults.report(place, reason, line=line, column=column, text=text, whole=whole)
        graph = found.g if self._graphs else None
        if not whole:
            origin = np.repeat(np.arange(len(messages)), sizes)
            return Columns(found.triples, found.index - before, len(origin), at_ms[origin], None, graph), origin
        triples, element = found.triples, of_message
        if int(sizes.max(initial=0)) > 1:
            repeat = repeats(element, triples)
            if repeat.any():
                sizes = sizes - np.bincount(element[repeat], minlength=len(sizes))
                triples, element = triples[~repeat], element[~repeat]
                graph = None if graph is None else graph[~repeat]
        columns = Columns(triples, element, len(messages), at_ms, None if (sizes == 1).all() else sizes, graph)
        if not faults.refused:
            return columns, np.arange(len(messages))
        kept = np.array([place for place in range(len(messages)) if place not in faults.refused], np.int64)
        return columns.pick(kept), kept

    # Parsers ----------------------------------------------------------------------------------------------------------

    def _parse(
        self, messages: Messages, at_ms: Ids | None, faults: MessageFaults, dictionary: Dictionary, summary: Summary | None
    ) -> tuple[Columns, Ids]:
        entries: list[Entry] = []
        origin: list[int] = []
        for place, value in enumerate(messages.values):
            if place in faults.refused:
                continue
            told = None if at_ms is None else int(at_ms[place])
            if value is None or not value.strip():
                # A sign of life, where its time is known.
                found = [Entry((), told)] if told is not None and self.is_whole else []
            else:
                found = list(self._entries(messages, place, value, told, faults))
            if place not in faults.refused:
                entries += found
                origin += [place] * len(found)
        rejections = Rejections("messages", faults.tell)
        columns = encode_entries(entries, rejections, dictionary, None if faults.is_strict else summary, graphs=self._graphs)
        return columns, np.array(origin, np.int64)

    def _entries(
        self, messages: Messages, place: int, value: bytes, at_ms: int | None, faults: MessageFaults
    ) -> Iterator[Entry]:
        choice = self._choice_of(messages, place, faults)
        if choice is None:
            return

        def reject(rejected: Rejected) -> None:
            line, column = rejected.line, rejected.column
            faults.report(place, rejected.reason, line=line, column=column, text=rejected.text, whole=self.is_whole)

        rejections = Rejections(messages.name(place), reject)
        part = Part(choice, rejections, BlankScope(messages.scope(place)), self._base, limits=self._limits)
        try:
            with memory(value) as raw:
                groups = list(self._groups(part.events(ByteStream(raw, rejections)), rejections))
        except DataError as error:
            reject(Rejected(error.source, error.line, error.column, error.reason, error.text))
            return
        for group in groups:
            if at_ms is not None:
                yield Entry(statements_of(group.quads, self._graphs), at_ms)
            elif (found := self._timing.timed(group, rejections)) is not None:
                yield Entry(statements_of(found[0], self._graphs), found[1])

    def _groups(self, events: Iterator[Event], rejections: Rejections) -> Iterator[Group]:
        match self._element:
            case "line":
                return by_statement(events)
            case "subject":
                return by_subject(events)
            case "graph":
                return by_graph_of_document(events, rejections)
        statements = [event for event in events if not isinstance(event, Mark)]
        quads: list[Quad] = [quad for statement in statements for quad in statement.quads]
        return iter((Group(quads, statements[0].line if statements else None),))


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


def message_format(name: str) -> FormatChoice:
    """The format of messages that a name or media type means."""
    choice = named_format(name)
    if choice.format.is_table:
        raise OptionError(f"format {choice.format.value!r} is not read from messages; send N-Triples, Turtle, JSON-LD, ...")
    return choice


def message_time(text: str | None) -> TimeOption:
    """Where the times of messages come from."""
    option = parse_time_option("timestamp" if text is None else text)
    if option.kind not in (TimeKind.TIMESTAMP, TimeKind.HEADER, TimeKind.PROV, TimeKind.PREDICATE):
        raise OptionError(f"time {text!r} is not for messages; it is one of {TIMES}")
    return option
