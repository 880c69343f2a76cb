"""Kafka in and out in one command: a broker, a producer of sensor readings, a query, and who reads its answers.

python -m examples.kafka.demo [--seconds 20] [--engine embedded|spark]
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from examples.kafka.broker import HERE, JARS, Broker, missing

READINGS, ANSWERS = "readings", "hot-rooms"
STREAM = "http://example.org/readings"
ROOMS = ("kitchen", "office", "cellar")


def produce(servers: str, stop: threading.Event) -> None:
    """Twenty readings a second, as Turtle; every hundredth message is none."""
    producer = Producer({"bootstrap.servers": servers})
    chance, number = random.Random(1), 0
    while not stop.is_set():
        number += 1
        room = chance.choice(ROOMS)
        warm = 21 + 5 * ((time.time() / 8 + ROOMS.index(room)) % 3 >= 2) + chance.gauss(0, 0.5)
        text = f"PREFIX : <http://example.org/>\n:{room}-sensor :in :{room} ; :celsius {warm:.2f} ."
        producer.produce(
            READINGS, "nonsense" if number % 100 == 0 else text, key=room, headers={"content-type": "text/turtle"}
        )
        producer.poll(0.05)
    producer.flush(10)


def show(servers: str, seconds: float) -> int:
    """Prints answers as they come; gives how many there were."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "demo", "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(ANSWERS, 0, 0)])
    until, count = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        message = consumer.poll(0.5)
        if message is None or message.error() is not None:
            continue
        count += 1
        found = json.loads(message.value() or b"{}")
        room, owner, mean = (found["bindings"][name]["value"].rpartition("/")[2] for name in ("room", "owner", "mean"))
        at = time.strftime("%H:%M:%S", time.localtime(found["at_ms"] / 1000))
        print(f"{at}  {'+' if found['weight'] > 0 else '-'} {room:8} of {owner}: {float(mean):.1f} degrees", flush=True)
    consumer.close()
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--engine", default="embedded", choices=("embedded", "spark"))
    options = parser.parse_args()
    if not JARS.is_dir():
        print("fetching a Kafka broker, 43 MB, once ...", flush=True)
    if (reason := missing()) is not None:
        sys.exit(f"{reason}: apt-get install default-jre-headless maven")
    with tempfile.TemporaryDirectory() as folder:
        print("starting a Kafka broker ...", flush=True)
        broker, stop = Broker(Path(folder)), threading.Event()
        broker.topic(READINGS, 2)
        broker.topic(ANSWERS)
        producer = threading.Thread(target=produce, args=(broker.servers, stop))
        producer.start()
        command = [sys.executable, "-m", "millstream", "run", str(HERE / "hot_rooms.rq"), "--engine", options.engine]
        command += ["--stream", f"{STREAM}=kafka://{broker.servers}/{READINGS}", "--dataset", str(HERE / "rooms.ttl")]
        command += ["--output", f"kafka://{broker.servers}/{ANSWERS}?key=room", "--follow", "--idle", "2s"]
        print("$ millstream " + " ".join(part.replace(f"{HERE}/", "") for part in command[3:]), flush=True)
        query = subprocess.Popen(command)
        try:
            count = show(broker.servers, options.seconds)
        finally:
            query.terminate()
            query.wait(60)
            stop.set()
            producer.join()
            broker.kill()
        if not count:
            sys.exit("no answers came")


if __name__ == "__main__":
    main()
