"""HTTP as uvicorn speaks it, with a bound on how long the head of a request may take: slow-loris clients are let go."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedProtocol(H11Protocol):
    """One connection; `head_s` is for all of them."""

    head_s = 10.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._has_request:
            self._stop_watching()
        elif self._timer is None:
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # What is there of the next request has begun to come already.
        if not self._has_request and self.conn.trailing_data[0]:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    @property
    def _has_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch(self) -> None:
        self._stop_watching()
        self._timer = self.loop.call_later(self.head_s, self._too_slow)

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        if not self._has_request and self.transport is not None and not self.transport.is_closing():
            self.transport.close()


def timed_protocol(seconds: float) -> type[TimedProtocol]:
    """The protocol with a bound of its own."""
    return type("BoundProtocol", (TimedProtocol,), {"head_s": seconds})
