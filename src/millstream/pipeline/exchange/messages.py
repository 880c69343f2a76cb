"""DataFrames of messages to blobs for cells: parsed, matched and packed in one step.

A message has a `value`, and where its source has them `topic`, `partition`, `offset`, `timestamp`, `key` and `headers`, as
Spark's Kafka source names them. With the first three, every partition of a topic is a lane of its own, in order.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import Literal
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from millstream.errors import DataError
from millstream.ingest.columns import Columns, Ids
from millstream.ingest.lanes import Reader
from millstream.ingest.message_options import MessageOptions
from millstream.ingest.messages import Headers, Lane, Messages, from_base64, texts_of
from millstream.ingest.upserts import keys_of
from millstream.pipeline.datasets.change_files import of_known_graphs
from millstream.pipeline.exchange.packing import BEGINS, Packer, packer_for
from millstream.pipeline.job.inputs import PLACED
from millstream.pipeline.runtime.connect import rows_of
from millstream.pipeline.runtime.gc_freeze import freeze_imports
from millstream.pipeline.source.dead_letters import DeadLetters, task_split
from millstream.pipeline.source.reading import Counted, Reading
from millstream.pipeline.source.task_output import packed_batch
from millstream.pipeline.state.clock import LANE_BITS
from millstream.rdf import OnRejected

_PARTITION_BITS = 12
_MOST_TOPICS = (1 << 10) - 1
_OFFSETS = (1 << LANE_BITS) - 1


def part_of(lane: int, offset: int) -> int:
    """The number of a part that begins at an offset of a lane: parts of a lane are in the order of their offsets."""
    return (lane << LANE_BITS) | (offset & _OFFSETS)


def with_plain_headers(frame: DataFrame) -> DataFrame:
    """Messages whose headers are a text: on their way to Python, Spark measures a column of lists anew with every row."""
    return frame.withColumn("headers", f.to_json("headers")) if "headers" in frame.columns else frame


def pack_messages(
    pack: str,
    source: int,
    options: str,
    batches: Iterator[pa.RecordBatch],
    topics: Sequence[str] = (),
    dead_letter: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """The messages of one partition in one trigger; what is malformed goes to the folder `dead_letter`.

    `topics`: all that there are, if that is known.
    """
    freeze_imports()
    packer = packer_for(pack, source)
    task = task_split(packer.name, source)
    own = Lane(f"trigger {task.sequence}", task.start)
    reader = MessageOptions.from_json(options).reader(changes=packer.takes_changes)
    with DeadLetters(dead_letter, task) as letters:
        counted, row = Counted(letters), 0
        for batch in map(rows_of, batches):
            for messages, number, chunk in _messages_of(batch, own, task.start, row, topics):
                columns, op = elements_of(messages, reader, packer, counted)
                packer.begin().add(number, chunk, Reading(columns, counted.take()), op)
                if packer.is_full:
                    yield packed_batch(packer.take())
            row += batch.num_rows
        yield packed_batch(packer.take())


def elements_of(messages: Messages, reader: Reader, packer: Packer, on_rejected: OnRejected) -> tuple[Columns, Ids | None]:
    """Messages as a packer takes them: their elements, and of states of keys what each row is."""
    columns, origin = reader.encode(messages, packer.dictionary, packer.summary, on_rejected)
    if packer.takes_keys:
        return _states_of(columns, messages, origin, packer, on_rejected)
    return of_known_graphs(columns, packer) if packer.takes_changes else columns, None


def _states_of(
    columns: Columns, messages: Messages, origin: Ids, packer: Packer, on_rejected: OnRejected
) -> tuple[Columns, Ids]:
    """States of keys: each begins with a row that has its key as a term, which is for every cell."""
    keyed = list(keys_of(((messages, place) for place in origin.tolist()), on_rejected))
    numbers = np.array([number for number, _ in keyed], np.int64)
    # Any bytes are characters of this.
    keys: Any = pa.array([str(Literal(key.decode("latin-1"))) for _, key in keyed], pa.string())
    begins = np.full((len(keyed), 3), -1, np.int64)
    begins[:, 0] = packer.dictionary.encode_column(keys)
    stated = of_known_graphs(replace(columns, graph=None), packer)
    assert stated.graph is not None
    # What has no key still tells how far its lane has come.
    kept = np.isin(stated.element, numbers)
    element = np.concatenate([numbers, stated.element[kept]])
    order = np.argsort(element, kind="stable")
    op = np.repeat([BEGINS, 1], [len(keyed), int(kept.sum())])
    triples = np.concatenate([begins, stated.triples[kept]])[order]
    graph = np.concatenate([np.full(len(keyed), -1), stated.graph[kept]])[order]
    return replace(stated, triples=triples, element=element[order], graph=graph), op[order]


def _messages_of(
    batch: pa.RecordBatch, own: Lane, part: int, row: int, given: Sequence[str]
) -> Iterator[tuple[Messages, int, int]]:
    """The messages of a batch, by lanes: with the number of their part and of the chunk there."""
    if not batch.num_rows:
        return
    names = set(batch.schema.names)
    if "value" not in names:
        raise DataError("messages have a column value; it is missing")
    if not names.issuperset(PLACED):
        # Nobody says in which order they were sent: they are named after the task that has them.
        offset = np.arange(row, row + batch.num_rows)
        yield _columns(batch, [own], np.zeros(batch.num_rows, np.int64), offset), part, row
        return
    topics: Any = batch.column("topic").dictionary_encode()
    topic = topics.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    partition, offset = (
        batch.column(name).cast(pa.int64()).to_numpy(zero_copy_only=False) for name in ("partition", "offset")
    )
    known = topics.dictionary.to_pylist()
    for t, p in np.unique(np.column_stack([topic, partition]), axis=0).tolist():
        rows = np.flatnonzero((topic == t) & (partition == p))
        rows = rows[np.argsort(offset[rows], kind="stable")]
        some = batch if len(rows) == batch.num_rows else batch.take(rows)
        place = part_of(lane_of(known[t], p, given), int(offset[rows[0]]))
        yield _columns(some, [Lane(known[t], p)], np.zeros(len(rows), np.int64), offset[rows]), place, 0


def lane_of(topic: str, partition: int, topics: Sequence[str] = ()) -> int:
    """A number for a partition of a topic which every task gives it: by its place among those that there are, if that is
    known, else by a checksum, which two topics may share.
    """
    found = topics.index(topic) if topic in topics else zlib.crc32(topic.encode("utf-8", "replace"))
    return ((found & _MOST_TOPICS) << _PARTITION_BITS) | (partition & ((1 << _PARTITION_BITS) - 1))


def _columns(batch: pa.RecordBatch, lanes: list[Lane], lane: Ids, offset: Ids) -> Messages:
    names = set(batch.schema.names)
    values: Any = batch.column("value")
    if not pa.types.is_large_binary(values.type):
        values = values.cast(pa.large_binary())
    keys = batch.column("key") if "key" in names else None
    headers = batch.column("headers") if "headers" in names else None

    def key_of(place: int) -> bytes | None:
        found = None if keys is None else keys[place].as_py()
        return found.encode("utf-8", "replace") if isinstance(found, str) else found

    def headers_of(place: int) -> Headers:
        found = None if headers is None else headers[place].as_py()
        # JSON has bytes as base64, and leaves out what is null.
        return [(str(each.get("key")), from_base64(each.get("value"))) for each in json.loads(found or "[]")]

    return Messages(lanes, lane, offset, texts_of(values), _timestamps(batch), key_of, headers_of)


def _timestamps(batch: pa.RecordBatch) -> Ids:
    """Milliseconds; -1 where there are none."""
    if "timestamp" not in batch.schema.names:
        return np.full(batch.num_rows, -1, np.int64)
    column: Any = batch.column("timestamp")
    if pa.types.is_timestamp(column.type):
        column = pc.floor_temporal(column, unit="millisecond").cast(pa.timestamp("ms", tz=column.type.tz))
    found: Ids = column.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return found
