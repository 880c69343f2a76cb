"""How messages become elements, as one JSON text that tasks are handed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from millstream.ingest.messages import MessageReader
from millstream.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """See `millstream.ingest.messages`; whoever makes these has them checked."""

    format: str | None = None
    time: str | None = None
    element: str | None = None
    base: str | None = None
    limits: Limits = field(default=DEFAULT_LIMITS)

    def __post_init__(self) -> None:
        self.reader()

    def reader(self, *, graphs: bool = False) -> MessageReader:
        """Reads messages by these options."""
        return MessageReader(self.format, self.time, self.element, self.base, self.limits, graphs=graphs)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> MessageOptions:
        found: Mapping[str, Any] = json.loads(text)
        return cls(**{**found, "limits": Limits.of(found["limits"])})
