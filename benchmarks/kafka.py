"""Topics as streams: messages a CPU-second for both engines, beside consuming alone and beside files, and latencies.

The broker is a process of its own, whose time counts for nobody.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.report import Cell, Part, Progress, Table, at_least
from benchmarks.timing import Effort
from benchmarks.workloads import universities
from millstream.connect.kafka.gathering import PORTION
from millstream.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ABOUT = (
    "One-triple messages from Kafka: consumed alone, by push, by read, beside a file, on Spark; produce-to-answer latency."
)
STREAM = "http://example.org/s"
PARTITIONS = 4
WANTED = 400_000
_FIRST = 5
"""Messages that do not count: everything is started by them."""
_RARE = f"SELECT ?x WHERE {{ STREAM <{STREAM}> [RANGE 10s] {{ ?x <http://e/a> ?y . ?x <http://e/b> ?z }} }}"
_ALL = f"SELECT ?n WHERE {{ STREAM <{STREAM}> [RANGE 10s] {{ ?x <http://example.org/n> ?n }} }}"


@dataclass(frozen=True, slots=True)
class Size:
    messages: int
    pings: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(2_000, 20),
    "quick": Size(100_000, 200),
    "full": Size(500_000, 1_000),
}


def run(effort: Effort, progress: Progress) -> Part:
    from examples.kafka.broker import Broker, missing

    size, part = SIZES[effort], Part("kafka", ABOUT)
    if (reason := missing()) is not None:
        part.tables.append(Table("not measured", ("why",), [[reason]]))
        return part
    with tempfile.TemporaryDirectory() as folder:
        progress("starting a broker")
        broker = Broker(Path(folder) / "broker")
        try:
            lines = [f"{line}\n".encode() for line in _lines(size.messages)]
            for topic in ("triples", "pings"):
                broker.topic(topic, PARTITIONS if topic == "triples" else 1)
            _produce(broker.servers, lines)
            file = Path(folder) / "triples.nt"
            file.write_bytes(b"".join(lines))
            part.tables.append(_embedded(broker.servers, file, lines, progress, part))
            latencies = [["embedded, read with follow", *_quantiles(_latency(broker.servers, size, progress))]]
            with _session() as spark:
                part.tables.append(_spark(spark, broker.servers, size, file, Path(folder), progress))
                found = _spark_latency(spark, broker.servers, size, Path(folder), progress)
                latencies.append(["Spark, carrier python, triggers without a pause", *_quantiles(found)])
            title = f"{size.pings} messages, one after another, and a tenth of them on Spark, ms"
            part.tables.append(Table(title, ("way", "p50", "p99", "most"), latencies))
        finally:
            broker.kill()
    return part


def _lines(count: int) -> list[str]:
    found = []
    for s, p, o in universities(1 + count // 100_000):
        found.append(f"{s} {p} {o} .")
        if len(found) == count:
            break
    return found


def _produce(servers: str, lines: list[bytes]) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20, "queue.buffering.max.messages": 1_000_000})
    for number, line in enumerate(lines):
        producer.produce("triples", line, partition=number % PARTITIONS, timestamp=1 + number // 100)
        if number % 10_000 == 0:
            producer.poll(0)
    producer.flush(120)


def _embedded(servers: str, file: Path, lines: list[bytes], progress: Progress, part: Part) -> Table:
    import millstream as ms

    def engine() -> ms.Engine:
        made = ms.Engine()
        made.register(_RARE)
        return made

    def read() -> None:
        engine().read(STREAM, ms.kafka(servers, "triples", format="ntriples"))

    def push() -> None:
        made = engine()
        _consume(servers, len(lines), lambda message: made.push(STREAM, message.value(), message.timestamp()[1]))

    ways: dict[str, Callable[[], None]] = {
        "consuming alone": lambda: _consume(servers, len(lines), lambda message: None),
        "a push a message": push,
        "read": read,
        "read from a file": lambda: engine().read(STREAM, str(file), time="rate:100000"),
    }
    rows: list[list[Cell]] = []
    found = {}
    for name, way in ways.items():
        progress(name)
        times = []
        for _ in range(2):
            begin = time.process_time()
            way()
            times.append(time.process_time() - begin)
        found[name] = len(lines) / min(times)
        rows.append([name, found[name], found[name] / found["consuming alone"]])
    part.targets.append(at_least("messages a CPU-second by read", WANTED, found["read"]))
    title = f"{len(lines):,} messages of one triple in {PARTITIONS} partitions, in one process"
    return Table(title, ("way", "messages a CPU-second", "times consuming alone"), rows)


def _consume(servers: str, count: int, take: Callable[[Any], None]) -> None:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": servers, "group.id": "alone"})
    consumer.assign([TopicPartition("triples", number, 0) for number in range(PARTITIONS)])
    while count > 0:
        for message in consumer.consume(PORTION, 0.05):
            if message.error() is None:
                take(message)
                count -= 1
    consumer.close()


def _latency(servers: str, size: Size, progress: Progress) -> list[float]:
    """From produce to answer, one message at a time, in ms."""
    import millstream as ms

    progress("latency, embedded")
    engine, answered = ms.Engine(), threading.Event()
    engine.register(_ALL, on_answer=lambda answer: answered.set())
    source = ms.kafka(servers, "pings", format="ntriples", follow=True, idle_s=0.0)
    reading = threading.Thread(target=engine.read, args=(STREAM, source), daemon=True)
    reading.start()
    times = _pinged(servers, 0, size.pings, lambda: _waited(answered))
    engine.stop_reading()
    reading.join()
    return times


def _spark_latency(spark: SparkSession, servers: str, size: Size, folder: Path, progress: Progress) -> list[float]:
    """The same on Spark."""
    from millstream import pipeline

    progress("latency, Spark")
    answered = threading.Event()
    topics = pipeline.kafka("pings", servers=servers, format="ntriples", startingOffsets="latest")
    answers = pipeline.continuous(_ALL, {STREAM: topics}, spark=spark)

    def take(batch: DataFrame, number: int) -> None:
        if batch.collect():
            answered.set()

    writer = answers.writeStream.foreachBatch(take).option("checkpointLocation", str(folder / "pings"))
    query = writer.start()
    try:
        # Where the topic ends is asked for at the first trigger.
        while query.lastProgress is None:
            time.sleep(0.1)
        return _pinged(servers, size.pings + _FIRST, max(10, size.pings // 10), lambda: _waited(answered))
    finally:
        query.stop()


def _pinged(servers: str, first: int, count: int, wait: Callable[[], None]) -> list[float]:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
    times = []
    for number in range(first, first + count + _FIRST):
        text = f'<http://example.org/ping> <http://example.org/n> "{number}" .'
        begin = time.perf_counter()
        producer.produce("pings", text, timestamp=1 + number)
        producer.poll(0)
        wait()
        times.append((time.perf_counter() - begin) * 1000)
    producer.flush(10)
    return times[_FIRST:]


def _waited(answered: threading.Event) -> None:
    if not answered.wait(60):
        raise RuntimeError("no answer came within a minute")
    answered.clear()


def _quantiles(times: list[float]) -> list[Cell]:
    cuts = statistics.quantiles(times, n=100)
    return [statistics.median(times), cuts[98], max(times)]


@contextmanager
def _session() -> Iterator[SparkSession]:
    from benchmarks.spark_jobs import spark_on
    from examples.kafka.broker import spark_jars

    settings: dict[str, Any] = {"spark.jars": spark_jars()}
    with spark_on("local[2]", **settings) as (spark, _):
        yield spark


def _spark(spark: SparkSession, servers: str, size: Size, file: Path, folder: Path, progress: Progress) -> Table:
    from benchmarks.spark_jobs import run_job
    from millstream import pipeline
    from millstream.pipeline.job.continuous import plan_job

    rows: list[list[Cell]] = []
    a_trigger = max(1, size.messages // 10)
    described: dict[str, Any] = {"servers": servers, "format": "ntriples", "maxOffsetsPerTrigger": a_trigger, "spark": spark}
    most = max(1, file.stat().st_size // 10)
    sources: dict[str, Any] = {
        "topics, carrier python": pipeline.kafka("triples", **described),
        "files": pipeline.files(str(file), time="rate:100000", splitBytes=most, maxBytesPerTrigger=most),
    }
    # A process that had a session before this one has no other jars than that had.
    with suppress(OptionError):
        sources["topics, carrier spark"] = pipeline.kafka("triples", carrier="spark", **described)
    for name, source in sources.items():
        progress(f"Spark, {name}")
        ran = run_job(plan_job(_RARE, {STREAM: source}, once=True, spark=spark), folder / name.replace(" ", "-"))
        cpu = ran.cpu[-1] - ran.cpu[0] if len(ran.cpu) > 1 else None
        share = size.messages * (1 - 1 / max(1, len(ran.cpu)))
        rows.append([name, len(ran.cpu), cpu, None if not cpu else share / cpu])
    columns = ("source", "triggers", "CPU-s of all processes", "messages a CPU-second")
    return Table(f"{size.messages:,} messages on Spark, two cores, after the first trigger", columns, rows)
