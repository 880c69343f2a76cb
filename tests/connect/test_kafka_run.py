"""`millstream run` from topics to topics: in one go, and killed again and again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from millstream.cli.main import app
from tests.connect.mock_kafka import MockKafka
from tests.connect.real_kafka import RealKafka
from tests.pipeline.victims import Victim

STREAM = "http://e/s"
QUERY = f"SELECT ?s (COUNT(*) AS ?n) WHERE {{ STREAM <{STREAM}> [RANGE 10ms] {{ ?s <http://e/p> ?o }} }} GROUP BY ?s"


def triple(subject: object, value: object) -> str:
    return f'<http://e/{subject}> <http://e/p> "{value}" .'


@pytest.fixture
def query(tmp_path: Path) -> str:
    path = tmp_path / "count.rq"
    path.write_text(QUERY)
    return str(path)


@pytest.mark.parametrize("engine", ["embedded", "spark"])
def test_from_a_topic_to_a_file_and_to_a_topic(query: str, tmp_path: Path, engine: str) -> None:
    cluster = MockKafka()
    for number in range(40):
        cluster.send("in", triple(number % 3, number), number + 1, number % 2)
    cluster.send("in", "nonsense", 41, key="k", headers={"own": b"1"})
    cluster.flush()
    source = f"kafka://{cluster.servers}/in?format=ntriples"
    files, topics = str(tmp_path / "answers.ndjson"), f"kafka://{cluster.servers}/out?key=s"
    for output in (files, topics):
        command = ["run", query, "--engine", engine, "--stream", f"{STREAM}={source}", "--output", output]
        command += ["--dead-letter", f"kafka://{cluster.servers}/letters"]
        # In a process of its own: what a run tells Java of checksums would hold for all tests after it.
        ran = subprocess.run([sys.executable, "-m", "millstream", *command], capture_output=True, timeout=240)
        assert ran.returncode == 0, ran.stderr.decode()
    written = [json.loads(line) for line in Path(files).read_text().splitlines()]
    sent = [json.loads(message.value()) for message in cluster.messages("out")]
    assert len(written) > 40

    def key(row: dict[str, object]) -> str:
        return json.dumps(row, sort_keys=True)

    assert sorted(map(key, written)) == sorted(map(key, sent))
    letter = cluster.messages("letters")[0]
    headers = dict(letter.headers())
    assert (letter.key(), letter.value(), headers["own"]) == (b"k", b"nonsense", b"1")
    assert (headers["topic"], headers["partition"], headers["offset"], headers["line"]) == (b"in", b"0", b"20", b"1")


def test_bad_addresses(query: str) -> None:
    for source, said in (
        ("kafka://h:1/", "topic is missing"),
        ("kafka://h:1/t?color=red", "no option 'color'"),
        ("kafka://u:hunter2@h:1/t", "no user or password"),
        ("kafka://h:1/t?time=rate:5", "not for messages"),
        ("kafka://[h/t", "cannot be read"),
    ):
        result = CliRunner().invoke(app, ["run", query, "--engine", "embedded", "--stream", f"{STREAM}={source}"])
        assert result.exit_code == 2
        assert said in result.output.replace("\n", " ")
        assert "hunter2" not in result.output
    secret = "kafka://h:1/t?kafka.sasl.password=hunter2"
    for options in (["--stream", secret], ["--dataset", secret], ["--stream", f"{STREAM}={secret}&color=red"]):
        result = CliRunner().invoke(app, ["run", query, "--engine", "embedded", *options])
        assert result.exit_code == 2
        assert "hunter2" not in result.output


def test_a_run_that_ends_is_kept_once(query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints at every turn: what the end brings is no part of the last of them, and is sent by the run after it."""
    monkeypatch.setattr("millstream.cli.run.embedded._TURN_S", 0.0)
    # The cluster keeps no numbers of transactions.
    monkeypatch.setattr("millstream.connect.kafka.sink.Sender.last_number", lambda self: 1 << 40)
    cluster = MockKafka()
    command = ["run", query, "--engine", "embedded", "--lateness", "3ms", "--checkpoint", str(tmp_path / "kept")]
    command += ["--checkpoint-every", "1ms", "--stream", f"{STREAM}=kafka://{cluster.servers}/in?format=ntriples"]
    command += ["--output", f"kafka://{cluster.servers}/out"]
    for first in (0, 5):
        for number in range(first, first + 5):
            cluster.send("in", triple(1, number), 1 + number)
        cluster.flush()
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output
    sent = [json.loads(message.value())["at_ms"] for message in cluster.messages("out")]
    # The last three milliseconds may still be overtaken.
    assert sorted(sent) == list(range(1, 8))


def test_secrets_are_in_no_checkpoint(query: str, tmp_path: Path) -> None:
    cluster = MockKafka()
    cluster.send("in", triple(1, 1), 1)
    cluster.flush()
    source = f"kafka://{cluster.servers}/in?format=ntriples&kafka.client.id=hunter2"
    folder = tmp_path / "checkpoint"
    command = ["run", query, "--engine", "embedded", "--stream", f"{STREAM}={source}", "--checkpoint", str(folder)]
    result = CliRunner().invoke(app, [*command, "--output", str(tmp_path / "answers.csv")])
    assert result.exit_code == 0, result.output
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"hunter2" not in kept
    assert b"kafka.client.id" in kept


@pytest.mark.parametrize(
    "engine", [pytest.param("embedded", marks=pytest.mark.slow), pytest.param("spark", marks=pytest.mark.long)]
)
def test_killed_again_and_again(broker: RealKafka, query: str, tmp_path: Path, engine: str) -> None:
    """The topic of answers is that of a run that never died, whenever the process, the broker or a worker was killed."""
    chance = random.Random(7)
    messages = [(triple(number % 5, number), 1 + number // 2, number % 2) for number in range(3000)]
    given, killed, whole = (f"{engine}-{name}" for name in ("in", "killed", "whole"))
    for topic in (given, killed, whole):
        broker.topic(topic, 2 if topic == given else 1)
    source = f"{STREAM}=kafka://{broker.servers}/{given}?format=ntriples"

    def command(output: str, engine: str = engine) -> list[str]:
        options = ["--stream", source, "--output", f"kafka://{broker.servers}/{output}", "--follow", "--idle", "1h"]
        keep = ["--checkpoint", str(tmp_path / output), "--checkpoint-every", "50ms"]
        return [sys.executable, "-m", "millstream", "run", query, "--engine", engine, *options, *keep]

    def send(some: list[tuple[str, int, int]]) -> None:
        for value, at_ms, partition in some:
            broker.send(given, value, at_ms, partition)
        broker.flush()

    for place in range(0, len(messages), 500):
        victim = Victim(*command(killed), log=tmp_path / "log")
        send(messages[place : place + 250])
        before, until = len(broker.messages(killed)), time.monotonic() + 30
        while len(broker.messages(killed)) == before and time.monotonic() < until:
            time.sleep(0.05)
        if place == 1000:
            broker.kill()
            broker.start()
        send(messages[place + 250 : place + 500])
        if engine == "spark" and place % 1000 == 500:
            assert victim.kill_a_worker(chance)
            time.sleep(chance.uniform(0, 3))
        time.sleep(chance.uniform(0, 0.3))
        victim.kill()
    expected = run_through(command(whole, "embedded"), broker, whole, 1000)
    found = run_through(command(killed), broker, killed, len(expected))
    assert len(expected) > 1000
    assert sorted(found) == sorted(expected)


def run_through(command: list[str], broker: RealKafka, topic: str, least: int) -> list[bytes]:
    """Lets a run go on until there is enough and nothing more comes; gives what the topic has then."""
    found: list[bytes] = []
    until = time.monotonic() + 120
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stderr=said)
        try:
            while True:
                time.sleep(2)
                before, found = found, [message.value() for message in broker.messages(topic)]
                if len(found) == len(before) and (len(found) >= least or time.monotonic() > until):
                    return found
                if process.poll() is not None:
                    said.seek(0)
                    pytest.fail(said.read().decode())
        finally:
            process.terminate()
            process.wait(30)
