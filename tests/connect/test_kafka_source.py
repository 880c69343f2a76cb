"""Topics as a source of the embedded engine, on a cluster inside the client's library."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import millstream as ms
from tests.connect.mock_kafka import MockKafka

STREAM = "http://e/s"
ALL = f"SELECT ?s ?o WHERE {{ STREAM <{STREAM}> [RANGE 1h] {{ ?s <http://e/p> ?o }} }}"
RECENT = f"SELECT ?s (COUNT(*) AS ?n) WHERE {{ STREAM <{STREAM}> [RANGE 3ms] {{ ?s <http://e/p> ?o }} }} GROUP BY ?s"


@pytest.fixture(scope="module")
def cluster() -> MockKafka:
    return MockKafka()


def triple(subject: object, value: object) -> str:
    return f'<http://e/{subject}> <http://e/p> "{value}" .'


def answers(query: ms.ContinuousQuery) -> list[tuple[int, int, str]]:
    return [(a.at_ms, a.weight, " ".join(map(str, a.bindings.values()))) for a in query.take()]


def pushed(messages: list[tuple[int, int]], text: str) -> list[tuple[int, int, str]]:
    """What a query says if the messages (partition, time) come in the order of their partitions' progress."""
    rows, progress = [], {}
    for number, (partition, at_ms) in enumerate(messages):
        progress[partition] = max(at_ms, progress.get(partition, 0))
        rows.append((progress[partition], partition, number, at_ms))
    engine = ms.Engine()
    query = engine.register(text)
    for _, partition, number, at_ms in sorted(rows):
        engine.push(STREAM, triple(partition, number), at_ms)
    engine.finish()
    return answers(query)


_topics = iter(range(10_000))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    messages=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 12)), max_size=12),
    text=st.sampled_from([ALL, RECENT]),
)
def test_partitions_come_in_one_order(cluster: MockKafka, messages: list[tuple[int, int]], text: str) -> None:
    topic = f"order-{next(_topics)}"
    for number, (partition, at_ms) in enumerate(messages):
        cluster.send(topic, triple(partition, number), at_ms, partition)
    cluster.flush()
    if not messages:
        return
    engine = ms.Engine()
    query = engine.register(text)
    engine.read(STREAM, ms.kafka(cluster.servers, topic, format="ntriples"))
    engine.finish()
    assert answers(query) == pushed(messages, text)


def test_a_snapshot_goes_on_where_it_was(cluster: MockKafka) -> None:
    topic = "snapshot"
    source = ms.kafka(cluster.servers, topic, format="ntriples")
    for number in range(10):
        cluster.send(topic, triple("a", number), number + 1, number % 3)
    cluster.flush()
    engine = ms.Engine()
    query = engine.register(ALL)
    engine.read(STREAM, source)
    found = answers(query)
    data = engine.snapshot()
    for number in range(10, 20):
        cluster.send(topic, triple("a", number), number + 1, number % 3)
    cluster.flush()
    for goes_on in (engine, ms.Engine.restore(data)):
        [again] = goes_on.queries
        goes_on.read(STREAM, source, since=goes_on.positions[STREAM])
        after = answers(again)
        assert len(found) == len(after) == 10
        assert {row[2] for row in found + after} == {f'<http://e/a> "{number}"' for number in range(20)}


def test_what_is_malformed_is_set_aside_with_its_place(cluster: MockKafka) -> None:
    for value in (triple("a", 1), "nonsense", triple("a", 2)):
        cluster.send("malformed", value, 1)
    cluster.flush()
    engine = ms.Engine()
    query = engine.register(ALL)
    engine.read(STREAM, ms.kafka(cluster.servers, "malformed", format="nt"))
    assert len(answers(query)) == 2
    [rejected] = engine.rejected()
    assert (rejected.source, rejected.line, rejected.text) == ("malformed/0 at offset 1", 1, "nonsense")
    strict = ms.Engine(strict=True)
    query = strict.register(ALL)
    with pytest.raises(ms.DataError, match="malformed/0 at offset 1"):
        strict.read(STREAM, ms.kafka(cluster.servers, "malformed", format="nt"))
    assert len(answers(query)) == 1


def test_following_a_topic(cluster: MockKafka) -> None:
    """Messages are answered as they come; a partition without any holds the others back no longer than it may."""
    topic = "followed"
    cluster.send(topic, triple("a", 0), 1)
    cluster.flush()
    engine = ms.Engine()
    seen: list[str] = []
    more = threading.Event()

    def on_answer(answer: ms.Answer) -> None:
        seen.append(answer.bindings["o"].value)
        more.set()

    engine.register(ALL, on_answer=on_answer)
    source = ms.kafka(cluster.servers, topic, format="ntriples", follow=True, idle_s=0.1)
    reading = threading.Thread(target=engine.read, args=(STREAM, source), daemon=True)
    reading.start()
    for number in range(1, 4):
        assert more.wait(20)
        more.clear()
        cluster.send(topic, triple("a", number), number + 1)
        cluster.flush()
    until = time.monotonic() + 20
    while len(seen) < 4 and time.monotonic() < until:
        time.sleep(0.01)
    assert seen == ["0", "1", "2", "3"]
    engine.stop_reading()
    reading.join(20)
    assert not reading.is_alive()
    cluster.send(topic, triple("a", 4), 9)
    cluster.flush()
    engine.read(STREAM, ms.kafka(cluster.servers, topic, format="ntriples"), since=engine.positions[STREAM])
    assert seen == ["0", "1", "2", "3", "4"]


def test_where_to_begin(cluster: MockKafka) -> None:
    for number in range(5):
        cluster.send("begin", triple("a", number), number + 1)
    cluster.flush()

    def read(offsets: object) -> set[str]:
        engine = ms.Engine()
        query = engine.register(ALL)
        engine.read(STREAM, ms.kafka(cluster.servers, "begin", format="ntriples", starting_offsets=offsets))
        return {row[2] for row in answers(query)}

    assert len(read("earliest")) == 5
    assert read("latest") == set()
    assert read({"begin": {0: 3}}) == {'<http://e/a> "3"', '<http://e/a> "4"'}
    with pytest.raises(ms.OptionError, match="startingOffsets"):
        read("yesterday")


def test_what_cannot_be_reached_is_told(cluster: MockKafka) -> None:
    engine = ms.Engine()
    with pytest.raises(ms.OptionError, match="refuses its options"):
        engine.read(STREAM, ms.kafka(cluster.servers, "t", format="nt", options={"no.such.option": "secret-value"}))
    with pytest.raises(ms.OptionError) as told:
        engine.read(STREAM, ms.kafka(cluster.servers, "t", format="nt", options={"security.protocol": "hunter2"}))
    assert "hunter2" not in str(told.value)
    assert "hunter2" not in repr(ms.kafka(cluster.servers, "t", format="nt", options={"sasl.password": "hunter2"}))
    with pytest.raises(ms.OptionError, match="topic is missing"):
        ms.kafka(cluster.servers, "")
    with pytest.raises(ms.OptionError, match=r"sasl\.username"):
        ms.kafka(cluster.servers, "t", options={"sasl.jaas.config": "x"})


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millstream.connect.kafka.client.WAIT_S", 0.5)
    engine = ms.Engine()
    with pytest.raises(ms.ConnectError, match="no server answers"):
        engine.read(STREAM, ms.kafka("127.0.0.1:1", "t", format="nt"))
