"""Topics as a source: every partition is a lane, read by one consumer that is told where to go on.

Positions are ours and part of an engine's snapshot; nothing is committed to the servers. Reading ends with the messages that
were there when it began, unless they are followed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from millstream.connect.kafka import client
from millstream.connect.kafka.gathering import PORTION, Gathering
from millstream.connect.kafka.options import EARLIEST, Address, address, first_offset, read_address, starting_offsets
from millstream.errors import ConnectError, OptionError
from millstream.ingest.chunk import Chunk, Want
from millstream.ingest.columns import Columns
from millstream.ingest.lanes import Lanes, LaneState, Reader, pack_position, unpack_position
from millstream.ingest.message_options import MessageOptions
from millstream.ingest.message_reader import MessageReader
from millstream.ingest.messages import Lane, Messages
from millstream.ingest.upserts import Upserts, keys_of
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.rdf import OnRejected

if TYPE_CHECKING:
    from confluent_kafka import Consumer

_TOGETHER = 10_000
_POLL_S = 0.05
_MOST_WAITING = 200_000
"""Elements of a partition that is ahead of others, beyond which it is not fetched."""
_NEW_PARTITIONS_S = 30.0


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """Messages of topics; what `Engine.read` is told of format, time and element comes first."""

    at: Address
    options: MessageOptions
    starting_offsets: str | dict[str, dict[int, int]] = EARLIEST
    follow: bool = False
    idle_s: float = 10.0
    """How long a partition without news holds the others back, where they are followed."""
    new_partitions_s: float = field(default=_NEW_PARTITIONS_S, repr=False)

    def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
        """What the topics have, or get."""
        if self.options.upsert and not want.changes:
            raise OptionError(f"{self.at.name}: upserts are changes of a graph; use read_changes")
        return _Reading(self, self.options.reader_for(want), want).chunks(since)


def kafka(
    servers: str,
    topic: str | list[str],
    *,
    format: str | None = None,
    time: str | None = None,
    element: str | None = None,
    base: str | None = None,
    follow: bool = False,
    idle_s: float = 10.0,
    starting_offsets: object = EARLIEST,
    upsert: bool = False,
    options: Mapping[str, object] | None = None,
) -> KafkaSource:
    """Topics of Kafka as a source for `Engine.read`: what is there now, or with `follow` also what comes later.

    For `Engine.read_changes` messages are RDF Patch or SPARQL Update; with `upsert` they are RDF, which replaces what their
    key stated before, and those without a value take it back.

    `format`: that of the messages; else their header `content-type` tells it. `time`: `timestamp` (default), `header:NAME`,
    `prov` or `predicate:<iri>`. `element`: `message` (default), `graph`, `line` or `subject`. `options` are those of the
    client, by the names of librdkafka.
    """
    said = MessageOptions(format, time, element, base, upsert=upsert)
    return KafkaSource(address(servers, topic, options), said, _offsets(starting_offsets), follow, idle_s)


_offsets = starting_offsets


def kafka_source(
    path: str, defaults: Mapping[str, str | None] | None = None, *, follow: bool = False, idle_s: float = 10.0
) -> KafkaSource:
    """The source that a `kafka://` address means; `defaults` are options of which it says nothing, where they fit."""
    at, options = read_address(path)
    found: dict[str, Any] = {name: options.get(name) for name in ("format", "time", "element", "base")}
    for name, value in (defaults or {}).items():
        if found.get(name) is None and value is not None and _fits(name, value):
            found[name] = value
    said = MessageOptions(**found, upsert=options.get("upsert", "false").lower() == "true")
    return KafkaSource(at, said, starting_offsets(options.get("startingOffsets", EARLIEST)), follow, idle_s)


def _fits(name: str, value: str) -> bool:
    try:
        given: dict[str, Any] = {name: value}
        MessageReader(**given)
    except OptionError:
        return False
    return True


class _LaneChunk(Chunk):
    """Messages as they came; which elements may be handed on is known when it is encoded, and so is the position."""

    def __init__(self, lanes: Lanes, messages: Messages | None, want: Want, upserts: _KeyedSource | None) -> None:
        super().__init__(self._take, is_idle=messages is None)
        self.is_placed = True
        self._lanes = lanes
        self._messages = messages
        self._want = want
        self._upserts = upserts
        self._place = lanes.position()

    def _take(self, dictionary: Dictionary, summary: Summary | None) -> Columns:
        columns = self._lanes.take(self._messages, dictionary, summary, self._want.on_rejected)
        if self._upserts is not None:
            columns = self._upserts.changes(columns, self._lanes, dictionary, self._want.on_rejected)
        # Something was still there to be handed on.
        self.is_idle = self._messages is None and not columns.elements
        self._place = self._lanes.position()
        self._messages = None
        return columns

    @property
    def position(self) -> bytes:
        return pack_position(self._place, None if self._upserts is None else self._upserts.dump())


class _KeyedSource:
    """Upserts of a reading: what keys state is part of the position, since compaction takes old messages away."""

    def __init__(self, since: bytes | None, floor_ms: Callable[[], int] | None) -> None:
        self._floor_ms = floor_ms
        self._before: dict[str, Any] = json.loads(since).get("stated", {}) if since else {}
        self._upserts = Upserts()
        self._dictionary: Dictionary | None = None

    def changes(self, columns: Columns, lanes: Lanes, dictionary: Dictionary, on_rejected: OnRejected | None) -> Columns:
        """What has changed, by what was handed on."""
        if self._dictionary is None:
            self._dictionary = dictionary
            self._upserts.load(self._before, dictionary)
        keyed = list(keys_of(lanes.handed(), on_rejected))
        at_ms = lanes.handed_ms() if self._floor_ms is None else np.maximum(lanes.handed_ms(), self._floor_ms())
        some = replace(columns, at_ms=at_ms)
        if len(keyed) < columns.elements:
            some = some.pick(np.array([number for number, _ in keyed], np.int64))
        return self._upserts.changes(some, [key for _, key in keyed], dictionary)

    def dump(self) -> dict[str, Any]:
        """What keys state now."""
        if self._dictionary is None:
            return {"stated": self._before}
        return {"stated": self._upserts.dump(self._dictionary)}


class _Reading:
    """One reading of a source."""

    def __init__(self, source: KafkaSource, reader: Reader, want: Want) -> None:
        self._source = source
        self._at = source.at
        self._reader = reader
        self._want = want
        self._trouble = client.Trouble(source.at.name)
        self._numbers: dict[tuple[str, int], int] = {}
        self._ends: dict[int, int] = {}
        self._paused: set[int] = set()

    def chunks(self, since: bytes | None) -> Iterator[Chunk]:
        source, prefix = self._source, self._want.blank_prefix or ""
        with self._consumer() as consumer:
            before = unpack_position(since, prefix) if since else {}
            states = {lane: state for lane, state in before.items() if lane.topic in self._at.topics}
            lanes = Lanes(self._reader, states, source.idle_s if source.follow else None)
            upserts = _KeyedSource(since, self._want.floor_ms) if source.options.upsert else None
            self._begin(consumer, lanes, bool(since))
            look_at = time.monotonic() + source.new_partitions_s
            while not lanes.has_ended:
                if source.follow and time.monotonic() >= look_at:
                    # Servers that are away for a while come back.
                    with suppress(ConnectError):
                        self._begin(consumer, lanes, True)
                    look_at = time.monotonic() + source.new_partitions_s
                yield _LaneChunk(lanes, self._poll(consumer, lanes), self._want, upserts)
                self._hold_back(consumer, lanes)

    @contextmanager
    def _consumer(self) -> Iterator[Consumer]:
        consumer = client.consumer(self._at, self._trouble)
        try:
            yield consumer
        finally:
            consumer.close()

    # Where to begin and to end ----------------------------------------------------------------------------------------

    def _begin(self, consumer: Consumer, lanes: Lanes, goes_on: bool) -> None:
        """Assigns the partitions that are not read yet; all that came after the first are read from their beginning."""
        topic_partition = client.library().TopicPartition
        known = lanes.position()
        assigned = []
        for topic, partition in client.partitions(consumer, self._at, self._trouble):
            if (topic, partition) in self._numbers:
                continue
            lane = Lane(topic, partition, self._want.blank_prefix or "")
            low, high = client.ends(consumer, self._at, topic, partition)
            state = known.get(lane)
            if state is None:
                given = EARLIEST if goes_on else self._source.starting_offsets
                begin = first_offset(given, topic, partition, low, high)
                state = LaneState(begin, seen=begin)
            number = lanes.add(lane, state)
            self._numbers[topic, partition] = number
            assigned.append(topic_partition(topic, partition, state.offset))
            if not self._source.follow:
                self._ends[number] = high
                if state.offset >= high:
                    lanes.end(number)
        for gone in (lane for lane in known if (lane.topic, lane.partition) not in self._numbers):
            raise ConnectError(f"{self._at.name}: partition {gone.partition} of {gone.topic}, which was read, is not there")
        if assigned:
            consumer.incremental_assign(assigned)

    # Messages ---------------------------------------------------------------------------------------------------------

    def _poll(self, consumer: Consumer, lanes: Lanes) -> Messages | None:
        first = consumer.poll(_POLL_S)
        self._trouble.check()
        if first is None:
            return None
        gathering = Gathering()
        portion: list[Any] = [first, *consumer.consume(PORTION - 1, 0)]
        self._gather(portion, gathering, lanes)
        while len(portion) == PORTION and len(gathering) < _TOGETHER:
            portion = consumer.consume(PORTION, 0)
            self._gather(portion, gathering, lanes)
        if not len(gathering):
            return None
        messages = gathering.messages(lanes.lanes)
        return self._up_to_ends(messages, lanes) if self._ends else messages

    def _gather(self, portion: list[Any], gathering: Gathering, lanes: Lanes) -> None:
        found = [message for message in portion if message.error() is None]
        if len(self._at.topics) == 1:
            of_partition = {partition: number for (_, partition), number in self._numbers.items()}
            places = [of_partition[message.partition()] for message in found]
        else:
            places = [self._numbers[message.topic(), message.partition()] for message in found]
        if len(found) == len(portion):
            for number in set(places):
                lanes.hear(number)
        else:
            # In order: what a partition says of its end holds until it brings something.
            for message in portion:
                if message.error() is not None:
                    self._hear(message, lanes)
                else:
                    lanes.hear(self._numbers[message.topic(), message.partition()])
        gathering.add(places, found)

    def _up_to_ends(self, messages: Messages, lanes: Lanes) -> Messages | None:
        """The messages that were there when reading began."""
        ends = np.array([self._ends[number] for number in range(len(self._ends))], np.int64)
        reached = messages.offset + 1 - ends[messages.lane]
        for number in np.unique(messages.lane[reached >= 0]).tolist():
            lanes.end(number)
        if (reached <= 0).all():
            return messages
        inside = np.flatnonzero(reached <= 0)
        return messages.pick(inside) if len(inside) else None

    def _hear(self, message: Any, lanes: Lanes) -> None:
        """What is no message says something: that a partition has no more, or what is wrong."""
        error = message.error()
        number = self._numbers.get((message.topic(), message.partition()))
        if error.code() == client.library().KafkaError._PARTITION_EOF:
            if number is not None:
                lanes.catch_up(number)
            if number is not None and number in self._ends:
                lanes.end(number)
        elif not error.retriable():
            client.failed(f"{message.topic()}/{message.partition()}", error)

    def _hold_back(self, consumer: Consumer, lanes: Lanes) -> None:
        """Does not fetch what would only wait for other partitions."""
        if len(self._numbers) < 2:
            return
        topic_partition = client.library().TopicPartition
        for (topic, partition), number in self._numbers.items():
            waiting = lanes.waiting(number)
            if waiting > _MOST_WAITING and number not in self._paused:
                consumer.pause([topic_partition(topic, partition)])
                self._paused.add(number)
            elif waiting < _MOST_WAITING // 2 and number in self._paused:
                consumer.resume([topic_partition(topic, partition)])
                self._paused.remove(number)
