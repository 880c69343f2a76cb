"""What is measured: counts for Prometheus, and of each query how fast it answers and how long that takes."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SPAN_S = 60.0
_KEPT = 1_024
_REASONS = 20
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Meter:
    """A rate over the last minute, and the latest durations."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._seconds: deque[list[float]] = deque()
        self._durations: deque[float] = deque(maxlen=_KEPT)

    def add(self, count: int, seconds: float | None = None) -> None:
        """Something happened some times, and took so long."""
        now = time.monotonic()
        if self._seconds and now - self._seconds[-1][0] < 1.0:
            self._seconds[-1][1] += count
        else:
            self._seconds.append([now, count])
        self._forget(now)
        if seconds is not None:
            self._durations.append(seconds)

    def _forget(self, now: float) -> None:
        while self._seconds and now - self._seconds[0][0] > _SPAN_S:
            self._seconds.popleft()

    @property
    def rate(self) -> float:
        """How many there were a second."""
        now = time.monotonic()
        self._forget(now)
        return sum(count for _, count in self._seconds) / min(_SPAN_S, max(1.0, now - self._began))

    def quantile_ms(self, share: float) -> float | None:
        """The duration that a share of the latest did not exceed."""
        found = sorted(self._durations)
        return round(1000 * found[min(len(found) - 1, int(share * len(found)))], 3) if found else None


class StreamMeter:
    """What came by one stream since the server started, and why some of it was set aside."""

    def __init__(self) -> None:
        self._meter = Meter()
        self._counts = {"elements": 0, "late": 0, "rejected": 0}
        self._reasons: deque[dict[str, Any]] = deque(maxlen=_REASONS)
        self._last_s: float | None = None

    def add(self, taken: dict[str, Any]) -> None:
        self._last_s = time.time()
        for name in self._counts:
            self._counts[name] += taken[name]
        self._meter.add(taken["elements"])
        self._reasons.extend({"at_ms": int(1000 * self._last_s), **reason} for reason in taken["reasons"])

    def described(self) -> dict[str, Any]:
        return {
            **self._counts,
            "elements_per_second": round(self._meter.rate, 3),
            "last_ms": None if self._last_s is None else int(1000 * self._last_s),
            "reasons": list(self._reasons),
        }


class Measures:
    """All of a server's; one registry for each, so that several can live in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.queries: dict[str, Meter] = {}
        self.streams: dict[str, StreamMeter] = {}
        self.elements = self._counter("elements", "Stream elements taken")
        self.late = self._counter("late", "Elements set aside because they came too late")
        self.rejected = self._counter("rejected", "Elements and statements set aside because they are malformed")
        self.changes = self._counter("dataset_changes", "Requests that changed datasets")
        self.one_offs = self._counter("one_offs", "One-off queries by how they ended", ("status",))
        self.requests = self._counter("requests", "HTTP requests by status", ("status",))
        self.answers = self._counter("answers", "Events by query", ("query",))
        self.lagged = self._counter("subscribers_lagged", "Times a subscriber could not keep up and got a snapshot")
        self.commits = self._counter("commits", "Groups of commands synced to the log")
        self.committed = self._counter("commands", "Commands in the log")
        self.subscribers = self._gauge("subscribers", "Subscriptions that are open")
        self.registered = self._gauge("queries", "Queries that are registered")
        self.waiting = self._gauge("waiting_requests", "Requests that wait for the engine")
        self.clock = self._gauge("clock_ms", "Event time that the engine has reached, in milliseconds")
        self.sync = Histogram("millstream_sync_seconds", "Syncing the log", registry=self.registry, buckets=_SECONDS)
        self.latency = Histogram(
            "millstream_latency_seconds",
            "From the arrival of a request to the emission of its answers",
            ("query",),
            registry=self.registry,
            buckets=_SECONDS,
        )

    def _counter(self, name: str, about: str, labels: tuple[str, ...] = ()) -> Counter:
        return Counter(f"millstream_{name}", about, labels, registry=self.registry)

    def _gauge(self, name: str, about: str) -> Gauge:
        return Gauge(f"millstream_{name}", about, registry=self.registry)

    def synced(self, seconds: float, commands: int) -> None:
        self.sync.observe(seconds)
        self.commits.inc()
        self.committed.inc(commands)

    def came(self, stream: str, taken: dict[str, Any]) -> None:
        """Elements were pushed to a stream, or read from its source."""
        for counter, name in ((self.elements, "elements"), (self.late, "late"), (self.rejected, "rejected")):
            counter.inc(taken[name])
        self.streams.setdefault(stream, StreamMeter()).add(taken)

    def answered(self, query: str, events: int, seconds: float) -> None:
        """Events of a query were emitted, so long after what brought them had come."""
        self.queries.setdefault(query, Meter()).add(events, seconds)
        self.answers.labels(query).inc(events)
        self.latency.labels(query).observe(seconds)

    def forget(self, query: str) -> None:
        """A query is gone."""
        if self.queries.pop(query, None) is not None:
            self.answers.remove(query)
            self.latency.remove(query)

    def text(self) -> bytes:
        return generate_latest(self.registry)
