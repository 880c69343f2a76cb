"""A job without Spark: sources cut into triggers, parts and chunks, blobs in any order, workers that die.

Cells live in the memory of two workers, and so does the second stage where there is one. An attempt may be lost after it
ran, as when a task is tried again; a worker may lose what it has. The store keeps only what a committed attempt wrote.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from millstream.ingest import Columns
from millstream.ingest.intake import Encoder
from millstream.ingest.messages import Lane, Messages
from millstream.ingest.upserts import upsert_reader
from millstream.kernels.scanning.scanner import Scanner
from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.exchange.cell_keys import keys_of
from millstream.pipeline.exchange.messages import elements_of
from millstream.pipeline.exchange.packing import Packer
from millstream.pipeline.job.specification import JobSpec
from millstream.pipeline.source.reading import Reading
from millstream.pipeline.source.splits import Split
from millstream.pipeline.state.change_log import ChangeLog, InMemory, bucket_log, cell_log
from millstream.rdf import Rejected


@dataclass(frozen=True)
class Element:
    """Triples of one time: an element of a stream, or a change of a graph."""

    triples: tuple[str, ...]
    at_ms: int
    op: int = 1
    key: str = ""
    """Whose state this is, where a source has states of keys."""


@dataclass
class DictStore:
    """A state store that can forget an attempt."""

    committed: dict[Any, Any] = field(default_factory=dict)
    pending: dict[Any, Any] = field(default_factory=dict)

    def ledger(self) -> str | None:
        return self.committed.get("ledger")

    def keep_ledger(self, text: str) -> None:
        self.pending["ledger"] = text

    def piece(self, version: int, number: int) -> bytes | None:
        return self.committed.get((version, number))

    def keep_piece(self, version: int, number: int, data: bytes) -> None:
        self.pending[version, number] = data

    def drop_piece(self, version: int, number: int) -> None:
        self.pending[version, number] = None

    def commit(self) -> None:
        self.committed.update(self.pending)
        self.committed = {key: value for key, value in self.committed.items() if value is not None}
        self.pending = {}

    def forget_attempt(self) -> None:
        self.pending = {}


Row = tuple[int, int, tuple[str | None, ...]]


class Job:
    """A spread query with its cells."""

    def __init__(self, spec: JobSpec, static: StaticData | None, seed: int, *, calm: bool = False) -> None:
        self.spec = spec
        self._random = random.Random(seed)
        self._calm = calm
        self._packers = [Packer(spec, i) for i in range(len(spec.sources))]
        self._parts = [0] * len(spec.sources)
        self._stores = [DictStore() for _ in range(spec.cells.count + spec.cells.buckets)]
        self._workers: list[dict[int, InMemory[Any]]] = [{}, {}]
        sent = None if static is None else StaticData.from_bytes(static.to_bytes())
        self._logs = [cell_log(spec, number, sent) for number in range(spec.cells.count)]
        self._second = None if spec.stages is None else bucket_log(spec)
        self._answers: list[Row] = []
        self._flushed: list[Row] = []
        self.late: set[tuple[int, int, int, int]] = set()
        self._late_texts: list[tuple[int, int, int, str]] = []

    @property
    def answers(self) -> list[Row]:
        """What was answered; of the end only if nothing came behind it."""
        return self._answers + self._flushed

    def trigger(self, arrived: list[list[Element]], *, ended: bool = False, open: bool = False) -> None:
        """Everything that came since the last trigger, by source; `ended` tells all cells that no more will, in this run."""
        self._flushed = []
        blobs: list[tuple[int, bytes]] = []
        for source, elements in enumerate(arrived):
            for part in _cut(elements, self._random):
                blobs.extend(self._add(source, part))
            blobs.extend(self._packers[source].take())
            if ended:
                part = Split(source=source, sequence=self._next_part(source), ended=True, open=open)
                blobs.extend(self._packers[source].begin().nothing(part))
        self._random.shuffle(blobs)
        keys = keys_of(self.spec.cells.count)
        sent: list[list[bytes]] = []
        for cell, log in enumerate(self._logs):
            ours = [blob for key, blob in blobs if key == keys[cell]]
            if ours:
                sent.extend(self._take(cell, log, ours))
        self._random.shuffle(sent)
        for bucket, to_bucket in enumerate(zip(*sent, strict=True)):
            assert self._second is not None
            self._take(len(self._logs) + bucket, self._second, list(to_bucket))

    def _take(self, cell: int, log: ChangeLog[Any], blobs: list[bytes]) -> list[list[bytes]]:
        """What is sent on, behind the end apart."""
        store = self._stores[cell]
        while True:
            worker = self._workers[0 if self._calm else self._random.randrange(2)]
            if not self._calm and self._random.random() < 0.1:
                worker.clear()
            outcome, in_memory, kept = log.take(store, worker.get(cell), blobs)
            worker[cell] = in_memory
            if self._calm or self._random.random() < 0.8:
                break
            store.forget_attempt()
        store.commit()
        self._answers.extend(_rows(outcome.answers))
        if outcome.late is not None:
            rows = outcome.late.to_pylist()
            self.late.update((r["source"], r["part"], r["element"], r["at_ms"]) for r in rows)
            self._late_texts += [(r["source"], r["part"], r["element"], r["text"]) for r in rows]
        if kept.flushed is None:
            return [outcome.sent]
        self._flushed.extend(_rows(kept.flushed.answers))
        return [outcome.sent, kept.flushed.sent]

    def take_late(self) -> list[tuple[int, int, int, str]]:
        """Late triples that cells told since the last call: source, part, element, text."""
        told, self._late_texts = self._late_texts, []
        return told

    def _next_part(self, source: int) -> int:
        self._parts[source] += 1
        return self._parts[source]

    def pack(self, source: int, elements: list[Element]) -> list[tuple[int, bytes]]:
        """A part of a source as blobs, each with its cell's key."""
        return [*self._add(source, elements), *self._packers[source].take()]

    def _add(self, source: int, elements: list[Element]) -> list[tuple[int, bytes]]:
        """Hands a part to its packer; a blob has any number of its chunks, and of parts before and after it."""
        packer = self._packers[source].begin()
        encoder, scanner = Encoder(packer.dictionary), Scanner(packer.dictionary, summary=packer.summary)
        number = self._next_part(source)
        blobs: list[tuple[int, bytes]] = []
        rate = self.spec.sources[source].fraction
        for chunk, some in enumerate(_cut(elements, self._random)):
            if packer.takes_keys:
                columns, op = elements_of(_messages(some), upsert_reader("nt", None, None, None), packer, _no_fault)
                packer.add(number, chunk, Reading(columns, 0), op)
                continue
            encoded = [encoder.encode("\n".join(e.triples).encode(), scanner).triples for e in some]
            triples = np.concatenate([np.empty((0, 3), np.int64), *encoded])
            sizes = [len(x) for x in encoded]
            element = np.repeat(np.arange(len(some)), sizes)
            at_ms = None if rate is not None else np.array([e.at_ms for e in some], np.int64)
            op = graph = None
            if packer.takes_changes:
                op = np.repeat(np.array([e.op for e in some], np.int64), sizes)
                graph = packer.graphs_of([None] * len(triples))
                triples, element, op, graph = (x[graph >= 0] for x in (triples, element, op, graph))
            columns = Columns(triples, element, len(some), at_ms, np.bincount(element, minlength=len(some)), graph)
            packer.add(number, chunk, Reading(columns, 0), op)
            if self._random.random() < 0.3:
                blobs.extend(packer.take())
        return blobs

    def stored_slices(self) -> list[int]:
        return [len([key for key in store.committed if isinstance(key, tuple)]) for store in self._stores]

    def stored_bytes(self) -> list[int]:
        """How much each cell, and then each bucket, keeps in its store."""
        return [sum(len(data) for key, data in s.committed.items() if isinstance(key, tuple)) for s in self._stores]


def _messages(states: list[Element]) -> Messages:
    values = ["\n".join(state.triples).encode() or None for state in states]
    at_ms, numbers = np.array([state.at_ms for state in states], np.int64), np.arange(len(states))
    return Messages([Lane("t", 0)], numbers * 0, numbers, values, at_ms, lambda i: states[i].key.encode(), lambda i: ())


def _no_fault(rejected: Rejected) -> None:
    raise AssertionError(rejected)


def _rows(table: pa.Table) -> list[Row]:
    names = table.column_names[2:]
    return [(row["at_ms"], row["weight"], tuple(row[name] for name in names)) for row in table.to_pylist()]


def _cut(items: list[Element], chance: random.Random) -> list[list[Element]]:
    parts: list[list[Element]] = []
    while items:
        size = chance.randint(1, len(items))
        parts.append(items[:size])
        items = items[size:]
    return parts


def in_order(sources: list[list[Element]], lateness_ms: int) -> tuple[list[tuple[int, Element]], int]:
    """What a run processes, with the source of each, and how many elements are late."""
    kept: list[tuple[int, int, int, Element]] = []
    late = 0
    for number, elements in enumerate(sources):
        largest: int | None = None
        for place, element in enumerate(elements):
            if largest is not None and element.at_ms < largest - lateness_ms:
                late += 1
                continue
            largest = element.at_ms if largest is None else max(largest, element.at_ms)
            kept.append((element.at_ms, number, place, element))
    kept.sort(key=lambda k: k[:3])
    return [(number, element) for _, number, _, element in kept], late
