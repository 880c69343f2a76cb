"""Requests that mean harm: without rights, too large, too slow, torn, malformed; and what nobody may learn from errors."""

from __future__ import annotations

import gzip
import json
import random
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from millstream.limits import Limits
from tests.server.serving import PATIENCE_S, SEEN, STREAM, Serving, serving, triple, until

LIMITS = {
    "body_bytes": 100_000,
    "header_bytes": 8_000,
    "query_bytes": 5_000,
    "queries": 3,
    "subscribers": 2,
    "pending_answers": 1_000,
    "head_seconds": 1,
    "body_seconds": 1,
    "connections": 50,
}


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving(LIMITS) as found:
        yield found


def raw(server: Serving, *parts: bytes, pause_s: float = 0.0) -> bytes:
    """Bytes as they are, on a connection of their own; gives all that comes back until it is closed."""
    with socket.create_connection(("127.0.0.1", server.server.port), timeout=PATIENCE_S) as connection:
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(pause_s)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it was closed already
        found = b""
        while part := _received(connection):
            found += part
        return found


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except ConnectionError:
        return b""


def head(server: Serving, line: str, *headers: str) -> bytes:
    token = f"Authorization: Bearer {server.server.token}"
    return "\r\n".join([f"{line} HTTP/1.1", "Host: x", token, *headers, "", ""]).encode()


def still_serves(server: Serving) -> None:
    assert server.http.get("/health").json() == {"status": "ok"}


# Sizes -----------------------------------------------------------------------------------------------------------------


def test_a_body_that_is_too_large_is_refused_however_its_length_is_told(server: Serving) -> None:
    body = (triple("a", "x" * 1000) + "\n") * 200
    params = {"iri": STREAM, "at_ms": "1"}
    assert server.http.post("/streams", params=params, content=body).status_code == 413
    chunked = (part.encode() for part in [body[:50_000]] * 5)
    assert server.http.post("/streams", params=params, content=chunked).status_code == 413
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < LIMITS["body_bytes"]
    assert server.http.post("/streams", params=params, content=bomb).status_code == 413
    still_serves(server)


def test_compressed_bodies_are_read_and_damaged_ones_refused(server: Serving) -> None:
    params = {"iri": STREAM, "at_ms": "1"}
    good = gzip.compress(triple("a", 1).encode() + b"\n")
    for content in (good, good + good):
        assert server.http.post("/streams", params=params, content=content).status_code == 200
    for content in (good[:-3], good[:10] + b"\xff" * 20):
        assert server.http.post("/streams", params=params, content=content).status_code == 400
    encoded = {"Content-Encoding": "br"}
    assert server.http.post("/streams", params=params, content=b"x", headers=encoded).status_code == 415


def test_large_headers_and_query_texts_are_refused(server: Serving) -> None:
    # A connection that is closed while more is sent may lose the response.
    assert raw(server, head(server, "GET /queries", f"X-Long: {'x' * 20_000}"))[:12] in (
        b"",
        b"HTTP/1.1 400",
        b"HTTP/1.1 431",
    )
    for head_bytes in ({"headers": {"X-Long": "x" * 9_000}}, {"params": {"x": "x" * 9_000}}):
        assert server.http.get("/queries", **head_bytes).status_code in (400, 431)
    assert server.http.post("/queries", json={"text": f"# {'x' * 9_000}\n{SEEN}"}).status_code == 413
    still_serves(server)


def test_queries_and_subscribers_are_counted() -> None:
    with serving(LIMITS) as server:
        for number in range(3):
            server.register(SEEN, f"q{number}")
        assert server.http.post("/queries", json={"name": "more", "text": SEEN}).status_code == 429
        with server.http.stream("GET", "/queries/q0/events"), server.http.stream("GET", "/queries/q0/events"):
            assert server.http.get("/queries/q0/events").status_code == 503
        until(lambda: len(_hub(server)) == 0)
        with server.http.stream("GET", "/queries/q0/events") as found:
            assert found.status_code == 200


def _hub(server: Serving) -> object:
    return server.server._uvicorn.config.app.state.service.hub  # type: ignore[union-attr]


def test_streams_are_counted() -> None:
    with serving({**LIMITS, "streams": 2}) as server:
        for name in ("a", "b", "a"):
            server.push(triple("x", 1), 1, stream=f"http://e/{name}")
        found = server.http.post("/streams", params={"iri": "http://e/c", "at_ms": "1"}, content=triple("x", 1))
        assert found.status_code == 429


def test_answers_that_are_too_many_change_nothing() -> None:
    with serving(LIMITS) as server:
        server.register("SELECT * { STREAM <http://e/a> [ALL] { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } }", "many")
        # The engine looks closer once it has seen how many answers a request can bring.
        server.push("\n".join(triple("a", number) for number in range(20)), 1)
        body = "\n".join(triple("b", number) for number in range(20))
        found = server.http.post("/streams", params={"iri": STREAM, "at_ms": "1"}, content=body)
        assert found.status_code == 413
        assert server.http.get("/queries/many").json()["answers"] == 20**3
        assert server.push(triple("a", 1), 1)["elements"] == 1


# Time ------------------------------------------------------------------------------------------------------------------


def test_a_head_that_never_ends_is_let_go(server: Serving) -> None:
    # Slow loris: many connections, each a byte now and then.
    connections = [socket.create_connection(("127.0.0.1", server.server.port), timeout=PATIENCE_S) for _ in range(20)]
    for connection in connections:
        connection.sendall(b"GET /health HTTP/1.1\r\nX-A: ")

    def drip() -> None:
        for _ in range(100):
            for connection in connections:
                try:
                    connection.sendall(b"b")
                except OSError:
                    return
            time.sleep(0.1)

    dripping = threading.Thread(target=drip, daemon=True)
    dripping.start()
    still_serves(server)
    for connection in connections:
        assert _received(connection) == b""
        connection.close()
    dripping.join(PATIENCE_S)
    still_serves(server)


def test_a_connection_that_says_nothing_is_let_go(server: Serving) -> None:
    with socket.create_connection(("127.0.0.1", server.server.port), timeout=PATIENCE_S) as connection:
        assert _received(connection) == b""


def test_a_second_head_that_never_ends_is_let_go_too(server: Serving) -> None:
    with socket.create_connection(("127.0.0.1", server.server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /hea")
        found = b""
        while part := _received(connection):
            found += part
        assert found.startswith(b"HTTP/1.1 200")


def test_a_body_that_stops_coming_is_refused(server: Serving) -> None:
    request = head(server, f"POST /streams?iri={STREAM}&at_ms=1", "Content-Length: 50", "Content-Type: text/turtle")
    with socket.create_connection(("127.0.0.1", server.server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(request + b"<http://e/a>")
        assert connection.recv(100).startswith(b"HTTP/1.1 408")


# Torn and malformed ----------------------------------------------------------------------------------------------------


def test_a_body_that_is_cut_short_has_no_effect() -> None:
    with serving(LIMITS) as server:
        server.register(SEEN, "seen")
        kind = "Content-Type: application/n-triples"
        line = f"POST /streams?iri={STREAM}&at_ms=1"
        raw(server, head(server, line, "Content-Length: 500", kind) + triple("a", 1).encode())
        chunked = head(server, line, "Transfer-Encoding: chunked", kind)
        raw(server, chunked + b"20\r\n" + triple("a", 1).encode()[:10])
        still_serves(server)
        assert server.http.get("/queries/seen").json()["elements"] == 0


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /queries HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /queries HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /update HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /queries/%00%ff%2e%2e HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /queries?" + b"a=b&" * 1000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_what_is_no_request_harms_nobody(server: Serving, request_bytes: bytes) -> None:
    found = raw(server, request_bytes)
    assert b"HTTP/1.1 2" not in found
    assert b"Traceback" not in found
    still_serves(server)


HOSTILE_BODIES = [
    ("application/rdf+xml", b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><rdf:RDF>&e;</rdf:RDF>'),
    ("application/ld+json", b'{"@context": "http://127.0.0.1:1/context", "@id": "http://e/a", "p": "x"}'),
    ("application/ld+json", b"[" * 50_000),
    ("text/turtle", b"@prefix : <http://e/> . :a :b " + b"[ :c " * 10_000),
    ("text/turtle", b"@prefix : <file:///etc/passwd> . :a :b :c"),
    ("application/n-quads", b"\xff\xfe\x00garbage" * 100),
    ("application/vnd.apache.parquet", b"PAR1" + b"\x00" * 100 + b"PAR1"),
    ("application/vnd.apache.arrow.stream", b"ARROW1\x00\x00" + b"\xff" * 100),
    ("text/csv", b"s,p,o\n" + b'"' * 1000),
    ("application/x-ndjson", b'{"@id": ' * 1000),
]


@pytest.mark.parametrize(("media_type", "body"), HOSTILE_BODIES)
def test_hostile_bodies_are_refused_or_set_aside(server: Serving, media_type: str, body: bytes) -> None:
    kind = {"Content-Type": media_type}
    pushed = server.http.post("/streams", params={"iri": STREAM, "at_ms": "1"}, content=body, headers=kind)
    assert pushed.status_code in (200, 400, 413, 415)
    put = server.http.put("/datasets?graph=http://e/g", content=body, headers=kind)
    assert put.status_code in (400, 413, 415)
    for found in (pushed, put):
        assert "root:" not in found.text
        assert "/site-packages" not in found.text
        assert "Traceback" not in found.text
        assert isinstance(found.json(), dict)
    still_serves(server)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "iri"),
        ({"iri": "not an iri"}, "IRI"),
        ({"iri": STREAM, "at_ms": "soon"}, "at_ms"),
        ({"iri": STREAM, "at_ms": "9" * 30}, "at_ms"),
        ({"iri": STREAM, "at_ms": str(1 << 62)}, "2^59"),
        ({"iri": STREAM, "at_ms": "1", "time": "prov"}, "not both"),
        ({"iri": STREAM, "time": "rate:5"}, "rate"),
        ({"iri": STREAM, "time": "sometimes"}, "sometimes"),
        ({"iri": STREAM, "element": "everything"}, "everything"),
        ({"iri": STREAM, "atms": "1"}, "atms"),
    ],
)
def test_parameters_that_mean_nothing_are_refused_with_what_is_wrong(
    server: Serving, params: dict[str, str], said: str
) -> None:
    found = server.http.post("/streams", params=params, content=triple("a", 1))
    assert found.status_code == 400
    assert said in found.json()["error"]


WORDS = (
    '\ud800 " < > { } ?x SELECT ASK CONSTRUCT [RANGE STREAM 1s] ALL] . \x00 \\u0000 _:b <http://e/p> "x"@en 5 1e400 \u00e4 '
    "# ^^ FILTER ( ) GROUP BY COUNT(*) LIMIT OPTIONAL GRAPH ?g UNION FROM REGISTER AS INSERT DATA DELETE A D PREFIX : <http://e/>"
).split(" ")
TYPES = [
    *(media_type for media_type, _ in HOSTILE_BODIES),
    *("application/n-triples", "application/trig", "application/json", "", "application/n-quads; version=1.2-messages"),
    *("application/sparql-update", "application/rdf-patch", "application/sparql-query", "application/x-www-form-urlencoded"),
]


def test_requests_of_random_words_are_refused_and_nothing_breaks(server: Serving) -> None:
    chance = random.Random(5)

    def words(most: int) -> str:
        return " ".join(chance.choice(WORDS) for _ in range(chance.randrange(most)))

    for _ in range(300):
        body = words(30).encode("utf-8", "surrogatepass")
        if chance.random() < 0.2:
            body = json.dumps({"text": words(30), "name": "x", "output": chance.choice([None, words(2)])}).encode()
        name = words(3).encode("utf-8", "replace").decode()
        method, path, params = chance.choice(
            [
                ("POST", "/queries", {}),
                ("POST", "/streams", {"iri": chance.choice([STREAM, name]), "at_ms": chance.choice(["5", name])}),
                ("POST", "/streams", {"iri": STREAM, "element": chance.choice(["line", "graph", name])}),
                ("PUT", "/datasets", {"graph": chance.choice(["http://e/g", name])}),
                ("POST", "/update", {}),
                ("POST", "/sparql", {"default-graph-uri": name}),
            ]
        )
        kind = {"Content-Type": chance.choice(TYPES)}
        found = server.http.request(method, path, params=params, content=body, headers=kind)
        assert found.status_code < 500 or found.status_code == 501, (method, path, params, kind, body, found.text)
    still_serves(server)


def test_errors_have_one_shape(server: Serving) -> None:
    for method, path, status in (("GET", "/nothing", 404), ("PATCH", "/queries", 405), ("GET", "/queries/none", 404)):
        found = server.http.request(method, path)
        assert (found.status_code, list(found.json())) == (status, ["error"])


def test_a_fault_of_the_engine_is_undone_and_told_without_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(LIMITS, state=tmp_path / "state") as server:
        server.register(SEEN, "seen")
        server.push(triple("a", 1), 1)
        service = server.server._uvicorn.config.app.state.service  # type: ignore[union-attr]
        broken = service.worker._state

        def fail(command: object) -> None:
            raise ZeroDivisionError("/secret/path")

        monkeypatch.setitem(broken._do, "push", fail)
        found = server.http.post("/streams", params={"iri": STREAM, "at_ms": "2"}, content=triple("b", 1))
        assert (found.status_code, "secret" in found.text) == (500, False)
        # The state was made again from disk, without it.
        assert server.push(triple("c", 1), 3)["elements"] == 1
        found = server.http.get("/queries/seen/answers", headers={"Accept": "text/csv"})
        assert sorted(found.text.split("\r\n")[1:-1]) == ["http://e/a,1", "http://e/c,1"]


def test_an_engine_that_stops_goes_on_without_what_stopped_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millstream.server.serving.DATA_LIMITS", Limits(change_rows=2_000))
    with serving(LIMITS, state=tmp_path / "state") as server:
        server.register("SELECT * { STREAM <http://e/a> [ALL] { ?a ?b ?c . ?d ?b ?f . ?g ?b ?i } }", "many")
        server.push(triple("a", 1), 1)
        body = "\n".join(triple("b", number) for number in range(50))
        found = server.http.post("/streams", params={"iri": STREAM, "at_ms": "2"}, content=body)
        assert (found.status_code, "rows" in found.json()["error"]) == (413, True)
        assert server.push(triple("a", 2), 3)["elements"] == 1
        assert server.http.get("/queries/many").json()["answers"] == 8
    with serving(LIMITS, state=tmp_path / "state") as server:
        assert server.http.get("/queries/many").json()["answers"] == 8


def test_a_log_that_cannot_be_written_ends_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(LIMITS, state=tmp_path / "state") as server:
        service = server.server._uvicorn.config.app.state.service  # type: ignore[union-attr]

        def full(data: bytes) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(service.worker._storage._log, "_write", full)
        found = server.http.post("/streams", params={"iri": STREAM, "at_ms": "2"}, content=triple("b", 1))
        assert found.status_code == 503
        assert "log" in json.loads(found.text)["error"]
        until(lambda: server.server.failed)
