"""Chunks of a source to blobs for cells: matched against the query's patterns where they are read, spread, spelled out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.ingest.columns import times_at_rate
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.pipeline.exchange.blobs import TERMS, Header, graph_term, headers_to_bytes, term_column, write_blob
from millstream.pipeline.exchange.cell_keys import keys_of
from millstream.pipeline.exchange.routing import Routed, Router
from millstream.pipeline.job.specification import JobSpec, StreamedSource
from millstream.pipeline.source.reading import Reading
from millstream.pipeline.source.splits import Split

Ids = npt.NDArray[np.int64]

MOST_LEAST = 1024
MOST_ROWS = 1 << 19
MOST_BYTES = 1 << 26
_LAST = (1 << 31) - 1
BEGINS = 0
"""Instead of whether a triple comes or goes: the row has a key as its subject, which states anew what follows."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    header: Header
    triples: Ids
    times: dict[str, Ids]
    """Of each triple when it happened, and whatever else travels with it."""


class Packer:
    """Packs what one task reads of a source: chunks are added, and taken as one blob for every cell."""

    def __init__(self, spec: JobSpec, source: int) -> None:
        self._spec = spec
        self._source = source
        self.dictionary = Dictionary()
        self.dictionary.forget_before(1)
        self._router = Router(spec, self.dictionary)
        described = spec.sources[source]
        fed = [StreamedSource(graph, changes=True) for graph in spec.graphs] if described.changes else [described]
        self._matchers = [self._router.matchers(each) for each in fed]
        constants = [c for each in fed for c in self._router.constants(each)]
        self.summary = None if spec.cells.whole else Summary(constants)
        self._keys = keys_of(spec.cells.count)
        self._first = self._before = 0
        self._rate = spec.sources[source].fraction
        self.forget()

    def forget(self) -> Packer:
        """Drops what was added, as when a task failed."""
        self._chunks: list[_Chunk] = []
        return self

    def begin(self, before: int = 0) -> Packer:
        """For the next part; `before`: how many elements came before it, where somebody counted them."""
        self._first = 0
        self._before = before
        return self

    def add(self, part: int, chunk: int, reading: Reading, op: Ids | None = None) -> None:
        """A chunk of a part.

        Of changes of graphs, the graph in the columns is its place among those that the query reads; `op` is for each triple
        whether it comes (1) or goes (-1), if triples of one change differ in that, or BEGINS.
        """
        found = reading.columns
        element, at_ms = found.element, found.at_ms
        number = element + self._first
        times = {"element": number}
        largest: int | None = None
        least: tuple[int, ...] = ()
        least_element: tuple[int, ...] = ()
        if at_ms is None:
            # The number of an element is its time, which cells tell, unless there are none.
            if self._spec.cells.stateless and self._rate is not None:
                times["at"] = times_at_rate(number + self._before, self._rate)
        elif len(at_ms):
            seen = np.maximum.accumulate(at_ms)
            largest = int(seen[-1])
            in_order = bool((seen == at_ms).all())
            timely = np.arange(len(at_ms)) if in_order else np.flatnonzero(at_ms >= seen - self._spec.lateness_ms)
            times_of, first = _distinct(at_ms[timely], in_order)
            least = tuple(times_of[:MOST_LEAST].tolist())
            least_element = tuple((timely[first[:MOST_LEAST]] + self._first).tolist())
            times["at"] = at_ms[element]
            if not in_order:
                times["seen"] = seen[element]
        else:
            times["at"] = element
        if op is None and found.sign is not None:
            op = found.sign[element]
        if op is not None and found.graph is not None:
            times["op"], times["graph"] = op, found.graph
        told = Header(self._source, part, chunk, self._first, found.elements, largest, least, least_element)
        header = replace(told, triples=found.statements, set_aside=reading.rejected)
        self._first += found.elements
        self._chunks.append(_Chunk(header, found.triples, times))

    @property
    def is_full(self) -> bool:
        """Whether what was added is enough for a blob."""
        rows = sum(len(chunk.triples) for chunk in self._chunks)
        return rows >= MOST_ROWS or self.dictionary.stats()["bytes"] >= MOST_BYTES

    def take(self) -> Iterator[tuple[int, bytes]]:
        """A blob of what was added for every cell, each with the cell's key; none if nothing was."""
        if self._chunks:
            yield from self._blobs(self._chunks)
            self.forget()
            # What these chunks brought may be forgotten.
            self.dictionary.settle()

    @property
    def name(self) -> str:
        """What its source is called where something is wrong with it."""
        return self._spec.sources[self._source].label

    @property
    def takes_changes(self) -> bool:
        """Whether its source changes graphs."""
        return self._spec.sources[self._source].changes

    @property
    def takes_keys(self) -> bool:
        """Whether its source has states of keys."""
        return self._spec.sources[self._source].keyed

    def graphs_of(self, names: list[str | None]) -> Ids:
        """The places of graphs among those that the query reads, -1 for others; None is the source's own.

        Where the query reads any graph, ids of terms that name them.
        """
        own = self._spec.sources[self._source].name
        if self._spec.reads_any_graph:
            terms = {name: graph_term(own if name is None else name) for name in names}
            ids = {name: self.dictionary.encode_one(term) for name, term in terms.items()}
            return np.array([ids[name] for name in names], np.int64)
        places = {name: number for number, name in enumerate(self._spec.graphs)}
        return np.array([places.get(own if name is None else name, -1) for name in names], np.int64)

    def nothing(self, part: Split) -> Iterator[tuple[int, bytes]]:
        """The source has ended, or is idle: every cell is told."""
        return self._tell(
            Header(self._source, part.sequence, 0, 0, 0, None, ended=part.ended, idle=part.beat, open=part.open)
        )

    def begins(self, part: int) -> Iterator[tuple[int, bytes]]:
        """There is a lane of which nothing has come yet: every cell is told."""
        return self._tell(Header(self._source, part, 0, 0, 0, None))

    def beat(self, now_ms: int, idle_ms: int | None) -> Iterator[tuple[int, bytes]]:
        """The clock's time, told to every cell; behind all parts of a trigger."""
        return self._tell(Header(self._source, _LAST, 0, 0, 0, None, now_ms=now_ms, idle_ms=idle_ms))

    def _tell(self, header: Header) -> Iterator[tuple[int, bytes]]:
        return self._blobs([_Chunk(header, np.empty((0, 3), np.int64), {})])

    def _blobs(self, chunks: list[_Chunk]) -> Iterator[tuple[int, bytes]]:
        triples, times = _joined([chunk.triples for chunk in chunks]), _times(chunks)
        bounds = np.cumsum([0, *(len(chunk.triples) for chunk in chunks)])
        if self._spec.cells.whole:
            headers = [replace(chunk.header, kept=len(chunk.triples)) for chunk in chunks]
            yield self._keys[0], write_blob(headers_to_bytes(headers), np.diff(bounds), self._columns(triples, None, times))
            return
        routed = self._routed(triples, times.get("graph"))
        matched = np.zeros(len(triples) + 1, np.int64)
        matched[routed.row + 1] = 1
        if self.takes_keys and "op" in times:
            routed = self._with_keys(routed, np.flatnonzero(times["op"] == BEGINS))
        kept = np.diff(np.cumsum(matched)[bounds]).tolist()
        # Once for all cells.
        told = headers_to_bytes([replace(chunk.header, kept=n) for chunk, n in zip(chunks, kept, strict=True)])
        ends = np.searchsorted(routed.cell, np.arange(self._spec.cells.count + 1))
        carried = self._router.unbound(triples[routed.row], routed.pattern)
        for cell in range(self._spec.cells.count):
            ours = slice(int(ends[cell]), int(ends[cell + 1]))
            row = routed.row[ours]
            some = {name: column[row] for name, column in times.items()}
            rows = np.diff(np.searchsorted(row, bounds))
            yield self._keys[cell], write_blob(told, rows, self._columns(carried[ours], routed.pattern[ours], some))

    def _routed(self, triples: Ids, graph: Ids | None) -> Routed:
        if not self.takes_changes:
            return self._router.route(triples, self._matchers[0])
        nothing = np.empty(0, np.int64)
        graph = nothing if graph is None else graph
        found = []
        for number, matchers in enumerate(self._matchers):
            ours = np.flatnonzero(graph == number)
            some = self._router.route(triples[ours], matchers)
            found.append((ours[some.row], some.pattern, some.cell))
        row, pattern, cell = (np.concatenate([nothing, *(some[i] for some in found)]) for i in range(3))
        order = np.lexsort((pattern, row, cell))
        return Routed(row[order], pattern[order], cell[order])

    def _with_keys(self, routed: Routed, begins: Ids) -> Routed:
        """Rows that have a key go to all cells, by a number that is no pattern's."""
        cells = self._spec.cells.count
        row = np.concatenate([routed.row, np.tile(begins, cells)])
        pattern = np.concatenate([routed.pattern, np.full(len(begins) * cells, len(self._spec.patterns))])
        cell = np.concatenate([routed.cell, np.repeat(np.arange(cells), len(begins))])
        order = np.lexsort((pattern, row, cell))
        return Routed(row[order], pattern[order], cell[order])

    def _columns(self, triples: Ids, pattern: Ids | None, times: dict[str, Ids]) -> dict[str, pa.Array[Any]]:
        columns: dict[str, pa.Array[Any]] = {}
        for i, name in enumerate(TERMS):
            ids = np.ascontiguousarray(triples[:, i])
            if len(ids) and ids.max() >= 0:
                columns[name] = term_column(ids, self.dictionary)
        if pattern is not None:
            columns["pattern"] = pa.array(pattern.astype(np.uint8 if len(self._spec.patterns) < 1 << 8 else np.int64))
        for name, values in times.items():
            is_term = name == "graph" and self._spec.reads_any_graph
            columns[name] = term_column(values, self.dictionary) if is_term else pa.array(values)
        if not columns:
            columns["at"] = pa.array([], pa.int64())
        return columns


def _distinct(times: Ids, in_order: bool) -> tuple[Ids, Ids]:
    """Times without repetition, from the smallest on, and where each is first."""
    if not in_order:
        return np.unique(times, return_index=True)
    first = np.flatnonzero(np.diff(times, prepend=times[0] - 1))
    return times[first], first


def _times(chunks: list[_Chunk]) -> dict[str, Ids]:
    names = dict.fromkeys(name for chunk in chunks for name in chunk.times)
    # Where elements of a chunk were in order, the latest up to each is the element itself.
    return {name: _joined([c.times[name if name in c.times else "at"] for c in chunks]) for name in names}


def _joined(columns: list[Ids]) -> Ids:
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


@lru_cache(maxsize=8)
def _packer(text: str, source: int) -> Packer:
    return Packer(JobSpec.from_json(text), source)


def packer_for(text: str, source: int) -> Packer:
    """The packer of a job's source, for its next task; kept by a worker from one to the next."""
    return _packer(text, source).forget().begin()
