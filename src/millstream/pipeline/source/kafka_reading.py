"""Reading topics in Spark's processes: where partitions end, and ranges of them as blobs.

Consumers stay with their process from one task to the next: what they fetched ahead is then there already.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from millstream.connect.kafka import client
from millstream.connect.kafka.gathering import PORTION, Gathering
from millstream.connect.kafka.options import Address, first_offset, starting_offsets
from millstream.errors import ConnectError
from millstream.ingest.message_options import MessageOptions
from millstream.ingest.messages import Lane, Messages
from millstream.pipeline.exchange.messages import elements_of, part_of
from millstream.pipeline.exchange.packing import packer_for
from millstream.pipeline.source.dead_letters import DeadLetters
from millstream.pipeline.source.reading import Counted, Reading
from millstream.pipeline.source.splits import Split
from millstream.pipeline.source.task_output import packed_batch
from millstream.pipeline.state.clock import LAST_PART

if TYPE_CHECKING:
    import pyarrow as pa

    from millstream.pipeline.source.kafka_source import TopicOptions

_TOGETHER = 20_000
_MOST_CONSUMERS = 16
_WAIT_S = 60.0
_consumers: OrderedDict[tuple[Any, ...], _Consumer] = OrderedDict()


class Topics:
    """What the servers say of topics, for whoever plans."""

    def __init__(self, at: Address) -> None:
        self._at = at
        self._trouble = client.Trouble(at.name)
        self._consumer = client.consumer(at, self._trouble)
        self._admin = client.admin(at, self._trouble)

    def ends(self) -> dict[tuple[str, int], int]:
        """For each partition the offset behind the last message that is committed."""
        places = client.partitions(self._consumer, self._at, self._trouble)
        return client.committed_ends(self._admin, self._at, places)

    def first_offset(self, topic: str, partition: int, given: Any) -> int:
        """Where to begin a partition."""
        low, high = client.ends(self._consumer, self._at, topic, partition)
        return first_offset(starting_offsets(given), topic, partition, low, high)


@lru_cache(maxsize=8)
def _topics(servers: str, topics: tuple[str, ...], settings: tuple[tuple[str, str], ...]) -> Topics:
    return Topics(Address(servers, topics, dict(settings)))


def topics_of(options: TopicOptions) -> Topics:
    """What the servers say; connections are kept."""
    return _topics(options.servers, options.topics, tuple(sorted(options.client.items())))


def blobs_of(
    options: TopicOptions, ranges: list[tuple[str, int, int, int, int]], idle: list[int], ended: bool
) -> Iterator[pa.RecordBatch]:
    """Ranges of partitions, parsed, matched and packed; then what else there is to tell of the source."""
    packer = packer_for(options.pack, options.source)
    reader = MessageOptions.from_json(options.messages).reader(changes=packer.takes_changes)
    for topic, partition, start, end, lane in ranges:
        letter = Split(path=f"{topic}/{partition}", source=options.source, sequence=start, start=partition)
        with DeadLetters(options.dead_letter, letter) as letters:
            counted, chunk = Counted(letters), 0
            packer.begin()
            for messages in _messages(options, topic, partition, start, end):
                columns, op = elements_of(messages, reader, packer, counted)
                packer.add(part_of(lane, start), chunk, Reading(columns, counted.take()), op)
                chunk += 1
                if packer.is_full:
                    yield packed_batch(packer.take())
            if not chunk:
                # Nothing but a sign that there is such a partition.
                yield packed_batch(packer.begins(part_of(lane, start)))
    yield packed_batch(packer.take())
    for lane in idle:
        yield packed_batch(packer.nothing(Split(source=options.source, sequence=part_of(lane, -1), beat=True)))
    if ended:
        news = Split(source=options.source, sequence=LAST_PART, ended=True, open=options.open)
        yield packed_batch(packer.nothing(news))


class _Consumer:
    """A consumer of one partition, and where it is."""

    def __init__(self, at: Address, topic: str, partition: int) -> None:
        self.at = at
        self.place = (topic, partition)
        self.offset = -1
        self.ahead: list[Any] = []
        self.trouble = client.Trouble(at.name)
        self.consumer = client.consumer(at, self.trouble)

    def seek(self, offset: int) -> None:
        """Goes on at an offset, which is mostly where it is."""
        if offset != self.offset:
            self.ahead = []
            self.consumer.assign([client.library().TopicPartition(*self.place, offset)])
            self.offset = offset

    def messages(self, end: int) -> Iterator[Messages]:
        """The messages up to an offset."""
        code = client.library().KafkaError._PARTITION_EOF
        lanes, gathering = [Lane(*self.place)], Gathering()
        while self.offset < end:
            polled: list[Any] = self.ahead or self._polled()
            self.ahead, found = [], []
            for number, message in enumerate(polled):
                error = message.error()
                if error is None and message.offset() < end:
                    found.append(message)
                elif error is None:
                    # The next batch begins with it; what lies between are marks of transactions.
                    self.ahead, self.offset = polled[number:], end
                    break
                elif error.code() == code:
                    self.offset = max(self.offset, int(message.offset() or 0))
                elif not error.retriable():
                    client.failed(self.at.name, error)
            if found:
                self.offset = max(self.offset, found[-1].offset() + 1)
                gathering.add([0] * len(found), found)
            if len(gathering) >= _TOGETHER:
                yield gathering.messages(lanes)
                gathering = Gathering()
        if len(gathering):
            yield gathering.messages(lanes)
        self.offset = end

    def _polled(self) -> list[Any]:
        first = self.consumer.poll(_WAIT_S)
        self.trouble.check()
        if first is None:
            raise ConnectError(f"{self.at.name}: no messages came for {_WAIT_S:.0f} s, though there are some")
        return [first, *self.consumer.consume(PORTION - 1, 0)]


def _messages(options: TopicOptions, topic: str, partition: int, start: int, end: int) -> Iterator[Messages]:
    if start >= end:
        return
    at = Address(options.servers, (topic,), dict(options.client))
    key = (options.servers, topic, partition, tuple(sorted(options.client.items())))
    found = _consumers.pop(key, None) or _Consumer(at, topic, partition)
    found.seek(start)
    yield from found.messages(end)
    # One that failed is not kept.
    _consumers[key] = found
    while len(_consumers) > _MOST_CONSUMERS:
        _, oldest = _consumers.popitem(last=False)
        oldest.consumer.close()
