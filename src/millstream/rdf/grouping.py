"""What an element is: the option `element`, for everything but named graphs in a log that states their times.

| option    | an element is                                                                                            |
|-----------|----------------------------------------------------------------------------------------------------------|
| `graph`   | a named graph; in JSON-LD documents and messages without named graphs, the document                      |
| `line`    | a statement: a line, a Turtle sentence up to its `.`, a JSON-LD document, a message, a row of a table    |
| `subject` | consecutive statements with the same subject (and graph)                                                 |
| `file`    | all of a file or document                                                                                |
| `message` | all of a message of a broker; only its messages have it                                                  |
"""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import DefaultGraph, Quad

from millstream.errors import DataError, OptionError
from millstream.rdf.element import Rejections
from millstream.rdf.statements import Event, Mark
from millstream.rdf.times import time_ms
from millstream.rdf.timing import Group, is_graph_time

ELEMENTS = ("graph", "line", "subject", "file")
MESSAGE = "message"

OUTSIDE_GRAPHS = "a statement in the default graph belongs to no graph, and an element is a graph here"


def check_element_option(element: str | None) -> str | None:
    """The option as given, if it is one."""
    if element is not None and element not in (*ELEMENTS, MESSAGE):
        raise OptionError(f"element {element!r} is not known; it is one of {', '.join((*ELEMENTS, MESSAGE))}")
    return element


def by_statement(events: Iterator[Event]) -> Iterator[Group]:
    """Each statement a group."""
    for event in events:
        if not isinstance(event, Mark) and event.quads:
            yield Group(event.quads, event.line)


def by_document(events: Iterator[Event]) -> Iterator[Group]:
    """Each document or message a group, empty ones included."""
    quads: list[Quad] = []
    line: int | None = None
    for event in events:
        if event is Mark.END:
            yield Group(quads, line)
            quads, line = [], None
        elif not isinstance(event, Mark):
            line = event.line if line is None else line
            quads.extend(event.quads)
    if quads:
        yield Group(quads, line)


def by_file(events: Iterator[Event]) -> Iterator[Group]:
    """Everything one group."""
    statements = [event for event in events if not isinstance(event, Mark)]
    quads = [quad for statement in statements for quad in statement.quads]
    if quads:
        yield Group(quads, statements[0].line)


def by_subject(events: Iterator[Event]) -> Iterator[Group]:
    """Consecutive statements about one subject a group."""
    quads: list[Quad] = []
    line: int | None = None
    about: object = None
    for event in events:
        ends = isinstance(event, Mark)
        if not isinstance(event, Mark) and event.quads:
            subject = _subject_of(event.quads)
            if quads and subject == about:
                quads.extend(event.quads)
                continue
            ends = True
        if ends and quads:
            yield Group(quads, line)
            quads = []
        if not isinstance(event, Mark) and event.quads:
            quads, line, about = list(event.quads), event.line, _subject_of(event.quads)
    if quads:
        yield Group(quads, line)


def by_named_graph(events: Iterator[Event], rejections: Rejections) -> Iterator[Group]:
    """Each run of a named graph's quads a group; times that the default graph states are not asked for."""
    quads: list[Quad] = []
    line: int | None = None
    for event in events:
        if isinstance(event, Mark):
            continue
        for quad in event.quads:
            if isinstance(quad.graph_name, DefaultGraph):
                if not is_graph_time(quad):
                    rejections.reject(OUTSIDE_GRAPHS, line=event.line, column=1, text=f"{quad} .")
                continue
            if quads and quads[0].graph_name != quad.graph_name:
                yield Group(quads, line)
                quads = []
            line = line if quads else event.line
            quads.append(quad)
    if quads:
        yield Group(quads, line)


def by_graph_of_document(events: Iterator[Event], rejections: Rejections) -> Iterator[Group]:
    """The named graphs of each document as groups, or the document if it has none; a graph need not be contiguous."""
    for document in by_document(events):
        graphs: dict[object, list[Quad]] = {}
        outside: list[Quad] = []
        for quad in document.quads:
            if isinstance(quad.graph_name, DefaultGraph):
                outside.append(quad)
            else:
                graphs.setdefault(quad.graph_name, []).append(quad)
        if not graphs:
            yield document
            continue
        times: dict[object, int] = {}
        for quad in outside:
            if is_graph_time(quad) and quad.subject in graphs:
                try:
                    times.setdefault(quad.subject, time_ms(quad.object))
                except DataError as error:
                    rejections.reject(error.reason, line=document.line, text=f"{quad} .")
            else:
                rejections.reject(OUTSIDE_GRAPHS, line=document.line, text=f"{quad} .")
        for graph, quads in graphs.items():
            yield Group(quads, document.line, times.get(graph))


def _subject_of(quads: list[Quad]) -> tuple[object, object]:
    """What a statement is about: its first subject that is not nested in another."""
    if len(quads) == 1:
        return quads[0].subject, quads[0].graph_name
    nested = {quad.object for quad in quads}
    for quad in quads:
        if quad.subject not in nested:
            return quad.subject, quad.graph_name
    return quads[0].subject, quads[0].graph_name
