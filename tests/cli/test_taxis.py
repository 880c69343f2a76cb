"""`millstream demo`: its rides and its query, without Spark, which the tests of the pipeline try."""

from __future__ import annotations

from pathlib import Path

from millstream import Engine
from millstream.cli import taxis
from tests.reference import Reference


def test_the_rides_are_the_same_every_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        taxis.write_rides(tmp_path / name)
    first, second = ([file.read_text() for file in sorted((tmp_path / name).iterdir())] for name in ("a", "b"))
    assert first == second
    assert len(first) == taxis.FILES


def test_there_are_some_answers_in_every_trigger_but_not_too_many_to_read(tmp_path: Path) -> None:
    taxis.write_rides(tmp_path / "rides")
    engine = Engine()
    query = engine.register(taxis.QUERY)
    found = []
    for file in sorted((tmp_path / "rides").iterdir()):
        engine.read(taxis.TAXI + "rides", file, time="prov")
        found.append(len(query.take()))
    assert min(a + b for a, b in zip(found[::2], found[1::2], strict=True)) > 0
    assert sum(found) < 60


def test_the_query_means_what_the_demo_says() -> None:
    reference = Reference()
    query = reference.register(taxis.QUERY)
    for at_ms, taxi, verb in ((0, 1, "setDownAt"), (10_000, 2, "pickedUpAt"), (41_000, 3, "pickedUpAt")):
        triple = f"<{taxis.TAXI}taxi_{taxi}> <{taxis.TAXI}{verb}> <{taxis.TAXI}Zoo> ."
        reference.push(taxis.TAXI + "rides", triple, at_ms=at_ms)
    reference.finish()
    assert [change.at_ms for change in query.changes if change.rows] == [10_000]
