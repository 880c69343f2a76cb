"""Queries that have parts of their plans in common share them, and answer as if each ran by itself.

The random tests catch state of one query that another one sees or takes away, and what depends on who came first; those that
follow say what is shared, and that what goes leaves the others as they were.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine
from tests.engine.any_query import sharing_sessions
from tests.engine.machines import compare_runs, compare_with_engines_of_their_own, forget_all_that_may_be, run_session
from tests.engine.notation import NAMESPACE, S, answer_set, emitted, nt
from tests.engine.scenarios import Session

some = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@settings(some, max_examples=40)
@given(sharing_sessions(), st.booleans())
def test_those_that_share_answer_as_recomputed(session: Session, take_each: bool) -> None:
    run_session(session, take_each=take_each)


@some
@given(sharing_sessions(), st.booleans())
def test_those_that_share_go_on_as_if_nothing_was_when_restored(session: Session, take_each: bool) -> None:
    compare_runs(session, lambda engine: Engine.restore(engine.snapshot()), take_each=take_each)


@some
@given(sharing_sessions(), st.booleans())
def test_no_shared_term_is_forgotten_while_somebody_needs_it(session: Session, take_each: bool) -> None:
    compare_runs(session, forget_all_that_may_be, take_each=take_each)


@some
@given(sharing_sessions(), st.integers(1, 6), st.booleans())
def test_those_that_share_answer_as_in_engines_of_their_own(session: Session, cut: int, calls_back: bool) -> None:
    compare_with_engines_of_their_own(session, cut, calls_back=calls_back)


# One fact each ----------------------------------------------------------------------------------------------------------

SEEN = f"STREAM <{S}> [RANGE 10] {{ ?x :at ?y }} GRAPH :plan {{ ?y :on ?f }}"
WHERE = {
    "where": f"SELECT CHANGES ?x ?y WHERE {{ {SEEN} }}",
    "how many": f"SELECT CHANGES ?y (COUNT(DISTINCT ?x) AS ?n) WHERE {{ {SEEN} }} GROUP BY ?y",
    "named": f"SELECT CHANGES ?x ?y ?n WHERE {{ {SEEN} OPTIONAL {{ GRAPH :plan {{ ?y :name ?n }} }} }}",
}


def text(name: str) -> str:
    return f"PREFIX : <{NAMESPACE}> {WHERE[name]}"


def office() -> Engine:
    engine = Engine()
    engine.insert(nt("hall on ground", "lab on first", "lab name Lab"), graph=NAMESPACE + "plan")
    return engine


def runs(engine: Engine) -> int:
    return len(engine._core.runs)


def test_different_queries_store_what_they_have_in_common_once() -> None:
    engine = office()
    queries = [engine.register(text(name)) for name in WHERE]
    engine.push(S, nt("a at hall", "b at lab"), at_ms=1)
    assert runs(engine) == 1
    #  Two detections and two floors for all, a name for the last one.
    assert engine.stats["stored"] == 5
    assert [query.stats["stored"] for query in queries] == [4, 4, 5]
    engine.finish()
    assert sorted(emitted(queries[0])) == ["1 +a hall", "1 +b lab", "11 -a hall", "11 -b lab"]
    assert sorted(emitted(queries[1])) == ["1 +hall 1", "1 +lab 1", "11 -hall 1", "11 -lab 1"]
    assert sorted(emitted(queries[2])) == ["1 +a hall", "1 +b lab Lab", "11 -a hall", "11 -b lab Lab"]


def test_columns_in_another_order_are_the_same_columns() -> None:
    engine = office()
    texts = [f"PREFIX : <{NAMESPACE}> SELECT {names} WHERE {{ {SEEN} }}" for names in ("?f ?x ?y", "?y ?f ?x", "?x ?y ?f")]
    queries = [engine.register(text) for text in (*texts, texts[0] + " ORDER BY ?y")]
    engine.push(S, nt("b at lab", "a at hall"), at_ms=1)
    assert (runs(engine), engine.stats["stored"]) == (1, 4)
    assert [sorted(emitted(query)) for query in queries[:3]] == [
        ["1 +first b lab", "1 +ground a hall"],
        ["1 +hall ground a", "1 +lab first b"],
        ["1 +a hall ground", "1 +b lab first"],
    ]
    assert [solution["x"].value[-1] for solution in queries[3].solutions()] == ["a", "b"]


@pytest.mark.parametrize("closed", range(3))
def test_who_goes_takes_along_only_what_nobody_else_needs(closed: int) -> None:
    engine = office()
    queries = [engine.register(text(name)) for name in WHERE]
    engine.push(S, nt("a at hall", "b at lab"), at_ms=1)
    queries.pop(closed).close()
    engine = Engine.restore(engine.snapshot())
    assert (runs(engine), engine.stats["stored"]) == (1, 4 if closed == 2 else 5)
    engine.push(S, nt("c at lab"), at_ms=2)
    found = [sorted(answer_set(query)) for query in engine.queries]
    wanted = [["a hall", "b lab", "c lab"], ["hall 1", "lab 2"], ["a hall", "b lab Lab", "c lab Lab"]]
    wanted.pop(closed)
    assert found == wanted


def test_the_last_to_go_frees_everything() -> None:
    engine = office()
    terms = engine.stats["terms"]
    queries = [engine.register(text(name)) for name in WHERE]
    engine.push(S, nt("a at hall", "b at lab"), at_ms=1)
    for query in queries:
        query.close()
    engine.advance_to(100)
    forget_all_that_may_be(engine)
    assert (runs(engine), engine.stats["stored"], engine.stats["terms"]) == (0, 0, terms)


def test_who_comes_late_shares_datasets_and_has_windows_of_its_own() -> None:
    engine = office()
    prefix, same_floor = f"PREFIX : <{NAMESPACE}>", "{ GRAPH :plan { ?y :on ?f . ?z :on ?f } } GROUP BY ?y"
    first = engine.register(f"{prefix} SELECT ?y (COUNT(?z) AS ?n) {same_floor}")
    engine.push(S, nt("a at hall"), at_ms=1)
    windowed = f"STREAM <{S}> [RANGE 10] {{ ?x :at ?y }} {{ SELECT ?y (COUNT(?z) AS ?n) {same_floor} }}"
    early = engine.register(f"{prefix} SELECT ?x ?n {{ {windowed} }}")
    engine.push(S, nt("b at hall"), at_ms=2)
    later = engine.register(f"{prefix} SELECT ?n {{ {windowed} }}")
    engine.push(S, nt("c at lab"), at_ms=3)
    assert runs(engine) == 1
    assert (emitted(early), emitted(later)) == (["2 +b 1", "3 +c 1"], ["3 +1"])
    assert answer_set(first) == ["hall 1", "lab 1"]


APART = {
    "different windows": text("where").replace("RANGE 10", "RANGE 11"),
    "different graphs": text("where").replace(":plan", ":other"),
    "everything after every change": text("where").replace("CHANGES", "RSTREAM"),
    "what depends on when it came": text("where").replace("?x ?y WHERE", "?x (NOW() AS ?t) WHERE"),
}


@pytest.mark.parametrize("what", APART)
def test_what_is_not_the_same_runs_apart(what: str) -> None:
    engine = office()
    for query in (text("where"), APART[what]):
        engine.register(query)
    assert runs(engine) == 2


def test_explain_tells_what_is_shared() -> None:
    engine = office()
    queries = [engine.register(text(name)) for name in WHERE]
    assert "shares parts of its plan with 2 other queries" in queries[1].explain()
    queries[0].close()
    assert "shares parts of its plan with 1 other query" in queries[2].explain()
