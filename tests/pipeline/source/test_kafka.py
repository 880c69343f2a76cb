"""Topics and DataFrames of messages on Spark: the answers are those of the embedded engine over the same topic."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from typer.testing import CliRunner

import millstream as ms
from millstream import pipeline
from millstream.cli.main import app
from tests.connect.mock_kafka import MockKafka
from tests.connect.real_kafka import RealKafka

STREAM = "http://e/s"
COUNT = f"SELECT ?s (COUNT(*) AS ?n) WHERE {{ STREAM <{STREAM}> [RANGE 10ms] {{ ?s <http://e/p> ?o }} }} GROUP BY ?s"
JOIN = (
    f"SELECT ?a ?b WHERE {{ STREAM <{STREAM}> [RANGE 6ms] {{ ?a <http://e/p> ?o }} "
    f"STREAM <{STREAM}> [RANGE 3ms] {{ ?b <http://e/p> ?o }} }}"
)


@pytest.fixture(scope="module")
def cluster() -> MockKafka:
    return MockKafka()


def fill(cluster: MockKafka, topic: str, seed: int, count: int = 120, *, bad: bool = True) -> None:
    """Messages of three partitions whose times go up and down a little; some are malformed, some have blank nodes."""
    chance = random.Random(seed)
    for number in range(count):
        partition = chance.choice((0, 0, 1, 2))
        at_ms = max(1, number // 3 + chance.randrange(-2, 3))
        value = f'<http://e/{chance.randrange(4)}> <http://e/p> "{chance.randrange(3)}" .'
        if chance.random() < 0.1:
            value = '_:x <http://e/p> "0" .\n_:x <http://e/p> "1" .'
        cluster.send(topic, "nonsense" if bad and chance.random() < 0.05 else value, at_ms, partition)
    cluster.flush()


def embedded(servers: str, topic: str, text: str) -> tuple[Counter[tuple[Any, ...]], dict[str, int]]:
    engine = ms.Engine()
    query = engine.register(text)
    engine.read(STREAM, ms.kafka(servers, topic, format="ntriples"))
    engine.finish()
    table = query.take_table()
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True)), engine.stats


def answers_of(answers: DataFrame, folder: Path) -> Counter[tuple[Any, ...]]:
    """All answers of a job that reads what is there, from its checkpoint on."""
    found: Counter[tuple[Any, ...]] = Counter()

    def keep(batch: DataFrame, number: int) -> None:
        found.update(tuple(row) for row in batch.collect())

    writer = answers.writeStream.foreachBatch(keep).option("checkpointLocation", str(folder))
    writer.trigger(availableNow=True).start().awaitTermination()
    return found


@pytest.mark.parametrize("text", [COUNT, JOIN])
def test_topics_as_the_embedded_engine_reads_them(
    spark: SparkSession, cluster: MockKafka, tmp_path: Path, text: str
) -> None:
    topic = f"same-{len(text)}"
    fill(cluster, topic, 1)
    expected, stats = embedded(cluster.servers, topic, text)
    source = pipeline.kafka(topic, servers=cluster.servers, format="ntriples", maxOffsetsPerTrigger=25)
    letters = tmp_path / "letters"
    answers = pipeline.continuous(text, streams={STREAM: source}, cells=2, once=True, dead_letter=str(letters), spark=spark)
    assert answers_of(answers, tmp_path / "checkpoint") == expected
    rows = [json.loads(line) for path in letters.glob("*.jsonl") for line in path.read_text().splitlines()]
    late = [row for row in rows if row["reason"].startswith("late")]
    malformed = [row for row in rows if not row["reason"].startswith("late")]
    assert stats["late"] > 0
    assert len(malformed) == stats["rejected"] > 0
    assert {row["text"] for row in malformed} == {"nonsense"}
    assert late


def test_messages_of_a_frame(spark: SparkSession, cluster: MockKafka, tmp_path: Path) -> None:
    """Rows as Spark's own Kafka source has them, though they come from a table."""
    fill(cluster, "framed", 2)
    expected, _ = embedded(cluster.servers, "framed", COUNT)
    rows = [
        (m.topic(), m.partition(), m.offset(), m.timestamp()[1] / 1000, bytearray(m.value()))
        for m in cluster.messages("framed")
    ]
    schema = "topic string, partition int, offset long, at double, value binary"
    frame = spark.createDataFrame(rows, schema).selectExpr(
        "topic", "partition", "offset", "timestamp_seconds(at) AS timestamp", "value"
    )
    source = pipeline.messages(frame.repartition(2, "partition"), format="ntriples")
    answers = pipeline.continuous(COUNT, streams={STREAM: source}, spark=spark)
    assert Counter(tuple(row) for row in answers.collect()) == expected


def test_headers_of_a_frame(spark: SparkSession) -> None:
    """They tell the time and the format."""
    text = f"SELECT ?s WHERE {{ STREAM <{STREAM}> [RANGE 10ms] {{ ?s <http://e/p> ?o }} }}"
    nt, ttl = "<http://e/a> <http://e/p> 'x' .".replace("'", '"'), "@prefix : <http://e/> . :b :p 1 ."
    rows = [
        (nt, [("at", b"7"), ("content-type", b"application/n-triples"), ("empty", None)]),
        (ttl, [("content-type", b"text/turtle"), ("at", b"9")]),
        (nt, [("at", b"8")]),
        (nt, None),
    ]
    frame = spark.createDataFrame(rows, "value string, headers array<struct<key:string,value:binary>>").coalesce(1)
    answers = pipeline.continuous(text, streams={STREAM: pipeline.messages(frame, time="header:at")}, spark=spark)
    assert sorted(map(tuple, answers.collect())) == [(7, 1, "<http://e/a>"), (9, 1, "<http://e/b>")]


def test_a_partition_that_lags_is_not_late(spark: SparkSession, cluster: MockKafka, tmp_path: Path) -> None:
    """One trigger brings the first partition alone: the second, an hour behind, is waited for."""
    for number in range(10):
        cluster.send("lagging", f'<http://e/a> <http://e/p> "{number}" .', 3_600_000 + number, 0)
    for number in range(10):
        cluster.send("lagging", f'<http://e/b> <http://e/p> "{number}" .', 1 + number, 1)
    cluster.flush()
    source = pipeline.kafka("lagging", servers=cluster.servers, format="ntriples", maxOffsetsPerTrigger=5)
    text = f"SELECT ?s ?o WHERE {{ STREAM <{STREAM}> [RANGE 1s] {{ ?s <http://e/p> ?o }} }}"
    answers = pipeline.continuous(text, streams={STREAM: source}, once=True, spark=spark)
    found = answers_of(answers, tmp_path / "checkpoint")
    assert found == embedded(cluster.servers, "lagging", text)[0]
    assert sum(found.values()) == 20


def test_changes_as_the_embedded_engine_reads_them(spark: SparkSession, cluster: MockKafka, tmp_path: Path) -> None:
    chance = random.Random(5)
    for number in range(60):
        triple = f'<http://e/{chance.randrange(3)}> <http://e/q> "{chance.randrange(3)}" .'
        change = f"{chance.choice('AAD')} {triple}\n"
        cluster.send("edits", "nonsense" if number % 20 == 7 else change, 1 + number, number % 2)
    fill(cluster, "edited", 4, bad=False)
    text = f"SELECT ?s ?x WHERE {{ ?s <http://e/q> ?x STREAM <{STREAM}> [RANGE 5ms] {{ ?s <http://e/p> ?x }} }}"
    output, query = tmp_path / "answers.csv", tmp_path / "query.rq"
    query.write_text(text)
    command = ["run", str(query), "--engine", "embedded", "--output", str(output), "--lateness", "1s"]
    command += ["--stream", f"{STREAM}=kafka://{cluster.servers}/edited?format=ntriples"]
    command += ["--changes", f"kafka://{cluster.servers}/edits?format=rdfpatch"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    expected = Counter(tuple(line.split(",")) for line in output.read_text().splitlines()[1:])
    streams = {STREAM: pipeline.kafka("edited", servers=cluster.servers, format="ntriples")}
    changes = {None: pipeline.kafka("edits", servers=cluster.servers, format="rdfpatch", maxOffsetsPerTrigger=17)}
    answers = pipeline.continuous(text, streams=streams, changes=changes, once=True, lateness="1s", spark=spark)
    on_spark = answers_of(answers, tmp_path / "checkpoint")
    plain = Counter((str(at), str(w), s.strip("<>"), x.strip('"')) for at, w, s, x in on_spark.elements())
    assert plain == expected
    assert len(plain) > 5


def test_states_of_keys_as_the_embedded_engine_reads_them(spark: SparkSession, cluster: MockKafka, tmp_path: Path) -> None:
    """As a topic and as rows that somebody else read; messages without a value, without a key, out of order."""
    chance = random.Random(6)
    for number in range(60):
        key = chance.randrange(4)
        lines = [f'<http://e/{chance.randrange(3)}> <http://e/q> "{chance.randrange(2)}" .' for _ in range(2)]
        value = None if chance.random() < 0.2 else "\n".join(lines[: chance.randrange(1, 3)])
        at_ms = max(1, number - chance.randrange(3))
        cluster.send("states", value, at_ms, key % 2, key=None if number % 20 == 9 else str(key))
    cluster.flush()
    text = "SELECT CHANGES ?s (COUNT(*) AS ?n) WHERE { ?s <http://e/q> ?x } GROUP BY ?s"
    engine = ms.Engine()
    query = engine.register(text)
    engine.read_changes(ms.kafka(cluster.servers, "states", format="ntriples", upsert=True))
    engine.finish()
    expected = Counter(zip(*(column.to_pylist() for column in query.take_table().columns), strict=True))
    assert len(engine.rejected()) == 3
    source = pipeline.kafka("states", servers=cluster.servers, format="ntriples", upsert=True, maxOffsetsPerTrigger=17)
    letters = tmp_path / "letters"
    answers = pipeline.continuous(text, streams={}, changes={None: source}, once=True, dead_letter=str(letters), spark=spark)
    assert answers_of(answers, tmp_path / "checkpoint") == expected
    reasons = [json.loads(line)["reason"] for path in letters.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(reasons) == 3
    assert "no key" in reasons[0]
    rows = [
        (m.topic(), m.partition(), m.offset(), m.timestamp()[1] / 1000, m.key(), None if m.value() is None else m.value())
        for m in cluster.messages("states")
    ]
    schema = "topic string, partition int, offset long, at double, key binary, value binary"
    frame = spark.createDataFrame(rows, schema).selectExpr("*", "timestamp_seconds(at) AS timestamp").drop("at")
    framed = pipeline.messages(frame.repartition(2, "partition"), format="ntriples", upsert=True)
    found = pipeline.continuous(text, streams={}, changes={None: framed}, spark=spark)
    assert Counter(tuple(row) for row in found.collect()) == expected
    with pytest.raises(ms.OptionError, match="columns key"):
        pipeline.messages(frame.drop("key"), format="ntriples", upsert=True)
    with pytest.raises(ms.OptionError, match="give them as changes"):
        pipeline.continuous(JOIN, streams={STREAM: framed}, spark=spark)


@pytest.mark.slow
def test_answers_to_a_topic_once(spark: SparkSession, broker: RealKafka, tmp_path: Path) -> None:
    """A job that is stopped behind a batch Spark does not know of yet sends nothing twice."""
    broker.topic("spark-in", 3)
    broker.topic("spark-out", 2)
    fill(broker, "spark-in", 3, bad=False)
    expected, _ = embedded(broker.servers, "spark-in", COUNT)
    source = pipeline.kafka("spark-in", servers=broker.servers, format="ntriples", maxOffsetsPerTrigger=40)

    def run(*, once: bool) -> None:
        answers = pipeline.continuous(COUNT, streams={STREAM: source}, once=once, spark=spark)
        writer = pipeline.to_kafka(answers, "spark-out", key="s", servers=broker.servers, partitions=2)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()

    run(once=True)
    # As if Spark had died before it noted the last batch.
    commits = sorted((tmp_path / "checkpoint" / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    commits[-1].unlink()
    run(once=False)
    found = [json.loads(m.value()) for m in broker.messages("spark-out")]
    plain = Counter((row["at_ms"], row["weight"], row["bindings"]["n"]["value"]) for row in found)
    assert plain == Counter((at, weight, n.split('"')[1]) for (at, weight, _, n), c in expected.items() for _ in range(c))
    for_key: dict[str, list[tuple[int, int]]] = {}
    for row in found:
        for_key.setdefault(row["bindings"]["s"]["value"], []).append((row["at_ms"], row["weight"]))
    assert all(rows == sorted(rows) for rows in for_key.values())


@pytest.mark.slow
def test_a_compacted_topic_is_the_answer_set(spark: SparkSession, broker: RealKafka, tmp_path: Path) -> None:
    """Answers that are there several times, in many triggers, of a job that is stopped and goes on; another was there."""
    broker.topic("bag-in", 1)
    broker.topic("bag-out", 2)
    broker.send("bag-out", None, 1, key="nobody")
    old = {"at_ms": 1, "weight": 1, "bindings": {}, "terms": ["<http://e/old>"]}
    broker.send("bag-out", json.dumps(old), 1, key="<http://e/old>")
    text = f"SELECT CHANGES ?s WHERE {{ STREAM <{STREAM}> [RANGE 20ms] {{ ?s <http://e/p> ?o }} }}"
    source = pipeline.kafka("bag-in", servers=broker.servers, format="ntriples", maxOffsetsPerTrigger=25)
    chance = random.Random(7)
    for run in range(2):
        for number in range(60):
            value = f'<http://e/{chance.randrange(4)}> <http://e/p> "{number}" .'
            broker.send("bag-in", value, 1 + 60 * run + number)
        broker.flush()
        answers = pipeline.continuous(text, streams={STREAM: source}, spark=spark)
        writer = pipeline.to_kafka(answers, "bag-out", "upsert", key="s", servers=broker.servers, partitions=2)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        engine = ms.Engine()
        query = engine.register(text)
        engine.read(STREAM, ms.kafka(broker.servers, "bag-in", format="ntriples"))
        held = {m.key().decode(): m.value() for m in broker.messages("bag-out")}
        found = {key: json.loads(value)["weight"] for key, value in held.items() if value is not None}
        assert found == Counter(str(row["s"]) for row in query.solutions())
        assert max(found.values()) > 1
    assert held["<http://e/old>"] is None


def test_options_that_cannot_be(spark: SparkSession) -> None:
    with pytest.raises(ms.OptionError, match="servers are missing"):
        pipeline.kafka("t")
    with pytest.raises(ms.OptionError, match="carrier"):
        pipeline.kafka("t", servers="h:1", carrier="pigeon")
    with pytest.raises(ms.OptionError, match="spark-sql-kafka"):
        pipeline.kafka("t", servers="h:1", carrier="spark", spark=spark)
    with pytest.raises(ms.OptionError, match="column value"):
        pipeline.messages(spark.range(3))
