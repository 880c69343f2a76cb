"""Changes of graphs and elements of one triple each answer as all others do.

The first tests compare with the reference, alone and among queries that come and go; the next find what a snapshot or a
forgotten term leaves of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import DataError, Engine
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


STAR = "SELECT CHANGES ?x ?y ?z WHERE { ?x <http://example.org/p> ?y . ?x <http://example.org/q> ?z }"


def test_only_what_changes_a_graph_is_a_change() -> None:
    engine = Engine()
    query = engine.register(STAR)
    engine.insert(nt("a p b"))
    engine.insert(nt("a q c"), at_ms=5)
    # It is there, so nothing happens; it is not, so nothing does either.
    engine.insert(nt("a q c"), at_ms=6)
    engine.delete(nt("a q d"), at_ms=6)
    engine.delete(nt("a p b"))
    assert emitted(query) == ["5 +a b c", "6 -a b c"]
    assert engine.stats["changes"] == 3


def test_patterns_without_variables() -> None:
    engine = Engine()
    both = engine.register("PREFIX : <http://example.org/> SELECT CHANGES ?x ?y WHERE { :a :p :b . ?x :q ?y }")
    ask = engine.register("PREFIX : <http://example.org/> ASK { :a :p :b }", output="changes")
    engine.insert(nt("a p b"), at_ms=1)
    engine.insert(nt("c q d"), at_ms=2)
    engine.insert(nt("a p c"), at_ms=3)
    engine.delete(nt("a p b"), at_ms=4)
    assert emitted(both) == ["2 +c d", "4 -c d"]
    assert emitted(ask) == ["0 +false", "1 -false", "1 +true", "4 -true", "4 +false"]


def test_filters_of_one_variable() -> None:
    engine = Engine()
    query = engine.register(
        over("RANGE 9", "?x :p ?y FILTER(?y != :b)", more="?y :q ?z FILTER(?z != :no)"), output="changes"
    )
    engine.push(S, nt("a p b"), at_ms=1)
    engine.push(S, nt("a p c"), at_ms=2)
    engine.insert(nt("b q yes"), at_ms=3)
    engine.insert(nt("c q no"), at_ms=4)
    engine.insert(nt("c q yes"), at_ms=5)
    engine.delete(nt("c q no"), at_ms=6)
    engine.delete(nt("c q yes"), at_ms=7)
    assert emitted(query) == ["5 +a c yes", "7 -a c yes"]


def test_changes_and_elements_take_turns() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 4", more="?y :q ?z"), output="changes")
    engine.push(S, nt("a p b"), at_ms=1)
    engine.insert(nt("b q c"), at_ms=2)
    engine.push(S, nt("d p b"), at_ms=3)
    engine.delete(nt("b q c"), at_ms=6)
    assert emitted(query) == ["2 +a b c", "3 +d b c", "5 -a b c", "6 -d b c"]


def test_a_session_ends_before_what_comes_next() -> None:
    engine = Engine()
    query = engine.register(over("SESSION 4", more="?y :q ?z"), output="changes")
    engine.push(S, nt("a p b"), at_ms=1)
    engine.insert(nt("b q c"), at_ms=2)
    engine.push(S, nt("x r x"), at_ms=4)
    engine.insert(nt("b q d"), at_ms=8)
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
    for at_ms in (1, 2, 3, 5):
        engine.push(S, nt(f"a{at_ms} p b"), at_ms=at_ms)
    assert not heard
    engine.push(S, nt("c p d"), at_ms=6)
    assert heard == [(5, 1)] * 4
    engine.push(S, nt("e p f"), at_ms=7)
    assert engine.stats["elements"] == 6
    engine.advance_to(10)
    assert heard == [(5, 1)] * 4 + [(10, 1)] * 2


@pytest.mark.parametrize("call", ["load", "insert", "insert of many"])
def test_what_waits_comes_before_a_change_of_a_graph(call: str) -> None:
    engine = Engine()
    query = engine.register(over("RANGE 10 STEP 5", more="?y :q ?z"), output="changes")
    for at_ms in (1, 2, 3):
        engine.push(S, nt(f"a{at_ms} p b"), at_ms=at_ms)
    match call:
        case "load":
            engine.load(nt("b q c").encode(), format="nt")
        case "insert":
            engine.insert(nt("b q c"))
        case _:
            engine.insert(nt("b q c", "d q e"))
    engine.push(S, nt("a4 p b"), at_ms=4)
    engine.advance_to(5)
    assert emitted(query) == [f"5 +a{number} b c" for number in (1, 2, 3, 4)]
