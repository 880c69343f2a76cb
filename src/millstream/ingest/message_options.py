"""How messages of a source become elements or changes: which reader they have, and its options as a JSON text for tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from millstream.ingest.change_messages import ChangeReader, is_change_format
from millstream.ingest.chunk import Want
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
    """Whether a message replaces what its key stated before, instead of saying what changes."""

    def __post_init__(self) -> None:
        self.reader(changes=self.format is not None and is_change_format(self.format))

    def reader(self, *, changes: bool, graphs: bool = False) -> Reader:
        """Reads messages by these options: elements, or changes of graphs."""
        if self.upsert:
            return upsert_reader(self.format, self.time, self.element, self.base, self.limits)
        if changes:
            return ChangeReader(self.format, self.time, self.base, self.limits)
        return MessageReader(self.format, self.time, self.element, self.base, self.limits, graphs=graphs)

    def reader_for(self, want: Want) -> Reader:
        """The same for whoever reads the source, who comes first with what is said of both."""
        said = {name: getattr(want, name) or getattr(self, name) for name in ("format", "time", "element", "base")}
        return replace(self, **said, limits=want.limits).reader(changes=want.changes, graphs=want.graphs)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> MessageOptions:
        found: Mapping[str, Any] = json.loads(text)
        return cls(**{**found, "limits": Limits.of(found["limits"])})
