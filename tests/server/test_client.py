"""The client: what it makes of errors, and how it waits for a server that is gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from millstream.client import Client, ClientError
from tests.server.serving import ROOMS, SEEN, STREAM, Serving, free_port, serving, triple, values


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving({"one_offs": 1}) as found:
        yield found


def test_everything_that_a_server_does_has_a_call(server: Serving) -> None:
    with server.client() as client:
        assert client.register(ROOMS, "rooms", output="changes") == "rooms"
        client.put("<http://e/ann> <http://e/in> <http://e/lab> .")
        client.put("<http://e/ann> <http://e/in> <http://e/attic> .", graph="http://e/g")
        client.update("INSERT DATA { <http://e/ben> <http://e/in> <http://e/hall> }")
        assert values(client.answers("rooms")) == [("ann", "lab"), ("ben", "hall")]
        assert client.sparql("ASK { GRAPH <http://e/g> { ?x ?y ?z } }") is True
        assert values(client.sparql("SELECT ?x { ?x <http://e/in> <http://e/lab> }")) == [("ann",)]
        assert client.push(STREAM, [b"<http://e/a> <http://e/p> ", b"<http://e/b> ."], 5)["elements"] == 1
        assert [query["name"] for query in client.queries()] == ["rooms"]
        assert client.operators("rooms")["label"] == "conjunction 1: ?x ?y"
        client.close_query("rooms")
        assert client.queries() == []


def test_what_a_server_refuses_is_an_error_with_its_status(server: Serving) -> None:
    with server.client() as client:
        with pytest.raises(ClientError, match="line 1") as found:
            client.register("SELECT * {")
        assert found.value.status == 400
        with pytest.raises(ClientError) as found:
            client.query("none")
        assert found.value.status == 404
        assert list(client.subscribe("none")) == []
    with Client(server.url) as stranger, pytest.raises(ClientError, match="token"):
        next(stranger.subscribe("none"))


def test_a_server_that_is_not_there_is_waited_for_no_longer_than_told() -> None:
    with Client(f"http://127.0.0.1:{free_port()}") as client:
        with pytest.raises(ClientError, match="reached"):
            client.queries()
        with pytest.raises(ClientError, match="reached"):
            next(client.subscribe("any", patience_s=0.05))


def test_a_long_silence_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Days pass without an event; then the server is started again, and the subscription goes on.
    days = [0.0]
    monkeypatch.setattr("millstream.client.monotonic", lambda: 86_400 * days[0] + time.perf_counter())
    port, found = free_port(), []
    with serving(state=tmp_path / "state", port=port) as server:
        server.register(SEEN, "seen")
        link = server.server.url

        def listen() -> None:
            with Client(link) as client:
                for change in client.subscribe("seen", patience_s=60):
                    found.append(change)
                    if len(found) == 2:
                        return

        listening = threading.Thread(target=listen, daemon=True)
        listening.start()
        while not found:
            time.sleep(0.01)
        days[0] = 5
    with serving(state=tmp_path / "state", port=port) as server:
        server.push(triple("a", 1), 5)
        listening.join(60)
    assert [change.is_snapshot for change in found] == [True, False]
