"""Messages as elements: what a broker delivers, each a document with a time, whatever carried it.

| option    | values                                                                                            |
|-----------|---------------------------------------------------------------------------------------------------|
| `format`  | any RDF format that is text; without it each message says so in its header `content-type`         |
| `element` | `message` (default): all of one; `graph`, `line`, `subject`: what each of those is in a document  |
| `time`    | see `messages`                                                                                    |

N-Triples and N-Quads whose messages have their times go to the scanner, thousands at a time; everything else goes through
the format's parser, a message at a time. A message with a fault is set aside as a whole, since an element is atomic, unless
its lines, subjects or graphs are elements: then what is sound of it stays.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pyoxigraph import Quad

from millstream.errors import DataError, OptionError
from millstream.ingest.columns import Columns, Ids
from millstream.ingest.messages import CONTENT_TYPE, MessageFaults, Messages, MessageTimes, message_time
from millstream.ingest.parts import Part
from millstream.ingest.readers.gathering import Entry, encode_entries, statements_of
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.repeats import repeats
from millstream.kernels.scanning.message_scanner import MessageScanner
from millstream.kernels.scanning.summary import Summary
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf import BlankScope, Format, OnRejected, Rejected, Rejections
from millstream.rdf.formats import FormatChoice, named_format
from millstream.rdf.grouping import by_graph_of_document, by_statement, by_subject
from millstream.rdf.inputs import ByteStream, memory
from millstream.rdf.statements import Event, Mark
from millstream.rdf.timing import Group, Timing

ELEMENTS = ("message", "graph", "line", "subject")


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
        said = messages.content_type(place)
        if said is None:
            faults.refuse(place, f"it has no header {CONTENT_TYPE}, and no option format was given")
            return None
        try:
            return message_format(said)
        except OptionError as error:
            faults.refuse(place, f"its header {CONTENT_TYPE}: {error}")
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
        found, sizes, errors = scanner.messages(values, lambda place: messages.scope(place) + "l", whole)
        if any(b"VERSION" in (values[error[0]] or b"") for error in errors):
            return None
        for place, line, column, reason, text in errors:
            faults.report(place, reason, line=line, column=column, text=text, whole=whole)
        graph = found.g if self._graphs else None
        origin = np.repeat(np.arange(len(messages)), sizes)
        if not whole:
            return Columns(found.triples, found.index - before, len(origin), at_ms[origin], None, graph), origin
        triples, element = found.triples, origin[found.index - before]
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


def message_format(name: str) -> FormatChoice:
    """The format of messages that a name or media type means."""
    choice = named_format(name)
    if choice.format.is_table:
        raise OptionError(f"format {choice.format.value!r} is not read from messages; send N-Triples, Turtle, JSON-LD, ...")
    return choice
