"""A topic for what was set aside: messages as they were, with headers that say where they stood and what is wrong.

They are sent as they come, each at least once.
"""

from __future__ import annotations

from typing import Any

from millstream.connect.kafka.options import read_address
from millstream.connect.kafka.sink import Sender
from millstream.ingest.messages import RejectedMessage
from millstream.output import DeadLetters
from millstream.output.dead_letters import SHOWN
from millstream.rdf import Rejected


class TopicDeadLetters(DeadLetters):
    """Headers: source, reason, line and column; of a message also topic, partition and offset, besides its own."""

    def __init__(self, path: str) -> None:
        super().__init__(None)
        self._at, _ = read_address(path)
        self._sender: Sender | None = None

    def open(self, position: bytes | None = None) -> None:
        self._sender = Sender(self._at, None)

    def add(self, rejected: Rejected) -> None:
        assert self._sender is not None
        if len(self.first) < SHOWN:
            self.first.append(rejected)
        key, value, headers = None, rejected.text.encode("utf-8", "replace"), []
        told: dict[str, Any] = {"source": rejected.source, "reason": rejected.reason}
        told |= {"line": rejected.line, "column": rejected.column}
        if isinstance(rejected, RejectedMessage):
            message = rejected.message
            key, value, headers = message.key, message.value or b"", list(message.headers)
            told |= {"topic": message.topic, "partition": message.partition, "offset": message.offset}
        headers += [(name, str(text).encode("utf-8", "replace")) for name, text in told.items() if text is not None]
        self._sender.send_one(key, value, headers)

    def commit(self) -> bytes:
        if self._sender is not None:
            self._sender.flush()
        return b"0"

    def close(self) -> None:
        sender, self._sender = self._sender, None
        if sender is not None:
            sender.flush()
