"""Queries of one shape run as one, and answer as if each ran by itself.

The first test catches plans of several queries that mix up their members, the next what depends on how elements come in or on
who else is there, then state that a snapshot leaves out and terms that are forgotten too soon.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine
from tests.engine.any_query import family_sessions
from tests.engine.machines import compare_runs, forget_all_that_may_be, run_session
from tests.engine.scenarios import Session

some = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@settings(some, max_examples=60)
@given(family_sessions(), st.booleans())
def test_members_answer_as_recomputed(session: Session, take_each: bool) -> None:
    run_session(session, take_each=take_each)


@some
@given(family_sessions(), st.booleans())
def test_a_restored_family_goes_on_as_if_nothing_was(session: Session, take_each: bool) -> None:
    compare_runs(session, lambda engine: Engine.restore(engine.snapshot()), take_each=take_each)


@some
@given(family_sessions(), st.booleans())
def test_no_term_of_a_member_is_forgotten_while_it_is_needed(session: Session, take_each: bool) -> None:
    compare_runs(session, forget_all_that_may_be, take_each=take_each)
