"""Streams that queries construct: those who read them answer as recomputed, and time ends where it should.

The first test catches elements that are constructed at another time or in another order than they should be, and ends that
`finish` waits for or not; the second what a snapshot leaves out of that.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine
from tests.engine.fed_streams import feeding_sessions
from tests.engine.machines import compare_runs, run_session
from tests.engine.notation import NAMESPACE, emitted, nt
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
