"""How messages become elements, as one JSON text that tasks are handed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from millstream.ingest.change_messages import ChangeReader, is_change_format
from millstream.ingest.lanes import Reader
from millstream.ingest.message_reader import MessageReader
from millstream.ingest.upserts import upsert_reader
from millstream.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """See `millstream.ingest.messages`; whoever makes these has them checked."""

    format: str | None = None
    time: str | None = None
    element: str | None = None
    base: str | None = None
    limits: Limits = field(default=DEFAULT_LIMITS)
    upsert: bool = False
    """Whether a message is the state of its key, which changes a graph."""

    def __post_init__(self) -> None:
        self.reader(changes=self.format is not None and is_change_format(self.format))

    def reader(self, *, changes: bool) -> Reader:
        """Reads messages by these options: elements, or changes of graphs."""
        if self.upsert:
            return upsert_reader(self.format, self.time, self.element, self.base, self.limits)
        if changes:
            return ChangeReader(self.format, self.time, self.base, self.limits)
        return MessageReader(self.format, self.time, self.element, self.base, self.limits)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> MessageOptions:
        found: Mapping[str, Any] = json.loads(text)
        return cls(**{**found, "limits": Limits.of(found["limits"])})
