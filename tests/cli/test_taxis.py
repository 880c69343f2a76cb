"""`millstream demo`: its trips and its query, without Spark, which the tests of the pipeline try."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

from millstream import Engine
from millstream.cli.demo import taxis
from tests.reference import Reference


def test_the_trips_are_the_same_every_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        taxis.write_trips(tmp_path / name)
    first, second = ([file.read_text() for file in sorted((tmp_path / name).iterdir())] for name in ("a", "b"))
    assert first == second
    assert len(first) == taxis.FILES


def test_the_ten_routes_change_from_trigger_to_trigger(tmp_path: Path) -> None:
    taxis.write_trips(tmp_path / "trips")
    engine = Engine()
    query = engine.register(taxis.QUERY, output="changes")
    shown: list[set[tuple[str, str]]] = []
    for place, file in enumerate(sorted((tmp_path / "trips").iterdir()), 1):
        engine.read(taxis.TAXI + "trips", file, time="prov")
        if place % taxis.FILES_A_TRIGGER == 0:
            shown.append({(str(row["from"]), str(row["to"])) for row in query.solutions()})
    assert all(len(routes) == 10 for routes in shown)
    assert all(len(one & other) < 10 for one, other in pairwise(shown))


def test_the_changes_add_up_to_the_answer_set(tmp_path: Path) -> None:
    taxis.write_trips(tmp_path / "trips")
    engine = Engine()
    query = engine.register(taxis.QUERY, output="changes")
    for file in sorted((tmp_path / "trips").iterdir()):
        engine.read(taxis.TAXI + "trips", file, time="prov")
    routes: Counter[taxis.Route] = Counter()
    for answer in query.take():
        start, end, trips = (str(answer.bindings[name].value) for name in ("from", "to", "trips"))
        routes[start, end, int(trips)] += answer.weight
    wanted = [tuple(str(row[name].value) for name in ("from", "to", "trips")) for row in query.solutions()]
    assert [(start, end, str(trips)) for start, end, trips in taxis.ranked(routes)] == wanted


def test_the_query_means_what_the_demo_says() -> None:
    reference = Reference()
    query = reference.register(taxis.QUERY, output="changes")
    for at_ms, trip in ((0, 1), (600_000, 2)):
        ends = ("from", "Zoo"), ("to", "Park")
        text = "\n".join(f"<{taxis.TAXI}{trip}> <{taxis.TAXI}{end}> <{taxis.TAXI}{place}> ." for end, place in ends)
        reference.push(taxis.TAXI + "trips", text, at_ms=at_ms)
    reference.finish()
    found = [
        (change.at_ms, sorted((row[2].value, weight) for row, weight in change.rows.items())) for change in query.changes
    ]
    assert found == [
        (0, [("1", 1)]),
        (600_000, [("1", -1), ("2", 1)]),
        (1_800_000, [("1", 1), ("2", -1)]),
        (2_400_000, [("1", -1)]),
    ]
