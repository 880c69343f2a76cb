"""Several queries at once, that come and go in the middle of a timeline: each answers as if it were alone.

The first test catches queries that disturb one another, catch up wrongly, or see what was there before them; the second
terms that the dictionary forgets while something still needs them; the third state that a snapshot leaves out; the last
options that change answers.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine
from tests.engine.machines import forget_all_that_may_be, run_session
from tests.engine.scenarios import Session, sessions

some = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@some
@given(sessions())
def test_queries_that_come_and_go_answer_as_recomputed(session: Session) -> None:
    run_session(session)


@some
@given(sessions(), st.booleans())
def test_no_term_is_forgotten_while_it_is_needed(session: Session, take_each: bool) -> None:
    run_session(session, forget_all_that_may_be, take_each=take_each)


@settings(some, max_examples=80)
@given(sessions(), st.booleans())
def test_an_engine_restored_after_every_step_goes_on_as_if_nothing_was(session: Session, take_each: bool) -> None:
    run_session(session, lambda engine: Engine.restore(engine.snapshot()), take_each=take_each)


@settings(some, max_examples=60)
@given(sessions())
@pytest.mark.parametrize("option", ["summary", "lazy", "adaptive"])
def test_switching_a_part_off_changes_no_answer(option: str, session: Session) -> None:
    run_session(session, **{option: False})
