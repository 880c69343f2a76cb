"""Server-sent events from a server that misbehaves: it cuts connections, repeats nothing, and says odd things."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

import millstream as ms

STREAM = "http://e/s"
ALL = f"SELECT ?o WHERE {{ STREAM <{STREAM}> [RANGE 1h] {{ ?s <http://e/p> ?o }} }}"
COUNT = 20


class Handler(BaseHTTPRequestHandler):
    """Sends a few events behind the last id, cuts the next in the middle, and ends with no content."""

    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        last = self.headers.get("Last-Event-ID")
        self.asked.append(last)
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.end_headers()
            return
        if self.path == "/page":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html>")
            return
        if self.path == "/missing":
            self.send_error(404)
            return
        first = 0 if last is None else int(last) + 1
        if first >= COUNT:
            self.send_response(204)
            self.end_headers()
            return
        if len(self.asked) % 4 == 3:
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.end_headers()
        self.wfile.write(b"retry: 1\n: a comment\n\n")
        for number in range(first, min(first + 7, COUNT)):
            value = {"@id": "http://e/a", "http://e/p": str(number)} if self.path == "/ld" else {"id": "a", "p": str(number)}
            lines = json.dumps(value, indent=1).splitlines()
            self.wfile.write(b"event: message\r\nid: %d\n" % number)
            self.wfile.write("".join(f"data: {line}\n" for line in lines).encode())
            self.wfile.write(b"unknown: field\n\nevent: other\ndata: nonsense\n\n")
        self.wfile.write(b'id: 999\ndata: {"@id": "htt')

    def log_message(self, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    Handler.asked = []
    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{found.server_address[1]}"
    found.shutdown()
    found.server_close()
    thread.join(30)


def test_cut_connections_lose_and_repeat_nothing(server: str) -> None:
    engine = ms.Engine()
    query = engine.register(ALL)
    engine.read(STREAM, ms.sse(f"{server}/ld", format="jsonld", event="message"))
    assert [answer.bindings["o"].value for answer in query.take()] == [str(number) for number in range(COUNT)]
    assert json.loads(engine.positions[STREAM]) == {"last_event_id": str(COUNT - 1)}
    assert not engine.rejected()


def test_going_on_from_a_position(server: str) -> None:
    engine = ms.Engine()
    query = engine.register(ALL)
    source = ms.sse(f"{server}/plain", context={"@vocab": "http://e/", "id": "@id"}, base="http://e/", event="message")
    engine.read(STREAM, source, since=b'{"last_event_id": "15"}')
    assert [answer.bindings["o"].value for answer in query.take()] == ["16", "17", "18", "19"]
    assert Handler.asked[0] == "15"


def test_servers_that_send_something_else(server: str) -> None:
    engine = ms.Engine()
    for path, said in (("page", "not text/event-stream"), ("missing", "404"), ("redirect", "not allowed")):
        with pytest.raises(ms.ConnectError, match=said):
            engine.read(STREAM, ms.sse(f"{server}/{path}", format="jsonld"))
    with pytest.raises(ms.ConnectError, match="no server answers"):
        engine.read(STREAM, ms.sse("http://127.0.0.1:1/", format="jsonld"))
    with pytest.raises(ms.OptionError, match="no address"):
        ms.sse("file:///etc/passwd")
    with pytest.raises(ms.OptionError, match="no position"):
        engine.read(STREAM, ms.sse(server, format="jsonld"), since=b"x")
