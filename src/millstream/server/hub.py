"""Subscribers: each has a bounded buffer of frames; whoever cannot keep up gets a fresh snapshot instead.

All of it is on the event loop. Events come in the order in which they happened, and a subscriber is entered in that order
too, so it misses none behind what it was given first.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from millstream.server.durable.events import Event
from millstream.server.durable.state import Registered
from millstream.server.limits import ServerLimits
from millstream.server.problems import TooManyError


@dataclass(slots=True, eq=False)
class Subscriber:
    """Who listens to one query."""

    name: str
    registration: int
    waiting: deque[Event] = field(default_factory=deque)
    size: int = 0
    lagged: bool = False
    """Whether events were thrown away: a snapshot is due."""
    closed: bool = False
    """Whether the query is gone, or the server ends."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self) -> list[Event]:
        """What waits."""
        found, self.size = list(self.waiting), 0
        self.waiting.clear()
        self.woken.clear()
        return found


class Hub:
    """All subscribers, by the query they listen to."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._by_name: dict[str, set[Subscriber]] = {}
        self._reserved = 0
        self._all_closed = False
        self.clock_ms = 0
        """The event time that the engine has reached."""

    def __len__(self) -> int:
        return self._reserved

    def count(self, name: str) -> int:
        return len(self._by_name.get(name, ()))

    def reserve(self) -> None:
        """A place for one more, until it is released; TooManyError if there is none."""
        if self._reserved >= self._limits.subscribers:
            raise TooManyError(f"there are {self._reserved} subscribers, which is the most this server takes.", status=503)
        self._reserved += 1

    def release(self) -> None:
        self._reserved -= 1

    def enter(self, subscriber: Subscriber) -> None:
        subscriber.closed = subscriber.closed or self._all_closed
        self._by_name.setdefault(subscriber.name, set()).add(subscriber)

    def leave(self, subscriber: Subscriber) -> None:
        found = self._by_name.get(subscriber.name)
        if found is not None:
            found.discard(subscriber)
            if not found:
                del self._by_name[subscriber.name]

    def publish(self, registered: Registered, events: list[Event]) -> None:
        """Puts events where their subscribers take them, or notes that they cannot keep up."""
        size = sum(len(event.body) for event in events)
        for subscriber in self._by_name.get(registered.name, ()):
            if subscriber.lagged:
                continue
            subscriber.waiting.extend(events)
            subscriber.size += size
            many = len(subscriber.waiting) > self._limits.subscriber_events
            if many or subscriber.size > self._limits.subscriber_bytes:
                subscriber.lagged = True
                subscriber.waiting.clear()
                subscriber.size = 0
            subscriber.woken.set()

    def close(self, name: str | None = None) -> None:
        """A query is gone; without a name, all end."""
        self._all_closed = self._all_closed or name is None
        for key in [name] if name is not None else list(self._by_name):
            for subscriber in self._by_name.get(key, ()):
                subscriber.closed = True
                subscriber.woken.set()
