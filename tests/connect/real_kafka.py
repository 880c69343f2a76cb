"""A Kafka broker in a process of its own, as tests use it."""

from __future__ import annotations

from pathlib import Path

from examples.kafka.broker import Broker, missing
from tests.connect.mock_kafka import MockKafka

__all__ = ["RealKafka", "missing"]


class RealKafka(Broker, MockKafka):
    """Sends and reads as the one inside the client's library does."""

    def __init__(self, folder: Path) -> None:
        Broker.__init__(self, folder)

    def start(self) -> None:
        super().start()
        self.connect()
