"""What an element is and when it happened, for everything that parsers read: groups of quads with a time.

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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from pyoxigraph import Quad

from millstream.errors import OptionError
from millstream.ingest.parts import Part, parts_of
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
from millstream.rdf.inputs import ByteStream
from millstream.rdf.statements import Event, Mark
from millstream.rdf.tables import group_rows
from millstream.rdf.timing import CHOICES, Group, TimeKind, TimeOption, Timing, parse_time_option

_DOCUMENTS = (Format.JSON_LD, Format.JSON_LINES)
_PROV, _COLUMN = parse_time_option("prov"), parse_time_option("column")


@dataclass(frozen=True, slots=True)
class Choice:
    """What an element of a part is, and where its time comes from."""

    element: str
    time: TimeOption


def choice_of(part: Part, element: str | None, time: TimeOption | None, *, messages: bool = False) -> Choice:
    """What the options say, or else the part's format; `messages` if it is a message log."""
    if part.format.is_table:
        if element not in (None, "line"):
            raise OptionError(f"element {element!r} is not for tables: use the column element, or 'line'")
        return Choice(element or "rows", time or _COLUMN)
    if time is None:
        if not (messages or part.format.has_graphs):
            raise OptionError(
                f"{part.name}: {part.format.value} does not say when things happened; give the option time, one of {CHOICES}"
            )
        time = _PROV
    if time.kind is TimeKind.COLUMN:
        raise OptionError(f"{part.name}: time 'column' is for tables, not for {part.format.value}")
    chosen = element or _default_element(part, time, messages=messages)
    if chosen == "graph" and not (messages or part.format.has_graphs):
        raise OptionError(
            f"{part.name}: {part.format.value} has no graphs to be elements; use element 'line', 'subject' or 'file'"
        )
    return Choice(chosen, time)


def _default_element(part: Part, time: TimeOption, *, messages: bool) -> str:
    if messages:
        return "line"
    if part.format.has_graphs:
        return "graph"
    if part.is_document:
        return "file"
    if part.format is Format.RDF_XML or time.is_stated:
        return "subject"
    return "line"


def groups_of_events(
    part: Part, events: Iterator[Event], choice: Choice, *, messages: bool, max_waiting: int = MAX_WAITING
) -> Iterator[Group]:
    """The statements of a part as what is to become elements."""
    documents = messages or part.format in _DOCUMENTS
    match choice.element:
        case "line":
            return by_document(events) if documents else by_statement(events)
        case "subject":
            return by_subject(events)
        case "file":
            return by_file(events)
    if documents:
        return by_graph_of_document(events, part.rejections)
    return by_graph(events, part.rejections, timed=choice.time.kind is TimeKind.PROV, max_waiting=max_waiting)


def groups_of_table(part: Part, choice: Choice) -> Iterator[Group]:
    """The rows of a table as what is to become elements."""
    rows = part.rows(timed=choice.time.kind is TimeKind.COLUMN)
    return group_rows(rows, part.rejections, by_row=choice.element == "line")


def announced(events: Iterator[Event]) -> tuple[Iterator[Event], bool] | None:
    """The events of a part, and whether it is a message log; None if there are none."""
    first = next(events, None)
    return None if first is None else (chain((first,), events), first is Mark.MESSAGES)


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
    """The stream elements of a source as objects, one by one: what chunks of it hold, by the definition.

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
    return _elements(parts, element, option, clock_ms, max_waiting)


def _elements(
    parts: Iterator[Part],
    element: str | None,
    option: TimeOption | None,
    clock_ms: Callable[[], int] | None,
    max_waiting: int,
) -> Iterator[StreamElement]:
    # One for each way to tell times, since files of a folder may differ in format.
    timings: dict[TimeOption, Timing] = {}
    for part in parts:
        for group, choice in _groups(part, element, option, max_waiting):
            timing = timings.setdefault(choice.time, Timing(choice.time, clock_ms))
            found = timing.element(group, part.rejections)
            if found is not None:
                yield found


def _groups(part: Part, element: str | None, option: TimeOption | None, max_waiting: int) -> Iterator[tuple[Group, Choice]]:
    if part.format.is_table:
        choice = choice_of(part, element, option)
        yield from ((group, choice) for group in groups_of_table(part, choice))
        return
    assert part.open is not None
    with part.open() as raw:
        found = announced(part.events(ByteStream(raw, part.rejections)))
        if found is None:
            return
        events, messages = found
        choice = choice_of(part, element, option, messages=messages)
        groups = groups_of_events(part, events, choice, messages=messages, max_waiting=max_waiting)
        yield from ((group, choice) for group in groups)


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
    """All quads of a source as objects, whatever their times; the columns at_ms and element of tables are not looked at."""
    receiver = None if strict else on_rejected
    parts = parts_of(source, format=format, base=base, receiver=receiver, blank_prefix=blank_prefix, limits=limits)
    return (quad for part in parts for quad in part.quads())
