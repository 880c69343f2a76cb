"""/queries/NAME/events: a subscription, as Server-Sent Events."""

from __future__ import annotations

import asyncio
import re
import time
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from millstream.errors import MillstreamError
from millstream.server.durable.events import Event, frame, progress
from millstream.server.durable.state import ServerState, Snapshot
from millstream.server.http.tokens import READ
from millstream.server.hub import Subscriber
from millstream.server.problems import ServerError
from millstream.server.routes.requests import known_parameters, service_of
from millstream.server.service import Service

_ID = re.compile(r"(\d{1,18})\.(\d{1,18})")
_RETRY = b"retry: 1000\n\n"
_ALIVE = b": alive\n\n"
_ALIVE_S = 15.0
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


async def subscribe(request: Request) -> Response:
    """Begins with a snapshot, or with what came behind the last event that the client has."""
    service = service_of(request, READ)
    known_parameters(request, "last_event_id")
    if request.method == "HEAD":
        await service.worker.ask(lambda state: state.named(request.path_params["name"]))
        return Response(headers={name.decode(): value.decode() for name, value in _HEADERS})
    last = request.headers.get("last-event-id") or request.query_params.get("last_event_id")
    match = None if last is None else _ID.fullmatch(last.strip())
    if last and match is None:
        raise ServerError("Last-Event-ID is the id of an event of this server, such as 7.120.")
    service.hub.reserve()
    subscription = Subscription(service, request.path_params["name"])
    try:
        await subscription.begin(None if match is None else (int(match[1]), int(match[2])))
    except BaseException:
        subscription.end()
        raise
    return subscription


class Subscription(Response):
    """A response that goes on until the client leaves, the query is closed, or the server ends."""

    def __init__(self, service: Service, name: str) -> None:
        super().__init__()
        self._service = service
        self._name = name
        self._subscriber: Subscriber | None = None
        self._first: list[Event] = []
        self._sequence = 0

    async def begin(self, last: tuple[int, int] | None) -> None:
        """Enters among the subscribers with all that comes before what they are told next."""

        def look(state: ServerState) -> tuple[int, list[Event] | Snapshot]:
            events = None if last is None else state.resumed(self._name, *last)
            return state.named(self._name).registration, state.snapshot(self._name) if events is None else events

        def told(found: tuple[int, list[Event] | Snapshot]) -> None:
            registration, _ = found
            if self._subscriber is None:
                self._subscriber = Subscriber(self._name, registration)
                self._service.hub.enter(self._subscriber)
            else:
                # What came before the snapshot is in it.
                self._subscriber.take()
                self._subscriber.lagged = False

        _, found = await self._service.worker.ask(look, told)
        if isinstance(found, Snapshot):
            # The engine goes on while it is put into words.
            event = partial(found.event, missed=last is not None)
            self._first, self._sequence = [await asyncio.get_running_loop().run_in_executor(None, event)], 0
        else:
            self._first, self._sequence = found, 1

    def end(self) -> None:
        if self._subscriber is not None:
            self._service.hub.leave(self._subscriber)
        self._service.hub.release()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            left = asyncio.ensure_future(_left(receive))
            going = asyncio.ensure_future(self._go_on(send))
            try:
                await asyncio.wait((left, going), return_when=asyncio.FIRST_COMPLETED)
            finally:
                left.cancel()
                going.cancel()
            await asyncio.gather(left, going, return_exceptions=True)
        finally:
            self.end()

    async def _go_on(self, send: Send) -> None:
        subscriber, hub, every_s = self._subscriber, self._service.hub, self._service.progress_s
        assert subscriber is not None
        told_ms, told_at, sent_at = hub.clock_ms, time.monotonic(), time.monotonic()
        await self._send(send, _RETRY + self._frames(self._first) + progress(told_ms))
        while not subscriber.closed:
            try:
                async with asyncio.timeout(every_s):
                    await subscriber.woken.wait()
            except TimeoutError:
                pass
            parts = self._frames(subscriber.take())
            if subscriber.lagged:
                self._service.measures.lagged.inc()
                try:
                    await self.begin((-1, -1))
                except MillstreamError:
                    break  # the query is gone
                parts += self._frames(self._first)
            now = time.monotonic()
            if hub.clock_ms != told_ms and now - told_at >= every_s:
                told_ms, told_at = hub.clock_ms, now
                parts += progress(told_ms)
            if not parts and now - sent_at >= _ALIVE_S:
                parts = _ALIVE
            if parts:
                sent_at = now
                await self._send(send, parts)
        await self._send(send, self._frames(subscriber.take()))
        await send({"type": "http.response.body", "body": b"event: closed\ndata: {}\n\n"})

    def _frames(self, events: list[Event]) -> bytes:
        assert self._subscriber is not None
        found = []
        for event in events:
            found.append(frame(event, self._subscriber.registration, self._sequence))
            self._sequence += 1
        return b"".join(found)

    async def _send(self, send: Send, data: bytes) -> None:
        async with asyncio.timeout(self._service.limits.send_seconds):
            await send({"type": "http.response.body", "body": data, "more_body": True})


async def _left(receive: Receive) -> None:
    while True:
        message: Any = await receive()
        if message["type"] == "http.disconnect":
            return
