"""What a query asks of datasets: a part of a file as columns of ids, of those what some pattern asks for, as blobs.

The driver reads what is small, tasks of the source `rdf` read the rest, both with this. Lines go from the file to the
scanner kernel; everything else takes the readers of `millstream.rdf`. Blank nodes are named after graph and path, so that
all parts of a file, wherever they are read, have the same nodes, and a file that is read for two graphs has different ones.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from pyoxigraph import Variable

from millstream.errors import DataError
from millstream.ingest import Chunk, Want, quads_of
from millstream.ingest.readers.dispatch import read_quads
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.limits import Limits
from millstream.pipeline.datasets.static import write_chunk
from millstream.pipeline.exchange.blobs import graph_term
from millstream.pipeline.exchange.cell_keys import keys_of
from millstream.pipeline.exchange.routing import Router
from millstream.pipeline.job.specification import JobSpec, StreamedSource
from millstream.pipeline.source.reading import opened
from millstream.pipeline.source.splits import Split
from millstream.plan.nodes import Quads, in_order
from millstream.rdf import OnRejected, Rejected

Ids = npt.NDArray[np.int64]
Packed: TypeAlias = tuple[int, int, bytes]
"""What it is, for which cell if that matters, and the blob."""

KEPT, AHEAD, REJECTED, FAULT, DIGEST = 0, 1, 2, 3, 4
"""Triples for cells, triples for what is evaluated before streams, what was set aside, why reading ended, and a sum."""


# Reading ----------------------------------------------------------------------------------------------------------------


def read_part_of(
    part: Split, graph: str | None, dictionary: Dictionary, summary: Summary | None, on_rejected: OnRejected
) -> Iterator[tuple[Ids, Ids]]:
    """The triples of a part and their graphs, chunk by chunk; -1 is the default graph."""
    with opened(part, scope_of(graph, part.path), on_rejected) as (described, want, _):
        yield from _columns(read_quads(described, want), dictionary, summary)


def scope_of(graph: str | None, path: str = "") -> str:
    """What names the blank nodes of a dataset's file."""
    place = os.path.abspath(path) if path else ""
    return "d" + hashlib.blake2b(f"{graph_term(graph)} {place}".encode(), digest_size=8).hexdigest()


def _columns(chunks: Iterator[Chunk], dictionary: Dictionary, summary: Summary | None) -> Iterator[tuple[Ids, Ids]]:
    for chunk in chunks:
        found = chunk.encode(dictionary, summary)
        yield found.triples, np.full(len(found.triples), -1, np.int64) if found.graph is None else found.graph


# What is kept -----------------------------------------------------------------------------------------------------------


class Wanted:
    """What of datasets a plan asks for."""

    def __init__(self, spec: JobSpec, dictionary: Dictionary) -> None:
        self.router = Router(spec, dictionary)
        self._spec = spec
        # Where everything counts, so do changes that no pattern sees.
        self.everything = spec.cells.whole and any(source.changes for source in spec.sources)
        self._quads: list[tuple[Quads, list[tuple[int, int]]]] = []
        for node in in_order(spec.plan):
            if isinstance(node, Quads):
                known = [(i, dictionary.encode_one(text)) for i, text in enumerate(_constants(node)) if text is not None]
                dictionary.hold(np.array([id for _, id in known], np.int64))
                self._quads.append((node, known))

    def constants(self) -> list[tuple[bytes | None, bytes | None, bytes | None]]:
        """What a triple must have, whichever graph it is in."""
        graphs = [StreamedSource(graph, changes=True) for graph in self._spec.graphs]
        quads = [_constants(node) for node, _ in self._quads]
        return [c for graph in graphs for c in self.router.constants(graph)] + quads

    def rows(self, graph: str | None, triples: Ids) -> npt.NDArray[np.bool_]:
        """Which triples of a graph are asked for."""
        if self.everything:
            return np.ones(len(triples), np.bool_)
        found = np.zeros(len(triples), np.bool_)
        for matcher in self.router.matchers(StreamedSource(graph, changes=True)):
            found[matcher.match(triples)[0]] = True
        for node, known in self._quads if graph is not None else ():
            if node.named is None or graph in {name.value for name in node.named}:
                ours = np.ones(len(triples), np.bool_)
                for place, id in known:
                    ours &= triples[:, place] == id
                found |= ours
        return found


def _constants(node: Quads) -> tuple[bytes | None, bytes | None, bytes | None]:
    terms = (node.triple.subject, node.triple.predicate, node.triple.object)
    s, p, o = (None if isinstance(term, Variable) else str(term).encode() for term in terms)
    return s, p, o


class DatasetPacker:
    """Packs what one task reads of datasets."""

    def __init__(self, spec: JobSpec, ahead: JobSpec | None) -> None:
        self.dictionary = Dictionary()
        self.dictionary.forget_before(1)
        self._kept = Wanted(spec, self.dictionary)
        self._ahead = None if ahead is None else Wanted(ahead, self.dictionary)
        self._batch = ahead
        wanted = [self._kept] if self._ahead is None else [self._kept, self._ahead]
        everything = any(each.everything for each in wanted)
        self.summary = None if everything else Summary([c for each in wanted for c in each.constants()])

    def pack(self, triples: Ids, graph: Ids, default: str | None) -> Iterator[Packed]:
        """The blobs of a chunk; `default` is the graph that the default graph's triples go to."""
        graphs = self._by_graph(graph, default)
        kept, ahead = np.zeros(len(triples), np.bool_), np.zeros(len(triples), np.bool_)
        cells: list[tuple[Ids, Ids]] = []
        place = np.zeros(len(triples), np.int64)
        for number, (name, rows) in enumerate(graphs):
            place[rows] = number
            some = triples[rows]
            kept[rows] = self._kept.rows(name, some)
            if self._ahead is not None:
                ours = self._ahead.rows(name, some)
                ahead[rows] = ours
                cells.append(self._routed(name, some, rows[ours], ours))
        names = [name for name, _ in graphs]
        if kept.any():
            yield KEPT, 0, write_chunk(names, place[kept], triples[kept], self.dictionary)
        if self._batch is not None:
            yield from self._for_cells(names, place, triples, cells)
        asked = kept | ahead
        total = _digest(names, place[asked], triples[asked], self.dictionary)
        yield DIGEST, 0, total.to_bytes(8, "little")
        # What this chunk brought may be forgotten.
        self.dictionary.settle()

    def _routed(self, name: str | None, triples: Ids, rows: Ids, ours: npt.NDArray[np.bool_]) -> tuple[Ids, Ids]:
        """Cells and rows, each pair once: a cell finds the patterns again."""
        assert self._batch is not None
        assert self._ahead is not None
        if self._batch.cells.whole:
            return np.zeros(len(rows), np.int64), rows
        router = self._ahead.router
        routed = router.route(triples[ours], router.matchers(StreamedSource(name, changes=True)))
        pairs = np.unique(np.column_stack([routed.cell, rows[routed.row]]), axis=0)
        return pairs[:, 0], pairs[:, 1]

    def _for_cells(
        self, names: list[str | None], place: Ids, triples: Ids, found: list[tuple[Ids, Ids]]
    ) -> Iterator[Packed]:
        """A blob for every cell, with rows or without: a cell that has nothing may find something all the same."""
        assert self._batch is not None
        count = self._batch.cells.count
        nothing = np.empty(0, np.int64)
        cell, row = (np.concatenate([nothing, *(some[i] for some in found)]) for i in range(2))
        for number, key in enumerate(keys_of(count)):
            ours = np.sort(row[cell == number])
            yield AHEAD, key, write_chunk(names, place[ours], triples[ours], self.dictionary)

    def _by_graph(self, graph: Ids, default: str | None) -> list[tuple[str | None, Ids]]:
        """The graphs of a chunk and their rows."""
        ids, place = np.unique(graph, return_inverse=True)
        if len(ids) == 1:
            parts = [np.arange(len(graph))]
        else:
            order = np.argsort(place, kind="stable")
            parts = np.split(order, np.cumsum(np.bincount(place))[:-1]) if len(graph) else []
        # A graph named by a blank node goes by its label. The default graph's -1 comes first.
        texts = [str(text).strip("<>") for text in self.dictionary.decode(ids[ids >= 0]).to_pylist()]
        names = [default, *texts] if len(texts) < len(ids) else texts
        return list(zip(names, parts, strict=True))


def _digest(names: list[str | None], place: Ids, triples: Ids, dictionary: Dictionary) -> int:
    """A sum over triples and their graphs, the same however datasets are cut."""
    graphs = [hashlib.blake2b(graph_term(name).encode(), digest_size=4).digest() for name in names]
    of_graph = np.array([int.from_bytes(each, "little") for each in graphs], np.uint64)
    s, p, o = (dictionary.hashes(np.ascontiguousarray(triples[:, i])).astype(np.uint64) for i in range(3))
    half = np.uint64(32)
    mixed = _mixed(_mixed(s | p << half) ^ (o | of_graph[place] << half)) if len(place) else np.empty(0, np.uint64)
    return int(mixed.sum(dtype=np.uint64))


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Every bit of a number spread over all of them, as splitmix64 does it."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[np.uint64] = values ^ values >> np.uint64(31)
    return mixed


# Whoever reads ---------------------------------------------------------------------------------------------------------


def packed_part(packer: DatasetPacker, graph: str | None, part: Split, on_rejected: OnRejected) -> Iterator[Packed]:
    """A part of a file."""
    for triples, graphs in read_part_of(part, graph, packer.dictionary, packer.summary, on_rejected):
        yield from packer.pack(triples, graphs, graph)


def packed_quads(
    packer: DatasetPacker,
    graph: str | None,
    source: object,
    format: str | None,
    base: str | None,
    on_rejected: OnRejected,
    limits: Limits,
) -> Iterator[Packed]:
    """What is in memory, or comes from anything that can be read."""
    want = Want(format, None, None, base, None, on_rejected, limits, graphs=True, blank_prefix=scope_of(graph))
    for triples, graphs in _columns(quads_of(source, want), packer.dictionary, packer.summary):
        yield from packer.pack(triples, graphs, graph)


@lru_cache(maxsize=4)
def _packer(spec: str, ahead: str | None) -> DatasetPacker:
    return DatasetPacker(JobSpec.from_json(spec), None if ahead is None else JobSpec.from_json(ahead))


def packed_by_task(parts: Iterable[Split], graph: str | None, spec: str, ahead: str | None) -> Iterator[Packed]:
    """What one task gives: all it reads, what it had to set aside, and why it read no further."""
    packer = _packer(spec, ahead)
    for part in parts:
        rejected: list[Rejected] = []
        fault: DataError | None = None
        try:
            yield from packed_part(packer, graph, part, rejected.append)
        except DataError as error:
            fault = error
        if rejected:
            yield REJECTED, 0, json.dumps([asdict(each) for each in rejected]).encode()
        if fault is not None:
            told = Rejected(fault.source or part.path, fault.line, fault.column, fault.reason, fault.text or "")
            yield FAULT, 0, json.dumps(asdict(told)).encode()
