"""Sources as objects of pyoxigraph, one by one: slow and obvious, what chunks of the same source must hold.

`read_elements` gives stream elements, `read_quads` all quads, `read_changes` changes of graphs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from pyoxigraph import Quad

from millstream.errors import DataError, OptionError
from millstream.ingest.parts import Part, parts_of
from millstream.ingest.readers.elements import (
    Choice,
    announced,
    are_logged_graphs,
    choice_of,
    groups_of_events,
    groups_of_table,
)
from millstream.ingest.readers.graph_log import MAX_WAITING
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf import BlankScope, Change, Format, OnRejected, Rejections, StreamElement, parse_time_option
from millstream.rdf.changes.changes import check_change_options, format_of_changes, updates_in
from millstream.rdf.changes.patches import Patch, Transaction, not_committed
from millstream.rdf.element import without_repeats
from millstream.rdf.grouping import check_element_option
from millstream.rdf.inputs import ByteStream, files_of, is_readable, memory, name_of, open_file
from millstream.rdf.readers.documents import text_lines
from millstream.rdf.times import MAX_MS, OUT_OF_RANGE
from millstream.rdf.timing import Group, TimeOption, Timing
from tests.named_graphs import by_graph


class Times(Timing):
    """Times at a rate as well, one by one; it counts through all files of a source."""

    count = 0

    def element(self, group: Group, rejections: Rejections) -> StreamElement | None:
        """The element that a group is, or nothing if it has no time."""
        rate = self.option.rate
        if rate is None:
            found = self.timed(group, rejections)
        else:
            at_ms = self.count * 1000 * rate.denominator // rate.numerator
            if at_ms > MAX_MS:
                text = f"{group.quads[0]} ." if group.quads else ""
                rejections.reject(f"at this rate its time is too large: {OUT_OF_RANGE}", line=group.line, text=text)
                return None
            self.count += 1
            found = group.quads, at_ms
        return None if found is None else StreamElement(without_repeats(quad.triple for quad in found[0]), found[1])


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
    timings: dict[TimeOption, Times] = {}
    for part in parts:
        for group, choice in _groups(part, element, option, max_waiting):
            timing = timings.setdefault(choice.time, Times(choice.time, clock_ms))
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
        if are_logged_graphs(part, choice, messages=messages):
            groups = by_graph(events, part.rejections, timed=True, max_waiting=max_waiting)
        else:
            groups = groups_of_events(part, events, choice, messages=messages)
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


def read_changes(
    source: object,
    *,
    format: str | None = None,
    time: str | None = None,
    base: str | None = None,
    on_rejected: OnRejected | None = None,
    strict: bool = False,
    clock_ms: Callable[[], int] | None = None,
    blank_prefix: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Change]:
    """The changes of a path (file, folder or glob), bytes or file object, as objects; malformed ones are set aside."""
    check_change_options(format, time)
    timing = None if time is None else Times(parse_time_option(time), clock_ms)
    receiver = None if strict else on_rejected
    changes = _of_source(source, format, base, receiver, BlankScope(blank_prefix), limits)
    return changes if timing is None else _timed(changes, timing)


def _timed(changes: Iterator[Change], timing: Times) -> Iterator[Change]:
    for change in changes:
        element = timing.element(Group([], change.line), Rejections(""))
        assert element is not None  # rates and clocks always have a time
        yield replace(change, at_ms=element.at_ms)


def _changes_in(
    raw: Any, format: str | None, base: str | None, rejections: Rejections, scope: BlankScope, limits: Limits
) -> Iterator[Change]:
    """The changes of one file."""
    stream = ByteStream(raw, rejections)
    match format_of_changes(stream, format, rejections.source):
        case "rdfpatch":
            yield from _read_patch(stream, scope, rejections, base, limits)
        case "sparql":
            for change in updates_in(stream, base, rejections, scope, limits):
                assert isinstance(change, Change)
                yield change


def _read_patch(
    stream: ByteStream, scope: BlankScope, rejections: Rejections, base: str | None, limits: Limits
) -> Iterator[Change]:
    """An RDF Patch line by line, none of which the scanner has seen."""
    patch = Patch(scope, base=base, limits=limits)
    waiting: list[Change] = []
    for number, line in text_lines(stream, limits, rejections):
        try:
            said = patch.take(number, line)
        except DataError as error:
            rejections.reject(error.reason, line=number, column=1, text=line)
            continue
        if isinstance(said, Change):
            waiting.append(said)
        if said is Transaction.ABORT:
            waiting = []
        if patch.began is None:
            yield from waiting
            waiting = []
    if patch.began is not None:
        rejections.reject(not_committed(len(waiting)), line=patch.began, column=1, text="TX .")


def _of_source(
    source: object, format: str | None, base: str | None, receiver: OnRejected | None, scope: BlankScope, limits: Limits
) -> Iterator[Change]:
    if isinstance(source, str | os.PathLike):
        for file in files_of(source, any_ending=True, receiver=receiver):
            with open_file(file.path) as opened:
                yield from _changes_in(opened, format, base, Rejections(file.name, receiver), scope.next_document(), limits)
        return
    raw: Any = memory(source) if isinstance(source, bytes | bytearray | memoryview) else source
    if not is_readable(raw):
        raise OptionError(f"cannot read changes from a {type(source).__name__}")
    yield from _changes_in(raw, format, base, Rejections(name_of(source), receiver), scope, limits)
