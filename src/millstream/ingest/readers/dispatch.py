"""Which reader serves which format, element and time: one table for every engine and command.

| format               | element  | time             | reader                                                  |
|----------------------|----------|------------------|---------------------------------------------------------|
| N-Triples, N-Quads   | `line`   | a rate, arrival  | the scanner, a statement an element                     |
| N-Quads              | `graph`  | `prov`           | the scanner, then runs of graphs                        |
| an Arrow table       | its rows | `column`         | the scanner on its columns, if nothing is wrong with it |
| everything else, and message logs           ||| the format's parser, then groups of quads               |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from millstream.ingest.chunk import Chunk, Want
from millstream.ingest.parts import Part
from millstream.ingest.readers.elements import (
    Choice,
    announced,
    are_logged_graphs,
    choice_of,
    groups_of_events,
    groups_of_table,
)
from millstream.ingest.readers.gathering import read_changes_of, read_graph_statements, read_groups, read_quads_of
from millstream.ingest.readers.patching import read_patch
from millstream.ingest.readers.scanning import read_graphs, read_lines
from millstream.kernels.scanning.plain_updates import take_plain
from millstream.rdf import Format
from millstream.rdf.changes.changes import format_of_changes, updates_in
from millstream.rdf.inputs import ByteStream
from millstream.rdf.timing import TimeKind, Timing

ScanReader = Callable[[Part, ByteStream, Want], Iterator[Chunk]]


@dataclass(frozen=True, slots=True)
class _Scans:
    formats: tuple[Format, ...]
    element: str
    times: tuple[TimeKind, ...]
    reader: ScanReader


SCANNED = (
    _Scans((Format.N_TRIPLES, Format.N_QUADS), "line", (TimeKind.RATE, TimeKind.ARRIVAL), read_lines),
    _Scans((Format.N_QUADS,), "graph", (TimeKind.PROV,), read_graphs),
)


def scanned_by(part: Part, choice: Choice) -> ScanReader | None:
    """The reader on the scanner, where there is one."""
    for row in SCANNED:
        if part.format in row.formats and choice.element == row.element and choice.time.kind in row.times:
            return row.reader
    return None


def read_part(part: Part, want: Want, timings: Timings) -> Iterator[Chunk]:
    """The elements of a part, chunk by chunk; none at all, or one that is empty, if it has none."""
    if part.format.is_table:
        yield from _table(part, want, timings)
        return
    assert part.open is not None
    with part.open() as raw:
        stream = ByteStream(raw, part.rejections)
        messages = part.announces_messages(stream)
        if part.is_by_line and not messages:
            choice = choice_of(part, want.element, want.option)
            if (reader := scanned_by(part, choice)) is not None:
                yield from reader(part, stream, want)
                return
        found = announced(part.events(stream))
        if found is None:
            return
        events, messages = found
        choice = choice_of(part, want.element, want.option, messages=messages)
        if are_logged_graphs(part, choice, messages=messages):
            yield from read_graph_statements(part, events)
            return
        groups = groups_of_events(part, events, choice, messages=messages)
        yield from read_groups(part, groups, choice, timings(choice), graphs=want.graphs)


def read_quads(part: Part, want: Want) -> Iterator[Chunk]:
    """The quads of a part, whatever their times."""
    if part.format.is_table:
        yield from read_quads_of(part, part.quads())
        return
    assert part.open is not None
    with part.open() as raw:
        stream = ByteStream(raw, part.rejections)
        if part.is_by_line and not part.announces_messages(stream):
            yield from read_lines(part, stream, want)
        else:
            yield from read_quads_of(part, part.quads(stream))


def read_changes(part: Part, want: Want) -> Iterator[Chunk]:
    """The changes of graphs that a part has, with a time each if the option says where it comes from."""
    option = want.option
    if part.choice is not None and part.format.is_table:
        from millstream.ingest.readers.change_tables import read_change_table  # Arrow is 26 MB that only tables need.

        yield from read_change_table(part, want)
        return
    assert part.open is not None
    with part.open() as raw:
        stream = ByteStream(raw, part.rejections)
        format = format_of_changes(stream, want.format, part.name)
        if format == "rdfpatch":
            yield from read_patch(part, stream, want)
        elif format is not None:
            changes = updates_in(stream, part.base, part.rejections, part.scope, part.limits, take_plain)
            clock_ms = None if option is None or option.kind is not TimeKind.ARRIVAL else want.clock_ms
            yield from read_changes_of(part, changes, None if option is None else option.rate, clock_ms)


class Timings:
    """Who tells the times of a source's elements: one for each way, since files of a folder may differ in format."""

    def __init__(self, want: Want) -> None:
        self._want = want
        self._timings: dict[Choice, Timing] = {}

    def __call__(self, choice: Choice) -> Timing:
        if choice not in self._timings:
            self._timings[choice] = Timing(choice.time, self._want.clock_ms)
        return self._timings[choice]


def _table(part: Part, want: Want, timings: Timings) -> Iterator[Chunk]:
    # Arrow is 26 MB that only tables need.
    from millstream.ingest.readers.clean_tables import Attempt, clean_table, table_columns

    choice = choice_of(part, want.element, want.option)
    by_columns = choice.element == "rows" and choice.time.kind is TimeKind.COLUMN and not want.graphs
    clean = clean_table(part.table) if by_columns else None
    if clean is not None:
        reading = Attempt(partial(table_columns, clean, part))
        yield Chunk(reading.encode, is_single=len(clean.at_ms) == clean.rows)
        if not reading.is_malformed:
            return
    yield from read_groups(part, groups_of_table(part, choice), choice, timings(choice), graphs=want.graphs)
