"""Step 6: Spark and Kafka. Told in docs/tutorial/6-spark-kafka.md, which shows what this prints."""

from pathlib import Path

from confluent_kafka import Producer

import millstream as ms
from millstream import pipeline

HOUSE = "http://example.org/house/"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
WHEN = "http://www.w3.org/ns/prov#generatedAtTime"


def element(number, second, sensor, degrees):
    graph = f"<{HOUSE}element/{number}>"
    return f"""\
<{HOUSE}{sensor}> <{HOUSE}shows> "{degrees}"^^<{INTEGER}> {graph} .
{graph} <{WHEN}> "{second * 1000}"^^<{INTEGER}> .
"""


readings = [(1, "s1", 21), (4, "s1", 26), (6, "s2", 28), (9, "s1", 27)]
Path("readings").mkdir(exist_ok=True)
Path("readings/1.nq").write_text("".join(element(number, *reading) for number, reading in enumerate(readings)))
Path("rooms.ttl").write_text(f"@prefix : <{HOUSE}> . :s1 :in :kitchen . :s2 :in :study .")

QUERY = """
PREFIX : <http://example.org/house/>
SELECT CHANGES ?room ?degrees WHERE {
  STREAM :readings [RANGE 10s] { ?sensor :shows ?degrees }
  ?sensor :in ?room
  FILTER (?degrees > 25)
}"""
Path("warm.rq").write_text(QUERY)

engine = ms.Engine()
engine.load("rooms.ttl")
warm = engine.register(QUERY)
engine.read(HOUSE + "readings", "readings")
engine.finish()
for answer in warm.take():
    values = [str(value).removeprefix(HOUSE) for value in answer.python().values()]
    print(f"{answer.at_ms // 1000:>2} s  {answer.weight:+}  {' '.join(values)}")

spark = pipeline.session("local[2]")
answers = pipeline.continuous(
    QUERY, streams={HOUSE + "readings": "readings"}, datasets={None: "rooms.ttl"}, cells=2, once=True
)
job = answers.writeStream.format("memory").queryName("warm").trigger(availableNow=True).start()
job.awaitTermination()
for row in spark.table("warm").orderBy("at_ms", "weight", "room").collect():
    print(f"{row.at_ms // 1000:>2} s  {row.weight:+}  {row.room} {row.degrees}")

producer = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1})
[broker] = producer.list_topics(timeout=10).brokers.values()
servers = f"{broker.host}:{broker.port}"

for second, sensor, degrees in readings:
    text = f"<{HOUSE}{sensor}> <{HOUSE}shows> {degrees} ."
    producer.produce("readings", text, partition=0, timestamp=second * 1000)
producer.flush(10)

engine = ms.Engine()
engine.load("rooms.ttl")
warm = engine.register(QUERY)
engine.read(HOUSE + "readings", ms.kafka(servers, "readings", format="turtle"))
engine.finish()
for answer in warm.take():
    values = [str(value).removeprefix(HOUSE) for value in answer.python().values()]
    print(f"{answer.at_ms // 1000:>2} s  {answer.weight:+}  {' '.join(values)}")
