"""Spark's own Kafka source as the carrier: its package is put into the session's jars, which takes a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from examples.kafka.broker import spark_jars
from tests.connect.real_kafka import RealKafka
from tests.pipeline.source.test_kafka import COUNT, STREAM, embedded, fill

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
    arguments = [broker.servers, spark_jars(), COUNT, STREAM, str(tmp_path / "checkpoint"), str(output)]
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
