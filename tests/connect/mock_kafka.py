"""A Kafka cluster inside the client's library: no Java, a hundredth of a second to start, four partitions a topic."""

from __future__ import annotations

import logging
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

PARTITIONS = 4
_QUIET = logging.getLogger("mock")
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


class MockKafka:
    """A cluster that is there as long as somebody has this."""

    def __init__(self) -> None:
        self._producer = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none"}, logger=_QUIET)
        brokers = self._producer.list_topics(timeout=10).brokers.values()
        self.servers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)

    def connect(self) -> None:
        """A producer for servers that run elsewhere."""
        self._producer = Producer({"bootstrap.servers": self.servers}, logger=_QUIET)

    def send(
        self,
        topic: str,
        value: str | bytes | None,
        at_ms: int = 0,
        partition: int = 0,
        key: str | bytes | None = None,
        headers: Any = None,
    ) -> None:
        """One message."""
        self._producer.produce(topic, value, key, partition=partition, timestamp=at_ms, headers=headers)

    def flush(self) -> None:
        assert self._producer.flush(10) == 0

    def messages(self, topic: str) -> list[Any]:
        """All messages of a topic, partition by partition."""
        settings: dict[str, Any] = {"bootstrap.servers": self.servers, "group.id": "looking", "enable.partition.eof": True}
        consumer = Consumer(settings, logger=_QUIET)
        found: list[Any] = []
        try:
            places = consumer.list_topics(topic, timeout=10).topics[topic].partitions
            consumer.assign([TopicPartition(topic, number, 0) for number in places])
            left = set(places)
            while left:
                message = consumer.poll(10)
                assert message is not None
                if message.error() is not None:
                    left.discard(message.partition())
                else:
                    found.append(message)
        finally:
            consumer.close()
        return sorted(found, key=lambda message: (message.partition(), message.offset()))
