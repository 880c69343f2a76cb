"""Server-sent events as a source of elements: each event a message, resumed by `Last-Event-ID`.

A connection that is lost is made again, at first at once, then less and less often. A server that sends no ids begins where
it likes.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time as clock
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from millstream.connect.pushed import Inbox, Pushed, chunks_of_inbox
from millstream.errors import ConnectError, OptionError
from millstream.ingest.chunk import Chunk, Want
from millstream.ingest.message_options import MessageOptions
from millstream.rdf.times import now_ms

_SILENT_S = 60.0
_FIRST_RETRY_S, _LAST_RETRY_S = 0.2, 30.0
_MOST_LINE = 16 << 20


@dataclass(frozen=True, slots=True)
class SseSource:
    """Events of a server, followed until it says that there are no more."""

    url: str
    options: MessageOptions
    event: str | None = None
    """Only events of this type."""
    context: object = None
    """For JSON that is no JSON-LD by itself: the context to read it by."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    attempts: int | None = None
    """How often in a row a connection may fail; None: as long as it takes, but the first must succeed."""

    def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
        """What comes behind a position, or from now on."""
        if want.changes:
            raise OptionError(f"{self.url}: changes are not read from events")
        reader = self.options.reader_for(want)
        reading = _Reading(self, _last_id(since))
        threading.Thread(target=reading.run, daemon=True, name="millstream-sse").start()
        return chunks_of_inbox(self.url, reading.inbox, reader, want, reading.close)


class _Reading:
    """One reading of a source, in a thread of its own."""

    def __init__(self, source: SseSource, last_id: str | None) -> None:
        self.inbox = Inbox()
        self._source = source
        self._last_id = last_id
        self._retry_s = _FIRST_RETRY_S
        self._number = clock.time_ns()
        self._response: Any = None

    def close(self) -> None:
        """Nobody wants more of it."""
        # Closing it would wait for whoever reads.
        with suppress(AttributeError, OSError):
            self._response.fp.raw._sock.shutdown(socket.SHUT_RDWR)

    def run(self) -> None:
        failed, has_connected = 0, False
        try:
            while not self.inbox.closed:
                try:
                    with self._opened() as response:
                        has_connected, failed = True, 0
                        self._response = response
                        self._read(response)
                except urllib.error.HTTPError as error:
                    error.close()
                    if error.code == 204:
                        self.inbox.end()
                        return
                    failed += 1
                    can_mend = error.code >= 500 or error.code in (408, 429)
                    if not can_mend or failed >= (self._source.attempts or failed + 1):
                        raise ConnectError(f"{self._source.url}: the server says {error.code} {error.reason}") from None
                except (OSError, http.client.HTTPException, ValueError) as error:
                    failed += 1
                    most = self._source.attempts
                    if (not has_connected and most is None) or (most is not None and failed >= most):
                        raise ConnectError(f"{self._source.url}: no server answers ({error})") from None
                self._wait(failed)
        except Exception as error:
            self.inbox.fail(error)

    def _wait(self, failed: int) -> None:
        until = clock.monotonic() + min(_LAST_RETRY_S, self._retry_s * 2 ** min(failed, 10))
        while clock.monotonic() < until and not self.inbox.closed:
            clock.sleep(0.02)

    def _opened(self) -> Any:
        headers = {"Accept": "text/event-stream", "User-Agent": "millstream"}
        if self._last_id is not None:
            # Headers are bytes; ids are UTF-8.
            headers["Last-Event-ID"] = self._last_id.encode().decode("latin-1")
        request = urllib.request.Request(self._source.url, headers=headers)
        for name, value in self._source.headers.items():
            # Secrets among them are for this server, not for one that it names.
            request.add_unredirected_header(name, value)
        response = _OPENER.open(request, timeout=_SILENT_S)
        if response.status == 204:
            raise urllib.error.HTTPError(self._source.url, 204, "No Content", response.headers, None)
        kind = response.headers.get_content_type()
        if kind != "text/event-stream":
            response.close()
            raise ConnectError(f"{self._source.url}: sends {kind}, not text/event-stream")
        return response

    def _read(self, response: Any) -> None:
        """Events until the connection ends; one that it cuts off is dropped, and comes again."""
        data: list[bytes] = []
        # The id of an event counts when the event is complete.
        kind, size, last_id = "message", 0, self._last_id
        while not self.inbox.closed:
            try:
                line = response.readline(_MOST_LINE)
            except TimeoutError:
                return
            if not line.endswith(b"\n"):
                if len(line) >= _MOST_LINE:
                    raise ConnectError(f"{self._source.url}: a line is longer than {_MOST_LINE} bytes")
                return
            line = line.rstrip(b"\r\n")
            if not line:
                self._last_id = last_id
                if data and (self._source.event is None or kind == self._source.event):
                    self._push(b"\n".join(data))
                data, kind, size = [], "message", 0
                continue
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                size += len(value)
                if size > _MOST_LINE:
                    raise ConnectError(f"{self._source.url}: an event is longer than {_MOST_LINE} bytes")
                data.append(value)
            elif name == b"event":
                kind = value.decode("utf-8", "replace")
            elif name == b"id" and b"\0" not in value:
                last_id = value.decode("utf-8", "replace")
            elif name == b"retry" and value.isdigit() and len(value) < 9:
                self._retry_s = int(value) / 1000

    def _push(self, value: bytes) -> None:
        self._number += 1
        if self._source.context is not None:
            value = _with_context(value, self._source.context)
        position = b"" if self._last_id is None else json.dumps({"last_event_id": self._last_id}).encode()
        self.inbox.put(Pushed(value, now_ms(), self._number, position))


# Of web servers only: other addresses, as those of files, are not opened.
_OPENER = urllib.request.OpenerDirector()
for _handler in (
    urllib.request.ProxyHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
    urllib.request.HTTPDefaultErrorHandler,
    urllib.request.HTTPErrorProcessor,
    urllib.request.HTTPRedirectHandler,
):
    _OPENER.add_handler(_handler())


def _with_context(value: bytes, context: object) -> bytes:
    """JSON as JSON-LD; what is no object stays as it is, for the parser to complain about."""
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return json.dumps({"@context": context, **found}).encode() if isinstance(found, dict) else value


def _last_id(since: bytes | None) -> str | None:
    if not since:
        return None
    try:
        return str(json.loads(since)["last_event_id"])
    except (ValueError, KeyError, TypeError):
        raise OptionError(f"since: {since[:60]!r} is no position in events") from None


def sse(
    url: str,
    *,
    format: str | None = None,
    time: str | None = None,
    element: str | None = None,
    base: str | None = None,
    event: str | None = None,
    context: object = None,
    headers: Mapping[str, str] | None = None,
    attempts: int | None = None,
) -> SseSource:
    """Server-sent events as a source for `Engine.read`, which follows them; options as those of `kafka`.

    `event`: only events of that type. `context`: a JSON-LD context for events that are plain JSON.
    """
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise OptionError(f"sse: {url!r} is no address of a web server")
    if context is not None and format is None:
        format = "jsonld"
    return SseSource(url, MessageOptions(format, time, element, base), event, context, dict(headers or {}), attempts)
