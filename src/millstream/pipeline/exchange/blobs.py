"""What travels from readers to cells: rows with their terms as an Arrow stream, and in its metadata how far the source is.

A blob is good by itself: terms are spelled out, since numbers of a dictionary mean nothing in another process. Its checksum
is behind it, since Arrow believes what it reads. It has the chunks that a task read, each with its header, with rows for
this cell or without, because all cells must know how far each source has come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyoxigraph import Literal

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.terms import term_of
from millstream.pipeline.exchange.checksums import sealed, unsealed

Ids = npt.NDArray[np.int64]
TERMS = ("s", "p", "o")
_HEADERS, _ROWS = b"millstream", b"millstream-rows"
_NONE = -(1 << 63)
# A blob goes through a shuffle and into the state store, maybe out of it again: IRIs shrink to an eighth.
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")
_PLAIN = pa.ipc.IpcWriteOptions()
_WORTH_BYTES = 1 << 12
_DEFAULT_GRAPH = "<urn:millstream:default-graph>"


@dataclass(frozen=True, slots=True)
class Header:
    """Which chunk of which part of which source this is, and what there was in it, for whichever cell."""

    source: int
    part: int
    chunk: int
    first: int
    """How many elements of the part came before."""
    elements: int
    largest_ms: int | None
    """The largest time; under a rate the cells know."""
    least_ms: tuple[int, ...] = ()
    """The first distinct times from the smallest on, of elements that were not late within the chunk."""
    least_element: tuple[int, ...] = ()
    """For each of these times the number in the part of the first element that has it."""
    ended: bool = False
    idle: bool = False
    open: bool = False
    """Whether a source that has ended may have more in a later run."""
    triples: int = 0
    """How many there were, whether a pattern asks for them or not."""
    kept: int = 0
    """How many of them match a pattern."""
    set_aside: int = 0
    """How much was malformed."""
    now_ms: int | None = None
    """The time of the clock, where a source that says nothing of itself is to be idle after a while."""
    idle_ms: int | None = None
    """After how long; None: nobody knows how long it was silent, so that counts from now on."""

    @property
    def place(self) -> tuple[int, int, int]:
        return self.source, self.part, self.chunk


_LEAST = ("least_ms", "least_element")
_PLAIN_FIELDS = [name for name in Header.__slots__ if name not in _LEAST]


def headers_to_bytes(headers: Sequence[Header]) -> bytes:
    """Headers as numbers: what is plain, how many least times, these and their elements."""
    numbers: list[int] = []
    for header in headers:
        plain = [getattr(header, name) for name in _PLAIN_FIELDS]
        numbers += [_NONE if value is None else int(value) for value in plain]
        numbers += [len(header.least_ms), *header.least_ms, *header.least_element]
    return np.array(numbers, "<i8").tobytes()


def _headers(data: bytes) -> list[Header]:
    numbers = (None if number == _NONE else number for number in np.frombuffer(data, "<i8").tolist())
    found = []
    while plain := dict(zip(_PLAIN_FIELDS, numbers, strict=False)):
        flags = {name: bool(plain[name]) for name in ("ended", "idle", "open")}
        count = next(numbers)
        fields: dict[str, Any] = {**plain, **flags, **{name: tuple(islice(numbers, count)) for name in _LEAST}}
        found.append(Header(**fields))
    return found


def term_column(ids: Ids, dictionary: Dictionary) -> pa.Array[Any]:
    """Ids as terms, each spelled once; -1 is null."""
    column = pa.array(ids, pa.int64(), mask=ids < 0).dictionary_encode()
    terms = dictionary.decode(np.asarray(column.dictionary, np.int64))
    return pa.DictionaryArray.from_arrays(column.indices, terms)


def graph_term(graph: str | None) -> str:
    """A graph as a term among terms: named ones by a literal, the default graph by an IRI."""
    return _DEFAULT_GRAPH if graph is None else str(Literal(graph))


def graph_of(term: str) -> str | None:
    """The graph that `graph_term` wrote."""
    return None if term == _DEFAULT_GRAPH else term_of(term).value


def write_blob(headers: bytes, rows: Sequence[int] | Ids, columns: Mapping[str, pa.Array[Any]]) -> bytes:
    """A blob of chunks, from their headers as numbers and how many of the rows are of each."""
    return stream_of(columns, {_HEADERS: headers, _ROWS: np.asarray(rows, "<i8").tobytes()})


def stream_of(columns: Mapping[str, pa.Array[Any]], metadata: dict[bytes | str, bytes | str]) -> bytes:
    """Columns as an Arrow stream of one batch, compressed if that is worth it."""
    schema = pa.schema([pa.field(name, array.type) for name, array in columns.items()], metadata)
    batch = pa.RecordBatch.from_arrays(list(columns.values()), schema=schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=_COMPRESSED if batch.nbytes >= _WORTH_BYTES else _PLAIN) as writer:
        writer.write_batch(batch)
    return sealed(memoryview(sink.getvalue()))


def open_stream(data: bytes) -> pa.RecordBatchStreamReader:
    """What `stream_of` wrote; SnapshotError for anything else."""
    return pa.ipc.open_stream(pa.py_buffer(unsealed(data)))


def write_bare(headers: Sequence[Header]) -> bytes:
    """A blob without rows, which still tells how far sources have come."""
    return write_blob(headers_to_bytes(headers), [0] * len(headers), {"at": pa.array([], pa.int64())})


def read_headers(data: bytes) -> list[Header]:
    """The headers of a blob alone."""
    with open_stream(data) as reader:
        return _headers(reader.schema.metadata[_HEADERS])


def read_blob(data: bytes) -> tuple[list[Header], Ids, pa.RecordBatch]:
    """The headers of its chunks, for each row the place of its own among them, and the rows."""
    with open_stream(data) as reader:
        batch = reader.read_next_batch()
    assert batch.schema.metadata is not None
    rows = np.frombuffer(batch.schema.metadata[_ROWS], "<i8")
    return _headers(batch.schema.metadata[_HEADERS]), np.repeat(np.arange(len(rows)), rows), batch


def ids_of(batch: pa.RecordBatch, name: str, dictionary: Dictionary) -> Ids:
    """A column of terms as ids of this process; -1 where there is none, or where the column was left out."""
    if name not in batch.schema.names:
        return np.full(batch.num_rows, -1, np.int64)
    column: Any = batch.column(name)
    ids = np.append(dictionary.encode_column(column.dictionary), -1)
    found: Ids = ids[column.indices.fill_null(len(ids) - 1).to_numpy(zero_copy_only=False)]
    return found


def numbers_of(batch: pa.RecordBatch, name: str) -> Ids:
    return batch.column(name).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
