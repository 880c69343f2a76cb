"""Reading stream elements from anything: `read_elements`; or all quads, for datasets: `read_quads`.

What an element is and where its time comes from, unless the options `element` and `time` say otherwise:

| format                                | element                                        | time               |
|---------------------------------------|------------------------------------------------|--------------------|
| N-Quads, TriG                         | `graph`                                        | `prov`             |
| JSON-LD, JSON-LD lines                | `graph` (a document without graphs: itself)    | `prov`             |
| RDF Message Logs of any syntax        | `line`: a message                              | `prov`             |
| Parquet, Arrow, CSV, tables in memory | rows of equal column `element`, else a row     | `column`           |
| N-Triples, Turtle                     | `line`; `subject` if the data states the times | must be said       |
| RDF/XML                               | `subject`                                      | must be said       |
| an iterable of Turtle or RDF/XML      | `file`: a document                             | must be said       |

Under `element=graph`, `prov:generatedAtTime` of a graph stated in the default graph is metadata and no part of the
element; anything else in the default graph is set aside. See timing.py, grouping.py and graphs.py for the options.

Whatever is malformed goes to `on_rejected` and reading goes on; without a receiver, or with `strict`, the first such
thing raises DataError. Options that cannot be are OptionError, at the call where that can be known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from pyoxigraph import Quad

from millstream.errors import OptionError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf.element import OnRejected, StreamElement
from millstream.rdf.formats import Format
from millstream.rdf.graphs import MAX_WAITING, by_graph
from millstream.rdf.grouping import (
    by_document,
    by_file,
    by_graph_of_document,
    by_statement,
    by_subject,
    check_element_option,
)
from millstream.rdf.sources import Part, parts_of
from millstream.rdf.statements import Event, Mark
from millstream.rdf.tables import group_rows
from millstream.rdf.timing import CHOICES, Group, TimeKind, TimeOption, Timing, parse_time_option

_DOCUMENTS = (Format.JSON_LD, Format.JSON_LINES)


def read_elements(
    source: object,
    *,
    format: str | Format | None = None,
    time: str | None = None,
    element: str | None = None,
    base: str | None = None,
    on_rejected: OnRejected | None = None,
    strict: bool = False,
    clock_ms: Callable[[], int] | None = None,
    blank_prefix: str | None = None,
    max_waiting: int = MAX_WAITING,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[StreamElement]:
    """The stream elements of a source, in its order, read as they are asked for.

    A source is a path (file, folder or glob), bytes, a file object, an Arrow table or batch reader, or an iterable of
    lines (N-Triples, N-Quads, JSON-LD lines) or of documents (other formats). With a `blank_prefix` the blank nodes of
    a source get the same labels each time it is read; `max_waiting` bounds how many statements wait for a graph's time.
    """
    option = None if time is None else parse_time_option(time)
    check_element_option(element)
    if option is not None:
        Timing(option, clock_ms)
    receiver = None if strict else on_rejected
    parts = parts_of(source, format=format, base=base, receiver=receiver, blank_prefix=blank_prefix, limits=limits)
    return _Elements(option, element, clock_ms, max_waiting).read(parts)


def read_quads(
    source: object,
    *,
    format: str | Format | None = None,
    base: str | None = None,
    on_rejected: OnRejected | None = None,
    strict: bool = False,
    blank_prefix: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Quad]:
    """All quads of a source, whatever their times; the columns at_ms and element of tables are not looked at."""
    receiver = None if strict else on_rejected
    parts = parts_of(source, format=format, base=base, receiver=receiver, blank_prefix=blank_prefix, limits=limits)
    return (quad for part in parts for quad in part.quads())


class _Elements:
    def __init__(
        self,
        option: TimeOption | None,
        element: str | None,
        clock_ms: Callable[[], int] | None,
        max_waiting: int,
    ) -> None:
        self._option = option
        self._element = element
        self._clock_ms = clock_ms
        self._max_waiting = max_waiting
        # One for each way to tell times, since files of a folder may differ in format.
        self._timings: dict[TimeOption, Timing] = {}

    def read(self, parts: Iterable[Part]) -> Iterator[StreamElement]:
        for part in parts:
            if part.format.is_table:
                option = self._option or parse_time_option("column")
                groups = self._of_table(part, option)
            else:
                events = part.events()
                first = next(events, None)
                if first is None:
                    continue
                messages = first is Mark.MESSAGES
                option = self._time_of(part, messages)
                groups = self._of_events(part, chain((first,), events), option, messages)
            timing = self._timings.setdefault(option, Timing(option, self._clock_ms))
            for group in groups:
                found = timing.element(group, part.rejections)
                if found is not None:
                    yield found

    def _time_of(self, part: Part, messages: bool) -> TimeOption:
        option = self._option
        if option is None:
            if not (messages or part.format.has_graphs):
                raise OptionError(
                    f"{part.rejections.source}: {part.format.value} does not say when things happened; "
                    f"give the option time, one of {CHOICES}"
                )
            return parse_time_option("prov")
        if option.kind is TimeKind.COLUMN:
            raise OptionError(f"{part.rejections.source}: time 'column' is for tables, not for {part.format.value}")
        return option

    def _of_table(self, part: Part, option: TimeOption) -> Iterator[Group]:
        timed = option.kind is TimeKind.COLUMN
        rows = part.rows(timed=timed)
        if self._element in (None, "line"):
            return group_rows(rows, part.rejections, by_row=self._element == "line")
        raise OptionError(f"element {self._element!r} is not for tables: use the column element, or 'line'")

    def _of_events(self, part: Part, events: Iterator[Event], option: TimeOption, messages: bool) -> Iterator[Group]:
        documents = messages or part.format in _DOCUMENTS
        match self._element or _default_element(part, option, messages):
            case "line":
                return by_document(events) if documents else by_statement(events)
            case "subject":
                return by_subject(events)
            case "file":
                return by_file(events)
        if documents:
            return by_graph_of_document(events, part.rejections)
        if not part.format.has_graphs:
            raise OptionError(
                f"{part.rejections.source}: {part.format.value} has no graphs to be elements; "
                "use element 'line', 'subject' or 'file'"
            )
        timed = option.kind is TimeKind.PROV
        return by_graph(events, part.rejections, timed=timed, max_waiting=self._max_waiting)


def _default_element(part: Part, option: TimeOption, messages: bool) -> str:
    if messages:
        return "line"
    if part.format.has_graphs:
        return "graph"
    if part.is_document:
        return "file"
    if part.format is Format.RDF_XML or option.is_stated:
        return "subject"
    return "line"
