"""Answers to a topic of Kafka: each batch is sent once, whenever a job is stopped and started.

Answers are spread by their key, and each task sends its own in one transaction, which carries the number of the batch: a
batch that comes again finds that number, and passes over what was sent. Rows of a key stay together, in order of time.

What a compacted topic holds (mode `upsert`) is state of the job. A job that begins takes back what others left there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from millstream.connect.kafka.answers import JSON, TRIPLE, AnswerMessages, Record
from millstream.connect.kafka.options import Address, address, servers_of
from millstream.errors import OptionError
from millstream.language.algebra import Form
from millstream.pipeline.job.answers import known_job
from millstream.pipeline.job.tables import query_of_batch
from millstream.pipeline.runtime.connect import is_connect, with_checkpoint
from millstream.pipeline.runtime.step_names import named
from millstream.pipeline.state.compacted_topic import compacted

_TIMES = ("at_ms", "weight")


@dataclass(frozen=True, slots=True)
class _Topic:
    at: Address
    columns: tuple[str, ...]
    mode: str
    key: tuple[str, ...] | None
    construct: bool
    partitions: int

    def messages(self) -> AnswerMessages:
        return AnswerMessages(self.columns, self.mode, self.key, construct=self.construct)

    def records(self, rows: pa.Table) -> list[Record]:
        """The messages of some rows of a batch."""
        if self.mode != "upsert":
            return self.messages().records(rows)
        columns = (rows.column(name).to_pylist() for name in ("key", "value", "at_ms"))
        return [Record(key, value, at_ms, value and JSON) for key, value, at_ms in zip(*columns, strict=True)]

    @property
    def spread_by(self) -> Sequence[str]:
        """The columns of a batch by which it is spread over tasks."""
        return ("key",) if self.mode == "upsert" else self.key or ()


def to_kafka(
    answers: DataFrame,
    topic: str,
    mode: str = "changelog",
    key: str | Sequence[str] | None = None,
    *,
    servers: str | None = None,
    options: Mapping[str, object] | None = None,
    partitions: int = 1,
) -> DataStreamWriter:
    """A writer that sends answers to a topic; give it a `checkpointLocation` and start it.

    `mode`: `changelog`, `upsert` or `istream`. `key` names columns; rows of a key stay in order. `partitions`: how many
    tasks send, where there is a key. Messages are sent in transactions: consumers read them with `read_committed`.
    """
    found, given = servers_of(servers, options)
    missing = [name for name in _TIMES if name not in answers.columns]
    if missing:
        raise OptionError(f"answers have the columns at_ms and weight; {', '.join(missing)} is missing.")
    columns = tuple(name for name in answers.columns if name not in _TIMES)
    job = known_job(answers)
    construct = columns == TRIPLE if job is None else job.spec.query.form is Form.CONSTRUCT
    names = (key,) if isinstance(key, str) else None if key is None else tuple(key)
    if names is None and mode == "upsert":
        names = columns
    sent = _Topic(address(found, topic, given), columns, mode, names, construct, partitions if names else 1)
    sent.messages()  # complains at once
    if mode == "upsert":
        assert names is not None
        answers = compacted(answers, columns, names)
    writer = answers.writeStream.outputMode("append")
    if is_connect(answers):
        return with_checkpoint(writer, lambda checkpoint: partial(_send, sent, checkpoint))
    return writer.foreachBatch(partial(_send, sent, None))


def _send(topic: _Topic, checkpoint: str | None, batch: DataFrame, number: int) -> None:
    """One batch of a query."""
    query = query_of_batch(batch.sparkSession, checkpoint)
    if topic.mode == "upsert" and number == 0:
        _withdraw(topic, query)
    spread = batch.repartition(topic.partitions, *topic.spread_by)
    step = named("millstream_to_kafka", partial(_sent, topic, query, number))
    spread.mapInArrow(step, "sent long").collect()


def _withdraw(topic: _Topic, query: str) -> None:
    """Takes back what was in a compacted topic before its query began."""
    from millstream.connect.kafka.sink import Sender, held_messages

    sender = Sender(topic.at, f"millstream-{query}-begin")
    if not sender.last_number():
        left = dict(held_messages(topic.at))
        sender.transaction(1, [Record(key, None, 0, None) for key, value in left.items() if value is not None])


def _sent(topic: _Topic, query: str, number: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What one task has of a batch, in one transaction."""
    from millstream.connect.kafka.sink import Sender

    context: Any = TaskContext.get()
    part = context.partitionId()
    found = list(batches)
    records = topic.records(pa.Table.from_batches(found)) if found else []
    if records:
        sender = Sender(topic.at, f"millstream-{query}-{part}")
        # Numbers of transactions are from 1 on, those of batches from 0.
        if sender.last_number() <= number:
            sender.transaction(number + 1, records)
    count: Any = pa.array([len(records)], pa.int64())
    yield pa.RecordBatch.from_arrays([count], ["sent"])
