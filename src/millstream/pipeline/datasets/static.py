"""Datasets as they are when a job starts, in the form in which all workers get them: blobs with their terms spelled out.

Triples that patterns ask for are chunks, of which each cell takes its part by the same routes as everything else. Of parts
of the plan that were evaluated before streams begin there are rows, and each cell takes its part of these as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.engine.queries.run import PartRows
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.ticks import Deltas
from millstream.pipeline.exchange.blobs import TERMS, ids_of, numbers_of, open_stream, stream_of, term_column
from millstream.pipeline.exchange.checksums import packed, sealed, unpacked, unsealed
from millstream.pipeline.exchange.routing import Router
from millstream.pipeline.exchange.sending import read_sent
from millstream.pipeline.job.specification import JobSpec, StreamedSource

Ids = npt.NDArray[np.int64]
_GRAPHS = b"graphs"


class StaticData:
    """Triples by graph, and rows of the plan's parts that were evaluated ahead."""

    def __init__(self, chunks: Sequence[bytes] = (), given: Sequence[bytes] = ()) -> None:
        self._chunks = list(chunks)
        self._given = list(given)

    def triples(self, dictionary: Dictionary) -> Iterator[tuple[str | None, Ids]]:
        """Graphs with their triples, as ids; a graph may come several times, and a triple too."""
        for data in self._chunks:
            with open_stream(data) as reader:
                names = json.loads((reader.schema.metadata or {})[_GRAPHS])
                batch = reader.read_next_batch()
            triples = np.column_stack([ids_of(batch, name, dictionary) for name in TERMS])
            if len(names) == 1:
                yield names[0], triples
                continue
            place = numbers_of(batch, "graph")
            order = np.argsort(place, kind="stable")
            bounds = np.searchsorted(place[order], np.arange(len(names) + 1))
            for number, name in enumerate(names):
                ours = order[bounds[number] : bounds[number + 1]]
                if len(ours):
                    yield name, triples[ours]

    def routed(self, spec: JobSpec, cell: int, dictionary: Dictionary) -> Iterator[tuple[str | None, Ids, Ids]]:
        """The triples that a cell needs, each with the pattern it is meant for."""
        router = Router(spec, dictionary)
        for graph, triples in self.triples(dictionary):
            found = router.route(triples, router.matchers(StreamedSource(graph, changes=True)))
            ours = found.cell == cell
            yield graph, triples[found.row[ours]], found.pattern[ours]

    def share(self, spec: JobSpec, cell: int, dictionary: Dictionary) -> PartRows | None:
        """The rows of parts evaluated ahead that a cell needs, by the routes of their columns."""
        if spec.ahead is None or not self._given:
            return None
        parts = spec.ahead.parts
        _, rows = read_sent(self._given, len(parts.variables) - 1, dictionary)
        router = Router(spec, dictionary)
        ours = np.zeros(len(rows), np.bool_)
        for part in range(len(parts.parts)):
            of_part = np.flatnonzero(rows.part == part)
            ours[of_part[router.goes_to(cell, part, rows.columns[of_part])]] = True
        rows = rows.pick(ours)
        return rows.part, Deltas(rows.columns, rows.tick, rows.tick * 0, rows.weight)

    def to_bytes(self) -> bytes:
        """All of it, to be sent to workers."""
        return packed([sealed(b"%d" % len(self._chunks)), *self._chunks, *self._given])

    @classmethod
    def from_bytes(cls, data: bytes) -> StaticData:
        count, *parts = unpacked(data) or [b""]
        chunks = int(unsealed(count).tobytes())
        return cls(parts[:chunks], parts[chunks:])


def write_chunk(graphs: Sequence[str | None], graph: Ids, triples: Ids, dictionary: Dictionary) -> bytes:
    """Triples, each with the place of its graph among `graphs`."""
    columns: dict[str, pa.Array[Any]] = {"graph": pa.array(graph.astype(np.int32))}
    for i, name in enumerate(TERMS):
        columns[name] = term_column(np.ascontiguousarray(triples[:, i]), dictionary)
    return stream_of(columns, {_GRAPHS: json.dumps(list(graphs))})
