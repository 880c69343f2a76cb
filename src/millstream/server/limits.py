"""How much clients may ask of a server: sizes, numbers, seconds. What is beyond is refused with a clear error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from millstream.limits import NamedLimits

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ServerLimits(NamedLimits):
    """Sizes in bytes, times in seconds; docs/operate.md says what each protects from."""

    whose: ClassVar[str] = " of a server"
    may_be_none: ClassVar[tuple[str, ...]] = ("one_offs",)

    body_bytes: int = 64 * _MIB
    """One request's body, after decompression; a body that is taken piece by piece may be longer."""
    header_bytes: int = 32 * 1024
    """Request line and headers."""
    query_bytes: int = 256 * 1024
    """The text of a query."""
    queries: int = 1_000
    """Registered queries."""
    streams: int = 10_000
    """Streams that were ever pushed to."""
    connections: int = 4_096
    """Connections that are open at once, subscribers included."""
    subscribers: int = 2_048
    """Subscriptions of all queries."""
    subscriber_events: int = 1_000
    """Events that wait for one subscriber; beyond, it gets a fresh snapshot."""
    subscriber_bytes: int = 8 * _MIB
    """The same in bytes."""
    horizon_events: int = 10_000
    """Events that are kept of each query, for those who resume."""
    horizon_bytes: int = 16 * _MIB
    """The same in bytes."""
    pending_answers: int = 10_000_000
    """Answers that one request may bring; see `max_pending` of the engine."""
    waiting_requests: int = 1_024
    """Requests that wait for the engine."""
    waiting_bytes: int = 256 * _MIB
    """Bodies of those."""
    one_offs: int = 2
    """One-off queries that run at once; 0 switches them off."""
    one_offs_waiting: int = 16
    """One-off queries that wait for their turn."""
    one_off_seconds: int = 30
    one_off_rows: int = 1_000_000
    one_off_bytes: int = 64 * _MIB
    """The result of a one-off query."""
    one_off_memory: int = 1024 * _MIB
    """What a one-off query may need beyond the datasets themselves."""
    head_seconds: int = 10
    """How long the head of a request may take."""
    body_seconds: int = 30
    """How long a body may make no progress."""
    send_seconds: int = 30
    """How long a client may not read what it is sent."""
