"""Readers on parsers: what no scanner reads becomes quads, gathered by elements and encoded many at a time.

Quads go through their text to the scanner kernel: for a chunk that costs less than encoding terms one by one.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from pyoxigraph import Quad, Triple

from millstream.errors import DataError
from millstream.ingest.chunk import Chunk
from millstream.ingest.columns import Columns, Ids
from millstream.ingest.parts import Part
from millstream.ingest.readers.elements import Choice
from millstream.ingest.readers.graph_log import GraphLog
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.repeats import repeats
from millstream.kernels.scanning.scanner import Scanned, Scanner
from millstream.kernels.scanning.summary import Summary
from millstream.rdf import Change, Rejections
from millstream.rdf.statements import Event, Mark, PlainChanges
from millstream.rdf.timing import Group, Timing, checked_clock, readings_of

CHUNK_BYTES = 1 << 23
CHUNK_STATEMENTS = 50_000


class Entry(NamedTuple):
    """What is to be an element or a change: its statements, its time if it has one, and whether it comes or goes.

    A statement may be as N-Quads have it, without the dot.
    """

    statements: Sequence[Quad | Triple | str]
    at_ms: int | None = None
    sign: int | None = None


class PlainEntries(NamedTuple):
    """Changes of one statement each, with their times."""

    changes: PlainChanges
    times: Sequence[int]
    """None, or one each."""


def read_groups(part: Part, groups: Iterator[Group], choice: Choice, timing: Timing, *, graphs: bool) -> Iterator[Chunk]:
    """Groups as elements; `graphs` if it matters which graph a triple was in."""
    named = graphs and (part.format.has_graphs or part.format.is_table)
    return gathered(_timed(part, groups, choice, timing, named), part, rate=choice.time.rate, graphs=named)


def _timed(part: Part, groups: Iterator[Group], choice: Choice, timing: Timing, named: bool) -> Iterator[Entry]:
    for group in groups:
        if choice.time.rate is not None:
            yield Entry(statements_of(group.quads, named))
        elif (found := timing.timed(group, part.rejections)) is not None:
            quads, at_ms = found
            yield Entry(statements_of(quads, named), at_ms)


def statements_of(quads: list[Quad], named: bool) -> Sequence[Quad | Triple]:
    """The triples of an element, each once, in the graph it first was in."""
    if named:
        return quads if len(quads) < 2 else tuple({quad.triple: quad for quad in reversed(quads)}.values())[::-1]
    return tuple(dict.fromkeys(quad.triple for quad in quads))


def read_graph_statements(part: Part, events: Iterator[Event]) -> Iterator[Chunk]:
    """Statements of a log whose named graphs are elements, as `GraphLog` has it."""
    log: list[GraphLog] = []
    entries = (Entry(event.quads, event.line or 0) for event in events if not isinstance(event, Mark))

    def log_of(dictionary: Dictionary) -> GraphLog:
        if not log:
            log.append(GraphLog(dictionary, part.rejections))
        return log[0]

    def encode(waiting: _Waiting, dictionary: Dictionary, summary: Summary | None) -> Columns:
        # Without the summary: only who sees every quad knows where a graph ends.
        found = waiting.scan(dictionary, None)
        return log_of(dictionary).take(replace(found, line=waiting.numbers()[found.line - 1]))

    for waiting in _portions(entries, part, None, graphs=True):
        yield Chunk(partial(encode, waiting))
    yield Chunk(lambda dictionary, summary: log_of(dictionary).finish())


def read_quads_of(part: Part, quads: Iterator[Quad]) -> Iterator[Chunk]:
    """Quads of a part, each by itself and without a time."""
    return gathered((Entry((quad,)) for quad in quads), part, rate=None, graphs=True)


def read_changes_of(
    part: Part, changes: Iterator[Change | PlainChanges], rate: Fraction | None, clock_ms: Callable[[], int] | None = None
) -> Iterator[Chunk]:
    """Changes of graphs, in order; a clock says when they arrive."""
    return gathered((_entry(change, clock_ms) for change in changes), part, rate=rate, graphs=True)


def _entry(change: Change | PlainChanges, clock_ms: Callable[[], int] | None) -> Entry | PlainEntries:
    if isinstance(change, PlainChanges):
        times = () if clock_ms is None else readings_of(clock_ms, len(change)).tolist()
        return PlainEntries(change, times)
    return Entry(
        change.triples if change.graph is None else tuple(f"{triple} {change.graph}" for triple in change.triples),
        change.at_ms if clock_ms is None else checked_clock(clock_ms),
        1 if change.insert else -1,
    )


def encode_entries(
    entries: Sequence[Entry | PlainEntries],
    rejections: Rejections,
    dictionary: Dictionary,
    summary: Summary | None,
    *,
    graphs: bool,
) -> Columns:
    """Entries that are all there, at once; `graphs` if it matters which graph a triple was in."""
    waiting = _Waiting(rejections, None, graphs)
    for entry in entries:
        waiting.add(entry)
    return waiting.encode(dictionary, summary)


def gathered(entries: Iterator[Entry | PlainEntries], part: Part, *, rate: Fraction | None, graphs: bool) -> Iterator[Chunk]:
    """Entries in chunks of some thousand; those that come by and by each as it comes.

    Should reading fail, what came before is a chunk as well.
    """
    return (Chunk(waiting.encode) for waiting in _portions(entries, part, rate, graphs=graphs))


def _portions(
    entries: Iterator[Entry | PlainEntries], part: Part, rate: Fraction | None, *, graphs: bool
) -> Iterator[_Waiting]:
    waiting = _Waiting(part.rejections, rate, graphs)
    try:
        for entry in entries:
            waiting.add(entry)
            if waiting.is_full or not part.is_all_there:
                yield waiting
                waiting = _Waiting(part.rejections, rate, graphs)
    except DataError:
        yield waiting
        raise
    yield waiting


class _Waiting:
    """Entries to be encoded together."""

    def __init__(self, rejections: Rejections, rate: Fraction | None, graphs: bool) -> None:
        self._rejections = rejections
        self._rate = rate
        self._graphs = graphs
        self._lines: list[bytes] = []
        self._size = 0
        self._statements = array("q")
        """How many each entry has."""
        self._times = array("q")
        self._signs = array("b")
        """Of those that have one."""

    @property
    def is_full(self) -> bool:
        return max(len(self._lines), len(self._statements)) >= CHUNK_STATEMENTS or self._size >= CHUNK_BYTES

    def add(self, entry: Entry | PlainEntries) -> None:
        if isinstance(entry, PlainEntries):
            lines = [entry.changes.lines]
            self._statements += array("q", (1,)) * len(entry.changes)
            self._times.extend(entry.times)
            self._signs.frombytes(entry.changes.signs)
        else:
            lines = [f"{statement} .\n".encode() for statement in entry.statements]
            self._statements.append(len(lines))
            if entry.at_ms is not None:
                self._times.append(entry.at_ms)
            if entry.sign is not None:
                self._signs.append(entry.sign)
        self._lines += lines
        self._size += sum(map(len, lines))

    def numbers(self) -> Ids:
        """What stands for the time of an entry, for each of its statements."""
        return np.repeat(np.array(self._times, np.int64), self._statements)

    def scan(self, dictionary: Dictionary, summary: Summary | None) -> Scanned:
        """All statements, a line each; blank nodes have their names already."""
        found = Scanner(dictionary, graphs=self._graphs, summary=summary).feed(b"".join(self._lines), True)
        for _, _, reason, text in found.errors:
            self._rejections.reject(reason, text=text)
        return found

    def encode(self, dictionary: Dictionary, summary: Summary | None) -> Columns:
        """All of them, each triple of an entry once."""
        found = self.scan(dictionary, summary)
        sizes = np.array(self._statements, np.int64)
        # Each statement is one line, so lines tell statements apart even where one was refused.
        element = np.repeat(np.arange(len(sizes)), sizes)[found.line - 1]
        triples, graph = found.triples, found.g
        # Terms that are spelt in two ways are one.
        if sizes.max(initial=0) > 1 and (repeat := repeats(element, triples)).any():
            sizes -= np.bincount(element[repeat], minlength=len(sizes))
            triples, element = triples[~repeat], element[~repeat]
            graph = None if graph is None else graph[~repeat]
        is_several = len(sizes) > 0 and bool((sizes != 1).any())
        are_timed, are_signed = (len(each) == len(sizes) for each in (self._times, self._signs))
        return Columns(
            triples,
            element,
            len(sizes),
            np.array(self._times, np.int64) if are_timed and self._rate is None else None,
            sizes if is_several else None,
            graph,
            np.array(self._signs, np.int64) if self._signs and are_signed else None,
            self._rate,
        )
