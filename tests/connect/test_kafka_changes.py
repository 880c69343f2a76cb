"""Topics as changes of graphs: patches, updates, and keys whose messages replace each other."""

from __future__ import annotations

import random

import pytest

import millstream as ms
from tests.connect.mock_kafka import MockKafka

ALL = "SELECT ?s ?o WHERE { ?s <http://e/p> ?o }"


@pytest.fixture(scope="module")
def cluster() -> MockKafka:
    return MockKafka()


def triple(subject: object, value: object) -> str:
    return f'<http://e/{subject}> <http://e/p> "{value}" .'


def solutions(query: ms.ContinuousQuery) -> set[tuple[str, str]]:
    return {(row["s"].value.removeprefix("http://e/"), row["o"].value) for row in query.solutions()}


def test_patches_and_updates(cluster: MockKafka) -> None:
    cluster.send("changes", f"A {triple('a', 1)}\nA {triple('a', 2)}\n", 5)
    cluster.send("changes", f"D {triple('a', 1)}\n", 7)
    cluster.send("changes", "A nonsense .\n", 8)
    update = f"INSERT DATA {{ {triple('b', 3)} }}"
    cluster.send("changes", update, 9, headers={"content-type": b"application/sparql-update"})
    cluster.flush()
    engine = ms.Engine()
    query = engine.register(ALL)
    engine.read_changes(ms.kafka(cluster.servers, "changes"))
    assert [(a.at_ms, a.weight, a.bindings["o"].value) for a in query.take()] == [
        (5, 1, "1"),
        (5, 1, "2"),
        (7, -1, "1"),
        (9, 1, "3"),
    ]
    [rejected] = engine.rejected()
    assert rejected.source == "changes/0 at offset 2"
    assert list(engine.positions) == ["changes"]


@pytest.mark.parametrize("seed", range(6))
def test_keys_whose_messages_replace_each_other(cluster: MockKafka, seed: int) -> None:
    """Random states of a few keys, whose triples overlap, in two partitions; some after a snapshot.

    Of a key the last message counts, though its time may go back.
    """
    chance = random.Random(seed)
    topic, held = f"upserts-{seed}", {}
    source = ms.kafka(cluster.servers, topic, format="ntriples", upsert=True)
    engine = ms.Engine()
    query = engine.register(ALL)
    at_ms = 1
    for _ in range(4):
        for _ in range(chance.randrange(1, 12)):
            key, at_ms = chance.randrange(4), at_ms + chance.randrange(3)
            state = {(f"s{chance.randrange(2)}", str(chance.randrange(2))) for _ in range(chance.randrange(3))}
            held[key] = state
            value = "\n".join(triple(s, o) for s, o in state) if state or chance.random() < 0.5 else None
            cluster.send(topic, value, max(1, at_ms - chance.randrange(3)), key % 2, key=str(key))
        cluster.flush()
        engine.read_changes(source, since=engine.positions.get("changes"))
        assert solutions(query) == set().union(*held.values())
        if chance.random() < 0.7:
            engine = ms.Engine.restore(engine.snapshot())
            [query] = engine.queries
    assert engine.stats["late"] == 0


def test_upserts_need_keys_and_graphs(cluster: MockKafka) -> None:
    cluster.send("no-keys", triple("a", 1), 1)
    cluster.send("no-keys", triple("a", 2), 2, key="k")
    cluster.flush()
    engine = ms.Engine()
    query = engine.register(ALL)
    source = ms.kafka(cluster.servers, "no-keys", format="ntriples", upsert=True)
    engine.read_changes(source)
    assert solutions(query) == {("a", "2")}
    [rejected] = engine.rejected()
    assert "no key" in rejected.reason
    with pytest.raises(ms.OptionError, match="read_changes"):
        engine.read("http://e/s", source)
    with pytest.raises(ms.OptionError, match="states no time"):
        engine.read_changes(ms.kafka(cluster.servers, "no-keys", format="turtle", time="prov", upsert=True))
    with pytest.raises(ms.OptionError, match="not for changes"):
        engine.read_changes(ms.kafka(cluster.servers, "no-keys", format="rdfpatch", time="prov"))
