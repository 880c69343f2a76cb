"""Streams that queries construct: those who read them answer as recomputed, and time ends where it should.

The first test catches elements that are constructed at another time or in another order than they should be, and ends that
`finish` waits for or not; the second what a snapshot leaves out of that.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine
from tests.engine.derived_streams import feeding_sessions
from tests.engine.machines import compare_runs, run_session
from tests.engine.notation import NAMESPACE, S, emitted, nt
from tests.engine.scenarios import Session

some = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@some
@given(feeding_sessions(), st.booleans())
def test_what_reads_constructed_streams_answers_as_recomputed(session: Session, take_each: bool) -> None:
    run_session(session, take_each=take_each)


@some
@given(feeding_sessions(), st.booleans())
def test_constructed_streams_go_on_as_if_nothing_was_when_restored(session: Session, take_each: bool) -> None:
    compare_runs(session, lambda engine: Engine.restore(engine.snapshot()), take_each=take_each)


@pytest.mark.parametrize("format", ["nt", "ttl"])
def test_what_a_load_constructs_is_an_element_at_once(format: str) -> None:
    engine = Engine()
    engine.advance_to(3)
    engine.register(f"PREFIX : <{NAMESPACE}> REGISTER ISTREAM :out AS CONSTRUCT {{ ?x :in ?y }} {{ ?x :p ?y }}")
    query = engine.register(
        f"PREFIX : <{NAMESPACE}> SELECT ?x {{ STREAM :out [RANGE 5] {{ ?x :in ?y }} }}", output="changes"
    )
    engine.load(nt("a p b").encode(), format=format)
    engine = Engine.restore(engine.snapshot())
    _, query = engine.queries
    assert emitted(query) == ["3 +a"]
    engine.finish()
    assert emitted(query) == ["8 -a"]


@pytest.mark.parametrize("windows", [("RANGE 9", "EVENT"), ("EVENT", "RANGE 9")])
def test_what_queries_construct_of_one_element_follows_their_registration(windows: tuple[str, str]) -> None:
    engine = Engine()
    for name, window in zip("ab", windows, strict=True):
        engine.register(
            f"PREFIX : <http://example.org/> REGISTER ISTREAM :t AS CONSTRUCT {{ ?x :{name} ?y }} "
            f"WHERE {{ STREAM <{S}> [{window}] {{ ?x :p ?y }} }}"
        )
    last = engine.register("PREFIX : <http://example.org/> SELECT ?p WHERE { STREAM :t [TRIPLES 1] { ?x ?p ?y } }")
    for at_ms in (1, 2, 3):
        engine.push(S, nt(f"x{at_ms} p y"), at_ms=at_ms)
        assert last.solutions()[0]["p"].value == "http://example.org/b"


@pytest.mark.parametrize("by", ["read_changes", "insert"])
def test_the_first_element_may_come_when_the_instant_of_its_time_has_passed(by: str) -> None:
    #  21    24    27
    #  |close            time has passed up to here, then a graph changes
    #  x-----|-----)     what is constructed of that is first seen at the next instant
    engine = Engine()
    query = engine.register(
        f"PREFIX : <{NAMESPACE}> SELECT (COUNT(*) AS ?n) {{ STREAM :out [RANGE 6 STEP 3] {{ ?a :p ?b }} }}", output="rstream"
    )
    engine.register(
        f"PREFIX : <{NAMESPACE}> REGISTER RSTREAM :out AS CONSTRUCT {{ ?a :p ?b }} {{ GRAPH :g {{ ?a :p ?b }} }}"
    )
    engine.push(S, nt("a p b"), at_ms=16)
    engine.advance_to(21)
    for subject in "ac":
        if by == "insert":
            engine.insert(nt(f"{subject} p b"), graph=f"{NAMESPACE}g")
        else:
            engine.read_changes(f"A {nt(f'{subject} p b')}\n".encode(), graph=f"{NAMESPACE}g", format="rdfpatch")
    engine.advance_to(30)
    assert emitted(query) == ["24 +2", "27 +0", "30 +0"]
