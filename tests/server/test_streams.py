"""Elements over HTTP: what an element is and when it happened, long bodies, and one way that gives what the other does."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from millstream.cli.serve import with_source
from millstream.engine import Engine
from millstream.server.durable import commands as c
from millstream.server.durable.commands import Command
from millstream.server.durable.state import ServerState
from millstream.server.limits import ServerLimits
from millstream.server.settings import QuerySetting, StreamSetting
from tests.cli.running import element
from tests.server.serving import STREAM, Serving, serving, triple, until

ALL = "SELECT ?x ?y WHERE { STREAM <http://e/a> [ALL] { ?x <http://e/p> ?y } }"
TRIG = "<http://e/g> { <http://e/a> <http://e/p> 1, 2 } <http://e/g> <http://www.w3.org/ns/prov#generatedAtTime> 5 ."
JSON_LINES = '{"@id": "http://e/a", "http://e/p": "x"}\n{"@id": "http://e/b", "http://e/p": "y"}\n'
CSV = "s,p,o,at_ms\n<http://e/a>,<http://e/p>,<http://e/b>,5\n<http://e/b>,<http://e/p>,<http://e/b>,6\n"


@pytest.fixture
def server() -> Iterator[Serving]:
    with serving() as found:
        found.register(ALL, "all", output="changes")
        yield found


def told(server: Serving) -> dict[str, int]:
    found = server.http.get("/queries/all").json()
    return {"elements": found["elements"], "answers": found["answers"]}


@pytest.mark.parametrize(
    ("media_type", "body", "params", "elements"),
    [
        ("application/n-triples", f"{triple('a', 1)}\n{triple('b', 2)}", {"at_ms": "5"}, 1),
        ("application/n-triples", f"{triple('a', 1)}\n{triple('b', 2)}", {"at_ms": "5", "element": "line"}, 2),
        ("application/n-triples", f"{triple('a', 1)}\n{triple('b', 2)}", {}, 1),
        ("text/turtle", "@prefix : <http://e/> . :a :p 1 . :b :p 2 .", {"at_ms": "5"}, 1),
        ("text/turtle; charset=utf-8", "@prefix : <http://e/> . :a :p 1 . :b :p 2 .", {}, 1),
        ("application/n-quads", element("g1", 1, "a p b") + element("g2", 2, "b p c"), {}, 2),
        ("application/trig", TRIG, {}, 1),
        ("application/ld+json", '{"@id": "http://e/a", "http://e/p": ["x", "y"]}', {"at_ms": "5"}, 1),
        ("application/x-ndjson", JSON_LINES, {"at_ms": "5"}, 2),
        ("text/csv", CSV, {}, 2),
    ],
)
def test_what_an_element_is(server: Serving, media_type: str, body: str, params: dict[str, str], elements: int) -> None:
    kind = {"Content-Type": media_type}
    found = server.http.post("/streams", params={"iri": STREAM, **params}, content=body, headers=kind)
    assert (found.status_code, found.json()["elements"]) == (200, elements), found.text
    assert told(server) == {"elements": elements, "answers": 2}


def test_elements_without_a_time_happened_when_they_arrived(server: Serving) -> None:
    before = time.time_ns() // 1_000_000
    server.push(triple("a", 1))
    clock = int(server.http.get("/queries/all/answers").headers["X-Millstream-Clock"])
    assert before <= clock <= time.time_ns() // 1_000_000


def test_a_long_body_of_lines_is_taken_as_it_comes() -> None:
    with serving({"body_bytes": 50_000}) as server:
        server.register(ALL, "all", output="changes")
        lines = [(triple(f"x{number}", "y" * 1000) + "\n").encode() for number in range(3000)]
        cut = (part for line in lines for part in (line[:500], line[500:]))
        found = server.http.post("/streams", params={"iri": STREAM, "at_ms": "1", "element": "line"}, content=cut)
        assert found.status_code == 200
        assert found.json()["elements"] == 3000
        assert told(server) == {"elements": 3000, "answers": 3000}


def test_what_comes_of_an_endless_body_is_answered_while_it_comes(server: Serving) -> None:
    more = iter([(triple(f"x{number}", "y" * 1000) + "\n").encode() for number in range(2500)])

    def lines() -> Iterator[bytes]:
        for _ in range(1500):
            yield next(more)
        # The first megabyte was taken before the body has ended.
        with httpx.Client(base_url=server.url, headers=server.headers) as other:
            until(lambda: other.get("/queries/all").json()["answers"] > 900)
        yield from more

    params = {"iri": STREAM, "at_ms": "1", "element": "line"}
    assert server.http.post("/streams", params=params, content=lines()).json()["elements"] == 2500


@pytest.mark.parametrize("number", range(10))
def test_small_elements_are_taken_as_readers_take_them(number: int) -> None:
    chance = random.Random(number)
    states = [ServerState(Engine(), ServerLimits()) for _ in range(2)]
    for state in states:
        state.apply(Command(c.REGISTER, {"name": "all", "text": ALL, "output": "changes"}))
    for turn in range(20):
        body = "\n".join(
            chance.choice(
                [triple("a", chance.randrange(3)), "", "# said", "nonsense", '_:b <http://e/p> "1" .', triple("b", "\u00e4")]
            )
            for _ in range(chance.randrange(4))
        ).encode()
        clock_ms = turn * 10 - chance.choice([0, 0, 15])
        outcomes = []
        # The second name of the format is not that of small elements.
        for state, format in zip(states, ("application/n-triples", "ntriples"), strict=True):
            options = {"iri": STREAM, "format": format, "time": "arrival", "element": "file", "clock_ms": clock_ms}
            _, outcome = state.apply(Command(c.PUSH, options, body))
            events = [(event.position, event.at_ms, sorted(event.body)) for _, some in outcome.events for event in some]
            outcomes.append((outcome.value, events))
        assert outcomes[0] == outcomes[1]


# Sources of the server's own -------------------------------------------------------------------------------------------


def test_a_followed_folder_is_read_once_across_restarts(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.nq").write_text(element("g1", 1, "a p b") + element("g2", 2, "b p c"))
    streams = (StreamSetting(STREAM, str(folder)),)
    with serving(state=tmp_path / "state", streams=streams) as server:
        server.register(ALL, "all", output="changes")
        (folder / "2.nq").write_text(element("g3", 3, "c p d"))
        until(lambda: "http://e/d" in server.http.get("/queries/all/answers?format=csv").text)
        before = told(server)
    (folder / "3.nq").write_text(element("g4", 4, "d p e"))
    with serving(state=tmp_path / "state", streams=streams) as server:
        until(lambda: told(server)["answers"] == before["answers"] + 1)
        time.sleep(0.3)
        assert told(server)["answers"] == before["answers"] + 1


def test_a_topic_of_kafka_is_read_once_across_restarts(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka", reason="topics need confluent-kafka (pip install 'millstream[kafka]')")
    from millstream.connect.kafka.source import kafka_source
    from tests.connect.mock_kafka import MockKafka

    cluster = MockKafka()
    for number in range(10):
        cluster.send("in", triple(f"x{number}", number), number + 1)
    cluster.flush()
    address = f"kafka://{cluster.servers}/in?format=ntriples"
    assert with_source(StreamSetting(STREAM, address)).source is not None
    # The other partitions stay empty, and are not waited for as long as usual.
    setting = StreamSetting(STREAM, address, source=kafka_source(address, {}, follow=True, idle_s=0.2))
    queries = (QuerySetting("all", ALL, "changes"),)
    with serving(state=tmp_path / "state", streams=(setting,), queries=queries) as server:
        until(lambda: told(server)["answers"] == 10)
    for number in range(10, 20):
        cluster.send("in", triple(f"x{number}", number), number + 1)
    cluster.flush()
    with serving(state=tmp_path / "state", streams=(setting,), queries=queries) as server:
        until(lambda: told(server)["answers"] == 20)
        time.sleep(0.3)
        assert told(server) == {"elements": 20, "answers": 20}
    # Addresses may hold secrets.
    assert not any(cluster.servers.encode() in path.read_bytes() for path in (tmp_path / "state").iterdir())


def test_the_clock_on_the_wall_moves_event_time_where_it_is_asked_to() -> None:
    with serving(clock_ms=20) as server:
        server.register("SELECT ?x { STREAM <http://e/a> [RANGE 100ms] { ?x ?p ?y } }", "now", output="changes")
        server.push(triple("a", 1))
        until(lambda: server.http.get("/queries/now").json()["answers"] == 2)
