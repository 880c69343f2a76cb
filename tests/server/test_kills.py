"""What was acknowledged survives kill -9: a server killed at random under load tells what one that never died tells.

The load is repeatable: a request that was not acknowledged is sent again, and has no effect if it was taken.
"""

from __future__ import annotations

import os
import random
import threading
import time
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import millstream as ms
from millstream.client import Change, Client, ClientError
from millstream.output.terms import term_json
from tests.server.serving import PATIENCE_S, Process, free_port

STREAM = "http://e/a"
QUERIES = {
    "near": "PREFIX : <http://e/> SELECT CHANGES ?x ?y ?z { STREAM :a [RANGE 200ms] { ?x :p ?y } ?y :next ?z }",
    "counted": "PREFIX : <http://e/> "
    "SELECT CHANGES ?y (COUNT(?x) AS ?n) { STREAM :a [RANGE 100ms] { ?x :p ?y } } GROUP BY ?y",
    "closed": "PREFIX : <http://e/> "
    "SELECT ?y (COUNT(?x) AS ?n) { STREAM :a [RANGE 100ms STEP 50ms] { ?x :p ?y } } GROUP BY ?y",
}
SETTINGS = """
state = "state"
snapshot_bytes = 6000
progress = "100ms"
[limits]
one_offs = 0
subscriber_events = 100000
horizon_events = 100000
horizon_bytes = 100000000
"""
Op = tuple[str, str, int]


def load(count: int, seed: int) -> list[Op]:
    """Elements of a stream, a change of a dataset now and then."""
    chance = random.Random(seed)
    found: list[Op] = []
    for number in range(count):
        place = f"<http://e/y{chance.randrange(4)}>"
        if chance.random() < 0.2:
            verb = chance.choice(["INSERT", "INSERT", "DELETE"])
            found.append(("update", f"{verb} DATA {{ {place} <http://e/next> <http://e/z{chance.randrange(3)}> }}", 0))
        else:
            found.append(("push", f"<http://e/x{number}> <http://e/p> {place} .", 5 * number))
    return found


def never_died(ops: list[Op]) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """What each query tells, and its answers at the end."""
    engine = ms.Engine()
    queries = {name: engine.register(text) for name, text in QUERIES.items()}
    told: dict[str, list[Any]] = {name: [] for name in queries}
    for kind, text, at_ms in ops:
        if kind == "push":
            engine.push(STREAM, text, at_ms)
        else:
            engine.read_changes(text.encode(), format="sparql")
        for name, query in queries.items():
            for time_ms, some in groupby(query.take(), key=lambda answer: answer.at_ms):
                weights: dict[str, int] = {}
                for answer in some:
                    row = _row({key: term_json(term) for key, term in answer.bindings.items()})
                    weights[row] = weights.get(row, 0) + answer.weight
                added = sorted(row for row, weight in weights.items() for _ in range(weight))
                removed = sorted(row for row, weight in weights.items() for _ in range(-weight))
                if added or removed:
                    told[name].append((time_ms, added, removed))
    answers = {
        name: sorted(_row({key: term_json(term) for key, term in row.items()}) for row in query.solutions())
        for name, query in queries.items()
    }
    return told, answers


def _row(bindings: dict[str, Any]) -> str:
    return str(sorted((name, cell["value"]) for name, cell in bindings.items()))


class Load(threading.Thread):
    """Sends everything in order, again and again until it is acknowledged."""

    def __init__(self, url: str, ops: list[Op]) -> None:
        super().__init__(daemon=True)
        self._url, self._ops, self._chance = url, ops, random.Random(len(ops))
        self.acknowledged = 0

    def run(self) -> None:
        with Client(self._url, timeout_s=PATIENCE_S) as client:
            for kind, text, at_ms in self._ops:
                while True:
                    try:
                        if kind == "push":
                            found = client.push(STREAM, text, at_ms)
                            assert (found["elements"], found["late"]) == (1, 0)
                        else:
                            client.update(text)
                        break
                    except ClientError as error:
                        if error.status not in (0, 503):
                            raise
                        time.sleep(0.02)
                self.acknowledged += 1
                # A pace at which it lasts as long as servers are killed.
                time.sleep(self._chance.random() * 0.03)


class Subscribed(threading.Thread):
    """Collects what one query tells, resuming whenever the server has died."""

    def __init__(self, url: str, name: str) -> None:
        super().__init__(daemon=True)
        self._url, self._name = url, name
        self.changes: list[Change] = []
        self.is_over = False

    def run(self) -> None:
        with Client(self._url) as client:
            try:
                for change in client.subscribe(self._name, patience_s=3600):
                    self.changes.append(change)
            except ClientError:
                # The last server ends before everybody has heard that the query is closed.
                if not self.is_over:
                    raise

    @property
    def told(self) -> list[Any]:
        first, *rest = self.changes
        assert first.is_snapshot
        assert not any(change.is_snapshot for change in rest), "events were lost"
        return [(change.at_ms, sorted(map(_row, change.added)), sorted(map(_row, change.removed))) for change in rest]


def killed_at_random(folder: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    (folder / "serve.toml").write_text(SETTINGS)
    port = free_port()
    server = Process("serve.toml", cwd=folder, port=port)
    with Client(server.url) as client:
        for name, text in QUERIES.items():
            client.register(text, name)
    ops = load(30 * (kills + 1), seed)
    subscribers = [Subscribed(server.url, name) for name in QUERIES for _ in range(2)]
    for subscriber in subscribers:
        subscriber.start()
    _wait(lambda: all(subscriber.changes for subscriber in subscribers))
    sender = Load(server.url, ops)
    sender.start()
    try:
        for _ in range(kills):
            before = sender.acknowledged
            _wait(lambda before=before: sender.acknowledged > before or not sender.is_alive())
            # Some are killed before anybody has come back to them.
            time.sleep(chance.choice([0.1, 2.0]) * chance.random())
            server.kill()
            server = Process("serve.toml", cwd=folder, port=port)
        while sender.is_alive():
            before = sender.acknowledged
            _wait(lambda before=before: sender.acknowledged > before or not sender.is_alive())
        assert sender.acknowledged == len(ops)
        told, answers = never_died(ops)
        for subscriber in subscribers:
            expected = told[subscriber._name]
            ends = time.monotonic() + PATIENCE_S
            while len(subscriber.told) < len(expected) and time.monotonic() < ends:
                time.sleep(0.01)
            assert subscriber.told == expected
            ids = [tuple(map(int, change.id.split("."))) for change in subscriber.changes]
            assert ids == sorted(set(ids))
        for subscriber in subscribers:
            subscriber.is_over = True
        with Client(server.url) as client:
            for name in QUERIES:
                assert sorted(map(_row, client.answers(name))) == answers[name]
                client.close_query(name)
        assert server.stop() == 0
    finally:
        server.kill()


def _wait(true: Any) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.005)


@pytest.mark.slow
def test_a_server_that_is_killed_tells_what_one_that_never_died_tells(tmp_path: Path) -> None:
    killed_at_random(tmp_path, 2, 1)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_server_that_is_killed_a_hundred_times(tmp_path: Path) -> None:
    seed = int(os.environ.get("MILLSTREAM_SEED", "7"))
    killed_at_random(tmp_path, 100, seed)
