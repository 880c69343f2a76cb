"""Readers on parsers: what no scanner reads becomes quads, gathered by elements and encoded many at a time.

Quads go through their text to the scanner kernel: for a chunk that costs less than encoding terms one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from pyoxigraph import Quad, Triple

from millstream.errors import DataError
from millstream.ingest.chunk import Chunk
from millstream.ingest.columns import Columns, repeats
from millstream.ingest.elements import Choice
from millstream.ingest.parts import Part
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scanner import Scanner
from millstream.kernels.scanner_summary import Summary
from millstream.rdf import Change, Rejections
from millstream.rdf.timing import Group, Timing

CHUNK_BYTES = 1 << 23
CHUNK_STATEMENTS = 50_000


class Entry(NamedTuple):
    """What is to be an element or a change: its statements, its time if it has one, and whether it comes or goes."""

    statements: Sequence[Quad | Triple]
    at_ms: int | None = None
    sign: int | None = None


def read_groups(part: Part, groups: Iterator[Group], choice: Choice, timing: Timing, *, graphs: bool) -> Iterator[Chunk]:
    """Groups as elements; `graphs` if it matters which graph a triple was in."""
    named = graphs and (part.format.has_graphs or part.format.is_table)
    return gathered(_timed(part, groups, choice, timing, named), part, rate=choice.time.rate, graphs=named)


def _timed(part: Part, groups: Iterator[Group], choice: Choice, timing: Timing, named: bool) -> Iterator[Entry]:
    for group in groups:
        if choice.time.rate is not None:
            yield Entry(_statements(group.quads, named))
        elif (found := timing.timed(group, part.rejections)) is not None:
            quads, at_ms = found
            yield Entry(_statements(quads, named), at_ms)


def _statements(quads: list[Quad], named: bool) -> Sequence[Quad | Triple]:
    """The triples of an element, each once, in the graph it first was in."""
    if named:
        return quads if len(quads) < 2 else tuple({quad.triple: quad for quad in reversed(quads)}.values())[::-1]
    return tuple(dict.fromkeys(quad.triple for quad in quads))


def read_quads_of(part: Part, quads: Iterator[Quad]) -> Iterator[Chunk]:
    """Quads of a part, each by itself and without a time."""
    return gathered((Entry((quad,)) for quad in quads), part, rate=None, graphs=True)


def read_changes_of(part: Part, changes: Iterator[Change], rate: Fraction | None) -> Iterator[Chunk]:
    """Changes of graphs, in order."""
    entries = (
        Entry(
            change.triples
            if change.graph is None
            else tuple(Quad(t.subject, t.predicate, t.object, change.graph) for t in change.triples),
            change.at_ms,
            1 if change.insert else -1,
        )
        for change in changes
    )
    return gathered(entries, part, rate=rate, graphs=True)


def gathered(entries: Iterator[Entry], part: Part, *, rate: Fraction | None, graphs: bool) -> Iterator[Chunk]:
    """Entries in chunks of some thousand; those that come by and by each as it comes.

    Should reading fail, what came before is a chunk as well.
    """
    waiting = _Waiting(part.rejections, rate, graphs)
    try:
        for entry in entries:
            waiting.add(entry)
            if waiting.is_full or not part.is_all_there:
                yield Chunk(waiting.encode)
                waiting = _Waiting(part.rejections, rate, graphs)
    except DataError:
        yield Chunk(waiting.encode)
        raise
    yield Chunk(waiting.encode)


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

    def encode(self, dictionary: Dictionary, summary: Summary | None) -> Columns:
        """All of them; blank nodes have their names already."""
        found = Scanner(dictionary, graphs=self._graphs, summary=summary).feed("".join(self._lines).encode(), True)
        for _, _, reason, text in found.errors:
            self._rejections.reject(reason, text=text)
        sizes = np.array([len(entry.statements) for entry in self._entries], np.int64)
        # Each statement is one line, so lines tell statements apart even where one was refused.
        element = np.repeat(np.arange(len(sizes)), sizes)[found.line - 1]
        triples, graph = np.column_stack([found.s, found.p, found.o]), found.g
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
            np.array(signs, np.int64) if len(signs) == len(sizes) else None,
            self._rate,
        )
