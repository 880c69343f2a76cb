"""Readers on parsers: what no scanner reads becomes quads, gathered by elements and encoded many at a time.

Quads go through their text to the scanner kernel: for a chunk that costs less than encoding terms one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from millstream.rdf.statements import Event, Mark
from millstream.rdf.timing import Group, Timing

CHUNK_BYTES = 1 << 23
CHUNK_STATEMENTS = 50_000


class Entry(NamedTuple):
    """What is to be an element or a change: its statements, its time if it has one, and whether it comes or goes.

    A statement may be as N-Quads have it, without the dot.
    """

    statements: Sequence[Quad | Triple | str]
    at_ms: int | None = None
    sign: int | None = None


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


def read_changes_of(part: Part, changes: Iterator[Change], rate: Fraction | None) -> Iterator[Chunk]:
    """Changes of graphs, in order."""
    entries = (
        Entry(
            change.triples if change.graph is None else tuple(f"{triple} {change.graph}" for triple in change.triples),
            change.at_ms,
            1 if change.insert else -1,
        )
        for change in changes
    )
    return gathered(entries, part, rate=rate, graphs=True)


def encode_entries(
    entries: Sequence[Entry], rejections: Rejections, dictionary: Dictionary, summary: Summary | None, *, graphs: bool
) -> Columns:
    """Entries that are all there, at once; `graphs` if it matters which graph a triple was in."""
    waiting = _Waiting(rejections, None, graphs)
    for entry in entries:
        waiting.add(entry)
    return waiting.encode(dictionary, summary)


def gathered(entries: Iterator[Entry], part: Part, *, rate: Fraction | None, graphs: bool) -> Iterator[Chunk]:
    """Entries in chunks of some thousand; those that come by and by each as it comes.

    Should reading fail, what came before is a chunk as well.
    """
    return (Chunk(waiting.encode) for waiting in _portions(entries, part, rate, graphs=graphs))


def _portions(entries: Iterator[Entry], part: Part, rate: Fraction | None, *, graphs: bool) -> Iterator[_Waiting]:
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
        self._entries: list[Entry] = []
        self._lines: list[str] = []
        self._size = 0

    @property
    def is_full(self) -> bool:
        return max(len(self._lines), len(self._entries)) >= CHUNK_STATEMENTS or self._size >= CHUNK_BYTES

    def add(self, entry: Entry) -> None:
        lines = [f"{statement} .\n" for statement in entry.statements]
        self._lines += lines
        self._size += sum(map(len, lines))
        self._entries.append(entry)

    def numbers(self) -> Ids:
        """What stands for the time of an entry, for each of its statements."""
        sizes = [len(entry.statements) for entry in self._entries]
        return np.repeat(np.array([entry.at_ms for entry in self._entries], np.int64), sizes)

    def scan(self, dictionary: Dictionary, summary: Summary | None) -> Scanned:
        """All statements, a line each; blank nodes have their names already."""
        found = Scanner(dictionary, graphs=self._graphs, summary=summary).feed("".join(self._lines).encode(), True)
        for _, _, reason, text in found.errors:
            self._rejections.reject(reason, text=text)
        return found

    def encode(self, dictionary: Dictionary, summary: Summary | None) -> Columns:
        """All of them, each triple of an entry once."""
        found = self.scan(dictionary, summary)
        sizes = np.array([len(entry.statements) for entry in self._entries], np.int64)
        # Each statement is one line, so lines tell statements apart even where one was refused.
        element = np.repeat(np.arange(len(sizes)), sizes)[found.line - 1]
        triples, graph = found.triples, found.g
        # Terms that are spelt in two ways are one.
        repeat = repeats(element, triples) if sizes.max(initial=0) > 1 else np.zeros(len(element), np.bool_)
        if repeat.any():
            sizes -= np.bincount(element[repeat], minlength=len(sizes))
            triples, element = triples[~repeat], element[~repeat]
            graph = None if graph is None else graph[~repeat]
        times = [entry.at_ms for entry in self._entries if entry.at_ms is not None]
        signs = [entry.sign for entry in self._entries if entry.sign is not None]
        return Columns(
            triples,
            element,
            len(sizes),
            np.array(times, np.int64) if len(times) == len(sizes) and self._rate is None else None,
            sizes,
            graph,
            np.array(signs, np.int64) if signs and len(signs) == len(sizes) else None,
            self._rate,
        )
