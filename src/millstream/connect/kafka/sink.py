"""Topics as a sink of answers.

With a checkpoint, answers are sent exactly once: what a checkpoint covers is part of the position that is kept with it, and
is sent, in one transaction with the checkpoint's number, when it has been kept. Whoever goes on asks the servers which
number came last, and sends what is missing. Without a checkpoint answers are sent as they come, each at least once.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from millstream.connect.kafka import client
from millstream.connect.kafka.answers import AnswerMessages, Record
from millstream.connect.kafka.options import Address, read_address
from millstream.errors import ConnectError, OptionError
from millstream.ingest.messages import from_base64, to_base64

_FLUSH_S = 60.0


class KafkaSink:
    """Answers to a topic."""

    def __init__(
        self,
        at: Address,
        variables: Sequence[str],
        *,
        mode: str = "changelog",
        key: Sequence[str] | None = None,
        construct: bool = False,
        transactional: bool = False,
    ) -> None:
        """`transactional`: positions are kept and come back, and what each covers is sent once it is kept."""
        if len(at.topics) != 1:
            raise OptionError(f"{at.name}: answers go to one topic")
        self._at = at
        self._mode = mode
        self._messages = AnswerMessages(variables, mode, key, construct=construct)
        self._transactional = transactional
        self._outbox: list[Record] = []
        self._sealed = 0
        self._number = 0
        self._sender: Sender | None = None

    def open(self, position: bytes | None) -> None:
        """Connects; what a kept position covers and the topic lacks is sent."""
        name, number, rows = _unpack(position)
        self._number = number
        self._sender = Sender(self._at, name if self._transactional else None)
        if rows and self._sender.last_number() < number:
            self._sender.transaction(number, rows)
        if self._mode == "upsert":
            self._messages.hold(held_messages(self._at))
            if not position:
                # Nothing is known to hold yet: what an earlier run left there is no answer.
                self._send(self._messages.withdrawn())

    def write(self, answers: pa.Table) -> None:
        """Answers in order of time."""
        self._send(self._messages.records(answers))

    def _send(self, records: list[Record]) -> None:
        assert self._sender is not None
        if self._transactional:
            self._outbox += records
        else:
            self._sender.send(records)

    def commit(self) -> bytes:
        """Has what was sent be there; gives what is to be sent once this is kept."""
        assert self._sender is not None
        if not self._transactional:
            self._sender.flush()
            return b""
        self._sealed = len(self._outbox)
        return _pack(self._sender.name, self._number + 1, self._outbox)

    def settle(self) -> None:
        """The position that was given last is kept: what it covers may be seen."""
        if self._sealed and self._sender is not None:
            self._number += 1
            self._sender.transaction(self._number, self._outbox[: self._sealed])
            self._outbox = self._outbox[self._sealed :]
            self._sealed = 0

    def close(self) -> None:
        """Ends the connection; what no checkpoint covers is not sent, since whoever goes on from it sends it."""
        if self._sender is not None and not self._transactional:
            self._sender.flush()
        self._sender = None


def kafka_sink(path: str, variables: Sequence[str], *, construct: bool = False, transactional: bool = False) -> KafkaSink:
    """The sink that a `kafka://` address means, with the options mode and key."""
    at, options = read_address(path)
    key = [name.strip().lstrip("?") for name in options["key"].split(",")] if options.get("key") else None
    mode = options.get("mode", "changelog")
    return KafkaSink(at, variables, mode=mode, key=key, construct=construct, transactional=transactional)


class Sender:
    """A producer of one topic; with a name its transactions are numbered, and each number is sent once."""

    def __init__(self, at: Address, name: str | None, partition: int = 0) -> None:
        self.name = name or ""
        self._at = at
        self._partition = partition
        self._topic = at.topics[0]
        self._trouble = client.Trouble(at.name)
        own = {} if name is None else {"transactional_id": name}
        self._producer = client.producer(at, self._trouble, **own)
        self._failed: list[Any] = []
        if name is None:
            client.partitions(self._producer, at, self._trouble)
        else:
            self._tried(lambda: self._producer.init_transactions(client.WAIT_S))

    def last_number(self) -> int:
        """The number of the last transaction under this name; 0 if there was none."""
        library = client.library()
        consumer = client.consumer(self._at, self._trouble, group_id=self.name)
        try:
            [found] = consumer.committed([library.TopicPartition(self._topic, self._partition)], timeout=client.WAIT_S)
        except library.KafkaException as error:
            client.failed(self._at.name, error.args[0])
        finally:
            consumer.close()
        return max(0, int(found.offset))

    def transaction(self, number: int, records: Sequence[Record]) -> None:
        """Sends messages and their number, all or nothing."""
        library = client.library()
        consumer = client.consumer(self._at, self._trouble, group_id=self.name)
        try:
            self._tried(self._producer.begin_transaction)
            self._produce(records)
            place = library.TopicPartition(self._topic, self._partition, number)
            group = consumer.consumer_group_metadata()
            self._tried(lambda: self._producer.send_offsets_to_transaction([place], group, client.WAIT_S))
            self._tried(lambda: self._producer.commit_transaction(_FLUSH_S))
        finally:
            consumer.close()

    def send(self, records: Sequence[Record]) -> None:
        """Sends messages as they come."""
        self._produce(records)
        self._producer.poll(0)
        self._check()

    def flush(self) -> None:
        """Waits until all of them are there."""
        if self._producer.flush(_FLUSH_S):
            self._trouble.check()
            raise ConnectError(f"{self._at.name}: no server took what was sent within {_FLUSH_S:.0f} s")
        self._check()

    def _produce(self, records: Sequence[Record]) -> None:
        for key, value, at_ms, content_type in records:
            headers: list[Any] = [] if content_type is None else [("content-type", content_type.encode())]
            # A timestamp of 0 would mean the present.
            headers.append(("at_ms", b"%d" % at_ms))
            self._hand_over(value, key, headers, timestamp=max(at_ms, 1))

    def send_one(self, key: bytes | None, value: bytes | None, headers: list[Any]) -> None:
        """Sends a message with headers of its own, now."""
        self._hand_over(value, key, headers)
        self._producer.poll(0)
        self._check()

    def _hand_over(self, value: bytes | None, key: bytes | None, headers: list[Any], **options: Any) -> None:
        while True:
            try:
                self._producer.produce(self._topic, value, key, headers=headers, on_delivery=self._delivered, **options)
                return
            except BufferError:
                self._producer.poll(0.1)
                self._check()

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self._failed.append(error)

    def _check(self) -> None:
        self._trouble.check()
        if self._failed:
            client.failed(self._at.name, self._failed[0])

    def _tried(self, do: Any) -> None:
        try:
            do()
        except client.library().KafkaException as error:
            client.failed(self._at.name, error.args[0])


def held_messages(at: Address) -> Iterator[tuple[bytes | None, bytes | None]]:
    """All that a topic holds now, in the order of each partition."""
    library, trouble = client.library(), client.Trouble(at.name)
    consumer = client.consumer(at, trouble)
    try:
        left: dict[int | None, int] = {}
        for topic, partition in client.partitions(consumer, at, trouble):
            low, high = client.ends(consumer, at, topic, partition)
            if low < high:
                left[partition] = high
                consumer.incremental_assign([library.TopicPartition(topic, partition, low)])
        while left:
            message = consumer.poll(client.WAIT_S)
            trouble.check()
            if message is None:
                raise ConnectError(f"{at.name}: no server answers")
            error = message.error()
            if error is None:
                yield message.key(), message.value()
            elif error.code() == library.KafkaError._PARTITION_EOF:
                left.pop(message.partition(), None)
            elif not error.retriable():
                client.failed(at.name, error)
    finally:
        consumer.close()


def _pack(name: str, number: int, records: Sequence[Record]) -> bytes:
    rows = [[to_base64(key), to_base64(value), at_ms, content_type] for key, value, at_ms, content_type in records]
    return json.dumps({"name": name, "number": number, "messages": rows}).encode()


def _unpack(position: bytes | None) -> tuple[str, int, list[Record]]:
    if not position:
        return f"millstream-{uuid.uuid4().hex}", 0, []
    try:
        found = json.loads(position)
        rows = [Record(from_base64(key), from_base64(value), at_ms, kind) for key, value, at_ms, kind in found["messages"]]
        number = int(found["number"])
        # What covers nothing was not sent, so its number is still to be had.
        return str(found["name"]), number if rows else number - 1, rows
    except (ValueError, KeyError, TypeError):
        raise OptionError(f"{position[:60]!r} is no position of a sink to Kafka") from None
