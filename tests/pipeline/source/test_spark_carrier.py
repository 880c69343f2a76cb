"""Spark's own Kafka source as the carrier: its package is put into the session's jars, which takes a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from examples.kafka.broker import JARS
from tests.connect.real_kafka import RealKafka
from tests.pipeline.source.test_kafka import COUNT, STREAM, embedded, fill

# Of the last versions that Maven Central has all of; what they need of Spark is the same in later ones.
ARTEFACTS = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.1",
)
JOB = """
import json, sys
from millstream import pipeline
servers, jars, text, stream, checkpoint, output = sys.argv[1:]
spark = pipeline.session("local[2]", **{"spark.jars": jars})
source = pipeline.kafka(
    "carried", servers=servers, format="ntriples", carrier="spark", maxOffsetsPerTrigger=40, spark=spark
)
answers = pipeline.continuous(text, streams={stream: source}, spark=spark)
rows = []
writer = answers.writeStream.foreachBatch(lambda batch, number: rows.extend(map(list, batch.collect())))
writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
open(output, "w").write(json.dumps(rows))
spark.stop()
"""


@pytest.mark.long
def test_the_answers_are_those_of_the_embedded_engine(broker: RealKafka, tmp_path: Path) -> None:
    broker.topic("carried", 3)
    fill(broker, "carried", 3)
    expected, _ = embedded(broker.servers, "carried", COUNT)
    output = tmp_path / "answers.json"
    arguments = [broker.servers, _jars(), COUNT, STREAM, str(tmp_path / "checkpoint"), str(output)]
    subprocess.run([sys.executable, "-c", JOB, *arguments], check=True, timeout=280)
    found = Counter(tuple(row) for row in json.loads(output.read_text()))
    # Its topics have no end, so what the partition that lags may still overtake waits.
    largest: dict[int, int] = {}
    for message in broker.messages("carried"):
        if message.value() != b"nonsense":
            largest[message.partition()] = max(largest.get(message.partition(), 0), message.timestamp()[1])
    reached = min(largest.values())
    assert Counter({row: n for row, n in found.items() if row[0] < reached}) == Counter(
        {row: n for row, n in expected.items() if row[0] < reached}
    )
    assert found <= expected
    assert len(found) > 20


def _jars() -> str:
    folder = JARS.with_name("kafka-spark")
    for artefact in ARTEFACTS:
        _, name, version = artefact.split(":")
        if not (folder / f"{name}-{version}.jar").exists():
            command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artefact}", f"-DoutputDirectory={folder}"]
            subprocess.run(command, check=True, timeout=280, cwd=folder.parent)
    return ",".join(str(path) for path in sorted(folder.glob("*.jar")))
