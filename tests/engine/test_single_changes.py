"""Changes of graphs and elements of one triple each, which take ways of their own, answer as all others do.

The first tests catch what the short ways do differently from the reference, alone and among queries that come and go; the
next what a snapshot or a forgotten term leaves of them; the last whether changes take them at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import DataError, Engine
from millstream.engine.core import Core
from millstream.engine.graph_lane import GraphLanes
from millstream.engine.run import QueryRun
from tests.engine.any_query import any_scenarios, any_sessions, family_sessions, sharing_sessions
from tests.engine.machines import check, check_once, compare_runs, forget_all_that_may_be, run_session
from tests.engine.notation import S, emitted, nt, over
from tests.engine.scenarios import STREAMS, Scenario, Session, Step, groups, scenarios, sessions, triples

some = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
T = TypeVar("T", Scenario, Session)


def singly(happening: T) -> T:
    """The same with a triple a call, and nothing that waits."""
    return replace(happening, lateness_ms=0, steps=tuple(part for step in happening.steps for part in _parts(step)))


def _parts(step: object) -> Iterator[object]:
    if isinstance(step, Step) and step.triples:
        for triple in step.triples[:3]:
            yield replace(step, triples=(triple,))
    else:
        yield step


@settings(some, max_examples=200)
@given(scenarios())
def test_patterns_answer_as_recomputed(scenario: Scenario) -> None:
    check(singly(scenario))


stepping = st.tuples(st.integers(1, 20), st.integers(3, 10)).map(lambda x: f"RANGE {x[0]} STEP {x[1]}")
lasting = st.one_of(st.integers(1, 8).map(lambda g: f"SESSION {g}"), st.integers(2, 9).map(lambda x: f"LANDMARK {x}"))


@st.composite
def one_by_one(draw: st.DrawFn, window: st.SearchStrategy[str], streams: list[str]) -> Scenario:
    """Many elements, and now and then something else."""
    names = st.sampled_from(streams)
    blocks = [f"STREAM <{draw(names)}> [{draw(window)}] {{ {draw(groups())} }}" for _ in range(draw(st.integers(1, 2)))]
    blocks += [f"{{ {draw(groups())} }}"] if draw(st.booleans()) else []
    text = f"SELECT * WHERE {{ {' '.join(block.replace('_:x', f'_:x{i}') for i, block in enumerate(blocks))} }}"
    steps, now = [], draw(st.integers(-3, 3))
    for _ in range(draw(st.integers(5, 30))):
        now += draw(st.sampled_from([0, 0, 1, 1, 1, 2, 7]))
        call = draw(st.sampled_from(["push"] * 9 + ["insert", "delete", "advance"]))
        target = draw(names) if call == "push" else None
        steps.append(Step(call, target, () if call == "advance" else (draw(triples),), now))
    output = draw(st.sampled_from([None, "istream", "dstream", "rstream", "changes"]))
    return Scenario(text, output, 0, draw(st.sampled_from([0, 1])), tuple(steps))


@settings(some, max_examples=100)
@given(one_by_one(stepping, STREAMS[:1]))
def test_what_waits_for_an_instant_answers_as_recomputed(scenario: Scenario) -> None:
    check(scenario)


@settings(some, max_examples=100)
@given(one_by_one(lasting, STREAMS))
def test_what_silence_or_a_grid_ends_answers_as_recomputed(scenario: Scenario) -> None:
    check(scenario)


@some
@given(any_scenarios(), st.booleans())
def test_any_query_answers_as_recomputed(scenario: Scenario, looks: bool) -> None:
    check_once(singly(scenario), looks=looks)


@some
@given(st.one_of(sessions(), any_sessions(), family_sessions(), sharing_sessions()), st.booleans())
def test_queries_that_come_and_go_answer_as_recomputed(session: Session, take_each: bool) -> None:
    run_session(singly(session), take_each=take_each)


@some
@given(st.one_of(sessions(), any_sessions()), st.booleans())
def test_an_engine_restored_after_every_change_goes_on(session: Session, take_each: bool) -> None:
    compare_runs(singly(session), lambda engine: Engine.restore(engine.snapshot()), take_each=take_each)


@some
@given(st.one_of(sessions(), any_sessions()), st.booleans())
def test_no_term_is_forgotten_while_it_is_needed(session: Session, take_each: bool) -> None:
    compare_runs(singly(session), forget_all_that_may_be, take_each=take_each)


def _taken(engine: Engine, call: str, text: str, **options: object) -> int:
    """How many triples went the short way."""
    with patch.object(GraphLanes, "take", autospec=True, side_effect=GraphLanes.take) as take:
        getattr(engine, call)(text, **options)
    return take.call_count


STAR = "SELECT CHANGES ?x ?y ?z WHERE { ?x <http://example.org/p> ?y . ?x <http://example.org/q> ?z }"


def test_single_changes_go_straight_to_the_joins() -> None:
    engine = Engine()
    query = engine.register(STAR)
    assert _taken(engine, "insert", nt("a p b")) == 1
    assert _taken(engine, "insert", nt("a q c"), at_ms=5) == 1
    # It is there, so nothing happens; it is not, so nothing does either.
    assert _taken(engine, "insert", nt("a q c"), at_ms=6) == 0
    assert _taken(engine, "delete", nt("a q d"), at_ms=6) == 0
    assert _taken(engine, "delete", nt("a p b")) == 1
    assert emitted(query) == ["5 +a b c", "6 -a b c"]
    assert engine.stats["changes"] == 3


@pytest.mark.parametrize(
    "text",
    [
        "SELECT CHANGES ?x ?y WHERE { ?x ?p ?y }",
        "SELECT CHANGES ?x ?y WHERE { STREAM :s [RANGE 4 STEP 2] { ?x ?p ?z } ?x :p ?y }",
        "SELECT CHANGES ?x ?y FROM :s FROM :t WHERE { ?x :p ?y }",
    ],
)
def test_where_a_query_has_no_short_way_none_does(text: str) -> None:
    engine = Engine()
    engine.register(STAR)
    other = engine.register(f"PREFIX : <http://example.org/> {text}")
    graph = S if "FROM" in text else None
    assert _taken(engine, "insert", nt("a p b"), graph=graph) == 0
    other.close()
    assert _taken(engine, "insert", nt("c p b"), graph=graph) == 1


def test_patterns_without_variables_are_on_the_way_too() -> None:
    engine = Engine()
    both = engine.register("PREFIX : <http://example.org/> SELECT CHANGES ?x ?y WHERE { :a :p :b . ?x :q ?y }")
    ask = engine.register("PREFIX : <http://example.org/> ASK { :a :p :b }", output="changes")
    assert _taken(engine, "insert", nt("a p b"), at_ms=1) == 1
    assert _taken(engine, "insert", nt("c q d"), at_ms=2) == 1
    assert _taken(engine, "insert", nt("a p c"), at_ms=3) == 1
    assert _taken(engine, "delete", nt("a p b"), at_ms=4) == 1
    assert emitted(both) == ["2 +c d", "4 -c d"]
    assert emitted(ask) == ["0 +false", "1 -false", "1 +true", "4 -true", "4 +false"]


def test_filters_are_asked_on_the_way() -> None:
    engine = Engine()
    query = engine.register(
        over("RANGE 9", "?x :p ?y FILTER(?y != :b)", more="?y :q ?z FILTER(?z != :no)"), output="changes"
    )
    engine.push(S, nt("a p b"), at_ms=1)
    engine.push(S, nt("a p c"), at_ms=2)
    assert _taken(engine, "insert", nt("b q yes"), at_ms=3) == 1
    assert _taken(engine, "insert", nt("c q no"), at_ms=4) == 1
    assert _taken(engine, "insert", nt("c q yes"), at_ms=5) == 1
    assert _taken(engine, "delete", nt("c q no"), at_ms=6) == 1
    assert _taken(engine, "delete", nt("c q yes"), at_ms=7) == 1
    assert emitted(query) == ["5 +a c yes", "7 -a c yes"]


def test_changes_and_elements_take_turns() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 4", more="?y :q ?z"), output="changes")
    engine.push(S, nt("a p b"), at_ms=1)
    engine.insert(nt("b q c"), at_ms=2)
    engine.push(S, nt("d p b"), at_ms=3)
    engine.delete(nt("b q c"), at_ms=6)
    assert emitted(query) == ["2 +a b c", "3 +d b c", "5 -a b c", "6 -d b c"]


def test_a_session_takes_the_short_way_and_ends_before_what_comes_next() -> None:
    engine = Engine()
    query = engine.register(over("SESSION 4", more="?y :q ?z"), output="changes")
    engine.push(S, nt("a p b"), at_ms=1)
    assert _taken(engine, "insert", nt("b q c"), at_ms=2) == 1
    engine.push(S, nt("x r x"), at_ms=4)
    assert engine._core.streams[S].lanes is not None
    assert _taken(engine, "insert", nt("b q d"), at_ms=8) == 1
    engine.push(S, nt("e p b"), at_ms=9)
    engine.finish()
    assert emitted(query) == ["2 +a b c", "8 -a b c", "9 +e b c", "9 +e b d", "13 -e b c", "13 -e b d"]


def test_what_is_malformed_says_so_and_changes_nothing() -> None:
    engine = Engine()
    engine.register(STAR)
    with pytest.raises(DataError, match="line 1"):
        engine.insert("<http://example.org/a> <http://example.org/p> .")
    assert engine.stats["changes"] == 0


def test_elements_that_nobody_can_see_yet_wait_for_the_next_instant() -> None:
    engine, heard = Engine(), []
    engine.register(over("RANGE 10 STEP 5"), output="changes", on_answer=lambda x: heard.append((x.at_ms, x.weight)))
    with patch.object(Core, "hand_on", autospec=True, side_effect=Core.hand_on) as hand_on:
        for at_ms in (1, 2, 3, 5):
            engine.push(S, nt(f"a{at_ms} p b"), at_ms=at_ms)
        # The first with what datasets give, the next to learn when the instant is; the others wait.
        assert hand_on.call_count == 2
        assert not heard
        engine.push(S, nt("c p d"), at_ms=6)
        assert heard == [(5, 1)] * 4
        assert hand_on.call_count == 4
        engine.push(S, nt("e p f"), at_ms=7)
        assert hand_on.call_count == 4
        assert engine.stats["elements"] == 6
        assert hand_on.call_count == 5
    engine.advance_to(10)
    assert heard == [(5, 1)] * 4 + [(10, 1)] * 2


def _noting(happened: list[str], method: Callable[..., None]) -> Callable[..., None]:
    def noting(*arguments: object) -> None:
        happened.append(method.__name__)
        method(*arguments)

    return noting


@pytest.mark.parametrize("call", ["load", "insert", "insert of many"])
def test_what_waits_comes_before_a_change_of_a_graph(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    query = engine.register(over("RANGE 10 STEP 5", more="?y :q ?z"), output="changes")
    for at_ms in (1, 2, 3):
        engine.push(S, nt(f"a{at_ms} p b"), at_ms=at_ms)
    happened: list[str] = []
    for name in ("elements", "graph_changed"):
        monkeypatch.setattr(QueryRun, name, _noting(happened, getattr(QueryRun, name)))
    match call:
        case "load":
            engine.load(nt("b q c").encode(), format="nt")
        case "insert":
            engine.insert(nt("b q c"))
        case _:
            engine.insert(nt("b q c", "d q e"))
    assert happened == ["elements", "graph_changed"]
    engine.push(S, nt("a4 p b"), at_ms=4)
    engine.advance_to(5)
    assert emitted(query) == [f"5 +a{number} b c" for number in (1, 2, 3, 4)]
