"""`millstream demo`: its city and its query, what it compares with, whom it kills; and all of it, on Spark."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console

from millstream.cli.demo import city, live, taxis
from millstream.cli.demo.workers import Killing, can_be_seen
from tests.reference import Reference
from tests.server.serving import serving, until

PARENT = """
import os, sys, time
busy = os.fork()
if not busy:
    while True:
        pass
idle = os.fork()
if not idle:
    time.sleep(60)
print(busy, idle, flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("city") / "data"
    city.write(folder)
    return folder


@pytest.fixture(scope="module")
def answers(written: Path) -> dict[taxis.Change, int]:
    return dict(taxis.alone(written))


def test_the_city_is_the_same_every_time(written: Path, tmp_path: Path) -> None:
    city.write(tmp_path / "again")
    files = [path.relative_to(written) for path in written.rglob("*.n[qt]")]
    assert len(files) == 2 * city.FILES + 1
    assert all((written / name).read_bytes() == (tmp_path / "again" / name).read_bytes() for name in files)


def test_of_two_late_reports_one_counts_and_one_is_set_aside(written: Path, answers: dict[taxis.Change, int]) -> None:
    assert any(taxis._of_slow(change) for change in answers)
    assert taxis._letters(written / "late.jsonl") == 1
    assert city.named(city.TOO_LATE.street) in (written / "late.jsonl").read_text()
    assert taxis._late(city.SLOW).endswith("it still counts")
    assert taxis._late(city.TOO_LATE).endswith("too late, set aside")


def test_changes_of_the_map_take_warnings_away_and_bring_some(answers: dict[taxis.Change, int]) -> None:
    seen = {(at_ms, weight, street) for at_ms, weight, _, _, street in answers}
    closing = [change for change in city.map_changes() if not change.opens]
    opening = [change for change in city.map_changes() if change.opens]
    assert sum((change.at_ms, -1, change.street) in seen for change in closing) > 5
    assert sum((change.at_ms, 1, change.street) in seen for change in opening) > 5


def test_the_changes_add_up_to_nothing_in_the_end(answers: dict[taxis.Change, int]) -> None:
    left: dict[tuple[str, ...], int] = {}
    for (_, weight, *names), count in answers.items():
        left[tuple(names)] = left.get(tuple(names), 0) + weight * count
    assert set(left.values()) == {0}


def test_the_query_means_what_the_demo_says() -> None:
    #  minutes    0    1    2    3    4    5
    #  jam             x--------------)
    #  taxi       x------------------------)
    #  street          open      closed
    reference = Reference()
    street, place = city.STREETS[0], city.PLACES[0]
    opened, closed = (city.MapChange(0, opens, street, place) for opens in (True, False))
    query = reference.register(city.QUERY)
    reference.insert(opened.line[2:], at_ms=0)
    reference.push(city.RIDES, f"<{city.CITY}taxi/7> <{city.CITY}headsFor> {city.named(place)} .", at_ms=0)
    reference.push(city.JAMS, city.jam(street), at_ms=60_000)
    reference.delete(closed.line[2:], at_ms=180_000)
    reference.finish()
    found = [(change.at_ms, list(change.rows.values())) for change in query.changes]
    assert found == [(60_000, [1]), (180_000, [-1])]


@pytest.mark.skipif(not can_be_seen(), reason="this system does not tell which processes there are")
def test_the_worker_that_is_killed_is_one_at_work() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, "pyspark.daemon"], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        busy, idle = map(int, parent.stdout.readline().split())
        try:
            with Killing(lambda: True, parent.pid) as killing:
                until(lambda: killing.pids)
            assert killing.pids == [busy]
        finally:
            for pid in (busy, idle):
                os.kill(pid, 9)
            parent.kill()


@pytest.mark.skipif(not can_be_seen(), reason="this system does not tell which processes there are")
def test_where_no_worker_is_at_work_none_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()", "pyspark.daemon"], stdin=subprocess.PIPE) as parent:
        with Killing(lambda: False, parent.pid) as killing:
            time.sleep(0.1)
        parent.communicate(b"\n")
    assert killing.pids == []


def test_in_a_pipe_nobody_is_asked_anything(capsys: pytest.CaptureFixture[str]) -> None:
    live.offer(Console(file=sys.stdout))
    assert "millstream serve" in capsys.readouterr().out


def test_the_city_goes_on_at_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_TURN_S", 0.001)
    with serving() as server:
        server.update("INSERT DATA { " + " ".join(city.map_lines()) + " }")
        server.register(live.QUERY, "jams")
        ends = threading.Event()
        thread = threading.Thread(target=live.feed, args=(server.server.url, ends))
        thread.start()
        try:
            until(lambda: server.http.get("/queries/jams").json()["answers"] > 20)
        finally:
            ends.set()
            thread.join()
    assert "[RANGE 30s]" in live.QUERY
    assert "[RANGE 20s]" in live.QUERY


@pytest.fixture(scope="module")
def told() -> str:
    pytest.importorskip("pyspark")
    done = subprocess.run(
        [sys.executable, "-m", "millstream", "demo"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=280
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
def test_on_spark_nothing_is_lost(told: str) -> None:
    assert "same answers" in told
    assert "Set aside as too late by either: 1 report" in told


@pytest.mark.slow
@pytest.mark.skipif(not can_be_seen(), reason="this system does not tell which processes there are")
def test_on_spark_a_worker_is_killed_and_its_task_runs_again(told: str) -> None:
    assert "is killed at its work" in told
    assert "failed, and ran again" in told


@pytest.mark.slow
def test_in_a_pipe_it_is_plain_and_fits_80_columns(told: str) -> None:
    assert "\x1b" not in told
    assert max(map(len, told.splitlines())) <= 80
