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

Whatever is malformed goes to its receiver and reading goes on; without one the first such thing raises DataError. Options
that cannot be are OptionError, at the call where that can be known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from millstream.errors import OptionError
from millstream.ingest.parts import Part
from millstream.rdf.formats import Format
from millstream.rdf.grouping import (
    MESSAGE,
    by_document,
    by_file,
    by_graph_of_document,
    by_named_graph,
    by_statement,
    by_subject,
)
from millstream.rdf.statements import Event, Mark
from millstream.rdf.timing import CHOICES, Group, TimeKind, TimeOption, parse_time_option

_DOCUMENTS = (Format.JSON_LD, Format.JSON_LINES)
_PROV, _COLUMN = parse_time_option("prov"), parse_time_option("column")


@dataclass(frozen=True, slots=True)
class Choice:
    """What an element of a part is, and where its time comes from."""

    element: str
    time: TimeOption


def choice_of(part: Part, element: str | None, time: TimeOption | None, *, messages: bool = False) -> Choice:
    """What the options say, or else the part's format; `messages` if it is a message log."""
    if element == MESSAGE or (time is not None and time.kind.is_of_messages):
        raise OptionError(
            f"{part.name}: element 'message' and the times 'timestamp' and 'header:NAME' are for messages of a broker"
        )
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


def are_logged_graphs(part: Part, choice: Choice, *, messages: bool) -> bool:
    """Whether elements are named graphs whose times the log around them states: those of
    `millstream.ingest.readers.graph_log`.
    """
    in_log = choice.element == "graph" and not messages and part.format not in _DOCUMENTS
    return in_log and choice.time.kind is TimeKind.PROV


def groups_of_events(part: Part, events: Iterator[Event], choice: Choice, *, messages: bool) -> Iterator[Group]:
    """The statements of a part as what is to become elements; all but graphs in a log that states their times."""
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
    return by_named_graph(events, part.rejections)


def groups_of_table(part: Part, choice: Choice) -> Iterator[Group]:
    """The rows of a table as what is to become elements."""
    rows = part.rows(timed=choice.time.kind is TimeKind.COLUMN)
    from millstream.rdf.readers.tables import group_rows

    return group_rows(rows, part.rejections, by_row=choice.element == "line")


def announced(events: Iterator[Event]) -> tuple[Iterator[Event], bool] | None:
    """The events of a part, and whether it is a message log; None if there are none."""
    first = next(events, None)
    return None if first is None else (chain((first,), events), first is Mark.MESSAGES)
