"""Datasets as they are when a job starts: read once, kept as far as patterns ask for them, handed to all workers.

Each cell takes its part of them when it is made, by the same routes as everything else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.engine.options import graph_iri
from millstream.errors import OptionError
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scanner import Scanner
from millstream.kernels.scanner_summary import Summary
from millstream.pipeline.blobs import TERMS
from millstream.pipeline.routing import Router
from millstream.pipeline.spread import Spread, StreamedSource
from millstream.rdf import OnRejected, read_quads

Ids = npt.NDArray[np.int64]
_LINES_AT_ONCE = 1 << 16


class StaticData:
    """Triples by graph, as text."""

    def __init__(self, tables: Mapping[str | None, pa.Table]) -> None:
        self._tables = dict(tables)

    def source(self, graph: str | None) -> StreamedSource:
        """A graph as what feeds patterns."""
        return StreamedSource(graph, changes=True)

    def triples(self, dictionary: Dictionary) -> Iterator[tuple[str | None, Ids]]:
        """Graphs with their triples, as ids."""
        for graph, table in self._tables.items():
            yield graph, np.column_stack([dictionary.encode_column(table[name]) for name in TERMS])

    def __len__(self) -> int:
        return sum(table.num_rows for table in self._tables.values())

    def to_bytes(self) -> bytes:
        """All of it, to be sent to workers."""
        graphs = list(self._tables)
        fields: Any = [("graph", pa.int32()), *((name, pa.string()) for name in TERMS)]
        schema = pa.schema(
            fields,
            {b"graphs": "\n".join("" if g is None else g for g in graphs).encode()},
        )
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as writer:
            for number, graph in enumerate(graphs):
                table = self._tables[graph]
                column = pa.array(np.full(table.num_rows, number, np.int32))
                writer.write_table(pa.table([column, *(table[name] for name in TERMS)], schema=schema))
        return sink.getvalue().to_pybytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> StaticData:
        with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
            table = reader.read_all()
        names = (table.schema.metadata or {})[b"graphs"].decode().split("\n")
        number = table["graph"].to_numpy()
        return cls({name or None: table.filter(pa.array(number == i)) for i, name in enumerate(names)})


def read_static(
    datasets: Mapping[str | None, object],
    spread: Spread,
    on_rejected: OnRejected,
    *,
    format: str | None = None,
    base: str | None = None,
) -> StaticData:
    """Reads datasets, by graph: files, folders, globs, anything the engine loads."""
    found: dict[str | None, list[pa.Table]] = {}
    for graph, source in datasets.items():
        for name, table in _read(source, graph_iri(graph), spread, on_rejected, format, base):
            found.setdefault(name, []).append(table)
    return StaticData({name: pa.concat_tables(tables) for name, tables in found.items()} or {None: _table_of([])})


def _read(
    source: object, graph: str | None, spread: Spread, on_rejected: OnRejected, format: str | None, base: str | None
) -> Iterator[tuple[str | None, pa.Table]]:
    if source is None:
        raise OptionError(f"the dataset of graph {graph or 'default'} is a path, bytes or a table, got None")
    waiting: dict[str | None, list[str]] = {}
    keepers: dict[str | None, _Keeper] = {}
    scope = "d" + hashlib.blake2b(repr(graph).encode(), digest_size=4).hexdigest()
    for quad in read_quads(source, format=format, base=base, on_rejected=on_rejected, blank_prefix=scope):
        name = getattr(quad.graph_name, "value", None)
        target = graph if name is None else str(name)
        lines = waiting.setdefault(target, [])
        lines.append(f"{quad.triple} .\n")
        if len(lines) >= _LINES_AT_ONCE:
            yield target, keepers.setdefault(target, _Keeper(spread, target)).keep(lines)
            waiting[target] = []
    for target, lines in waiting.items():
        yield target, keepers.setdefault(target, _Keeper(spread, target)).keep(lines)


class _Keeper:
    """Keeps of a graph what patterns may match."""

    def __init__(self, spread: Spread, graph: str | None) -> None:
        router = Router(spread, Dictionary())
        self._summary = None
        # Where everything counts, so do changes that no pattern sees.
        if not spread.cells.whole:
            self._summary = Summary(router.constants(StreamedSource(graph, changes=True)))

    def keep(self, lines: list[str]) -> pa.Table:
        dictionary = Dictionary()
        found = Scanner(dictionary, summary=self._summary).feed("".join(lines).encode(), True)
        return _table_of([dictionary.decode(column) for column in (found.s, found.p, found.o)])


def _table_of(columns: list[pa.Array[Any]]) -> pa.Table:
    if not columns:
        columns = [pa.array([], pa.string()) for _ in TERMS]
    return pa.table(columns, names=list(TERMS))
