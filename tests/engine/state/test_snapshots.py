"""A snapshot continues exactly where it was taken, and refuses what it is not."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine, SnapshotError
from millstream.engine.snapshot import pack, unpack
from tests.engine.machines import assert_same, flat, play, take_step
from tests.engine.scenarios import Scenario, scenarios
from tests.reference import Reference


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios(), st.data())
def test_a_restored_engine_answers_as_the_one_that_went_on(scenario: Scenario, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(scenario.steps)), label="steps before the snapshot")
    engine = Engine(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms)
    query = engine.register(scenario.query, output=scenario.output)
    for step in scenario.steps[:cut]:
        take_step(engine, step)
    restored = Engine.restore(engine.snapshot())
    (again,) = restored.queries
    for step in scenario.steps[cut:]:
        take_step(engine, step)
        take_step(restored, step)
    engine.finish()
    restored.finish()
    # Within a change rows go by ids, which another engine may give out in another order.
    expected = play(Reference(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms), scenario)
    for one in (query, again):
        assert_same(flat(one.take(), one.variables), expected.changes)
    assert sorted(map(str, again.solutions())) == sorted(map(str, query.solutions()))
    # What was swept so far, and how pairs that wait are put together, may differ.
    same = {"terms": 0, "stored": 0}
    assert restored.stats | same == engine.stats | same


def test_what_was_emitted_and_not_taken_is_in_the_snapshot() -> None:
    engine = Engine()
    engine.register("SELECT ?x WHERE { STREAM <http://e/s> [RANGE 10] { ?x <http://e/p> ?y } }")
    engine.push("http://e/s", "<http://e/a> <http://e/p> <http://e/b> .", at_ms=1)
    (query,) = Engine.restore(engine.snapshot()).queries
    assert [(a.at_ms, a.bindings["x"].value) for a in query.take()] == [(1, "http://e/a")]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a snapshot"),
        (b"PK\x03\x04 something else", "not a snapshot"),
        (b"millstream snapshot 999\n...", "layout 999"),
        (b"millstream snapshot 8\nnot an archive", "damaged"),
    ],
)
def test_other_bytes_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(SnapshotError, match=said):
        Engine.restore(data)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("core", "terms", 0), np.array([0, 1, 1 << 31])),
        (("core", "terms", 2), np.zeros(1, np.int64)),
        (("core", "graphs", 0, 1), np.array([[0, 1, 77]])),
        (("core", "graphs", 0, 1), np.array([[0.0, 1.0, 2.0]])),
        (("core", "runs", 0, "tick"), -(1 << 40)),
        (("core", "runs", 0, "tick"), 1 << 40),
        (("core", "runs", 0, "operator", "leaves", 0, "components", 0, 1), np.array([9])),
        (("core", "runs", 0, "operator", "leaves", 0, "components", 0, 2), np.array([77])),
        (("core", "runs", 0, "operator", "leaves", 0, "components", 0, 4), np.array([1, 2])),
        (("core", "queries", 0, "emissions", 0, 2), np.array([1, 1, 1])),
        (("core", "queries", 0, "family"), -1),
        (("core", "before"), None),
        (("options", "lateness_ms"), -5),
        (("core", "before"), 400),
        (("ordering", 0), None),
        (("ordering", 0), -28),
        (("ordering", 0), 27),
        (("ordering", 1), 25),
        (("ordering", 2), "many"),
        (("ordering", 3, 0, 0), -25),
        (("ordering", 3, 0, 0), 22),
        (("ordering", 3, 1, 0), 29),
    ],
)
def test_a_snapshot_with_a_wrong_value_is_refused(path: tuple[Any, ...], value: Any) -> None:
    engine = Engine(lateness_ms=6)
    engine.insert("<http://e/a> <http://e/p> <http://e/b> .")
    engine.register("SELECT * WHERE { STREAM <http://e/s> [RANGE 30] { ?x <http://e/p> ?y } }")
    for at_ms in (1, 25, 28):
        engine.push("http://e/s", "<http://e/a> <http://e/p> <http://e/b> .", at_ms=at_ms)
    whole = unpack(engine.snapshot())
    assert Engine.restore(pack(whole)).stats == engine.stats
    state = whole
    for key in path[:-1]:
        state = state[key]
    state[path[-1]] = value
    with pytest.raises(SnapshotError, match="the snapshot is damaged: "):
        Engine.restore(pack(whole))


def test_a_snapshot_of_what_happened_before_there_was_a_time() -> None:
    engine = Engine(t0_ms=3)
    engine.register("ASK { ?x <http://e/p> ?y }", output="changes")
    engine.load(b"<http://e/a> <http://e/p> <http://e/b> .", format="nt")
    engine.push("http://e/s", "<http://e/a> <http://e/p> <http://e/b> .", at_ms=0)
    (query,) = Engine.restore(engine.snapshot()).queries
    assert [(a.at_ms, a.weight, a.boolean) for a in query.take()] == [(3, 1, False), (3, -1, False), (3, 1, True)]


SESSION = "SELECT * WHERE { STREAM <http://e/s> [SESSION 10] { ?x <http://e/p> ?y } }"


def test_a_session_goes_on_where_a_snapshot_was_taken() -> None:
    engine = Engine()
    engine.register(SESSION, output="changes")
    engine.push("http://e/s", "<http://e/a> <http://e/p> <http://e/b> .", at_ms=1)
    engine = Engine.restore(engine.snapshot())
    engine.push("http://e/s", "<http://e/a> <http://e/q> <http://e/b> .", at_ms=9)
    engine = Engine.restore(engine.snapshot())
    engine.finish()
    (query,) = engine.queries
    assert [(a.at_ms, a.weight) for a in query.take()] == [(1, 1), (19, -1)]


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, "late"), (1, 1 << 63), (2, False), (3, np.array([[9, 0, 1, 2]])), (3, np.array([[0, 0, 1, 77]]))],
)
def test_a_session_with_a_wrong_value_is_refused(place: int, value: Any) -> None:
    engine = Engine()
    engine.register(SESSION)
    engine.push("http://e/s", "<http://e/a> <http://e/p> <http://e/b> .", at_ms=1)
    whole = unpack(engine.snapshot())
    whole["core"]["runs"][0]["contents"]["windows"][0][place] = value
    with pytest.raises(SnapshotError, match="the snapshot is damaged: "):
        Engine.restore(pack(whole))


def test_numbers_of_terms_that_lie_far_apart_take_no_room() -> None:
    engine = Engine()
    engine.insert("<http://e/a> <http://e/p> <http://e/b> .")
    whole = unpack(engine.snapshot())
    far = np.array([0, 1 << 20, (1 << 31) + 5])
    whole["core"]["terms"][0] = far
    whole["core"]["graphs"][0][1] = far[whole["core"]["graphs"][0][1]]
    restored = Engine.restore(pack(whole))
    query = restored.register("SELECT * WHERE { ?s ?p ?o }")
    restored.insert("<http://e/a> <http://e/p> <http://e/c> .")
    assert len(query.solutions()) == 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 << 20


def test_a_cut_snapshot_is_refused() -> None:
    data = Engine().snapshot()
    with pytest.raises(SnapshotError):
        Engine.restore(data[: len(data) // 2])
