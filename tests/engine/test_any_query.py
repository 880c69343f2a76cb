"""The whole language: every query answers as if it were recomputed at every change, however it is run.

The first test catches plans and operators that are wrong, the second what depends on how elements come in, the third queries
that disturb one another or terms that closing them leaves behind, the next terms that are forgotten too soon, state that a
snapshot leaves out, and options that change answers.
"""

from __future__ import annotations

from itertools import takewhile

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from millstream import Engine
from tests.engine.any_query import any_scenarios, any_sessions
from tests.engine.machines import (
    assert_same,
    check_once,
    compare_runs,
    fits_a_table,
    flat,
    forget_all_that_may_be,
    play,
    run_session,
    table_of,
    take_step,
)
from tests.engine.scenarios import Scenario, Session, Step
from tests.reference import Reference

some = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
switches = pytest.mark.parametrize("option", ["summary", "lazy", "adaptive"])


@settings(some, max_examples=120)
@given(any_scenarios(), st.booleans())
def test_incremental_answers_equal_recomputing(scenario: Scenario, looks: bool) -> None:
    check_once(scenario, looks=looks)


@some
@given(any_scenarios(), st.lists(st.tuples(st.sampled_from(["push", "table", "batch"]), st.integers(1, 8)), min_size=1))
def test_answers_do_not_depend_on_how_elements_come_in(scenario: Scenario, ways: list[tuple[str, int]]) -> None:
    reference = Reference(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms)
    expected = play(reference, scenario)
    engine = Engine(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms)
    query = engine.register(scenario.query, output=scenario.output)
    turn = 0
    waiting = list(scenario.steps)
    while waiting:
        way, size = ways[turn % len(ways)]
        turn += 1
        together = _pushes_first(waiting)[:size]
        if way == "push" or not together:
            take_step(engine, waiting.pop(0))
            continue
        waiting = waiting[len(together) :]
        table = table_of([(str(s.target), s.triples, s.at_ms) for s in together])
        if way == "table":
            engine.push_table(str(together[0].target), table)
        else:
            for batch in table.to_batches():
                engine.read(str(together[0].target), batch)
    engine.finish()
    assert_same(flat(query.take(), query.variables), expected.changes)
    assert engine.stats["late"] == len(reference.late)


def _pushes_first(steps: list[Step]) -> list[Step]:
    """The elements of one stream at the beginning, as far as a table can have them."""
    return list(takewhile(lambda step: fits_a_table(step) and step.target == steps[0].target, steps))


@settings(some, max_examples=35)
@given(any_sessions(), st.booleans())
def test_queries_that_come_and_go_answer_as_recomputed(session: Session, take_each: bool) -> None:
    run_session(session, take_each=take_each)


@settings(some, max_examples=35)
@given(any_sessions(), st.booleans())
def test_no_term_is_forgotten_while_it_is_needed(session: Session, take_each: bool) -> None:
    compare_runs(session, forget_all_that_may_be, take_each=take_each)


@settings(some, max_examples=35)
@given(any_sessions(), st.booleans())
def test_an_engine_restored_after_every_step_goes_on_as_if_nothing_was(session: Session, take_each: bool) -> None:
    compare_runs(session, lambda engine: Engine.restore(engine.snapshot()), take_each=take_each)


@switches
@settings(some, max_examples=15)
@given(any_sessions())
def test_switching_a_part_off_changes_no_answer(option: str, session: Session) -> None:
    compare_runs(session, **{option: False})


@settings(some, max_examples=30)
@given(any_scenarios())
def test_a_query_that_is_closed_leaves_no_terms_behind(scenario: Scenario) -> None:
    #  Two engines see the same; in one a query is there for a while, and forgotten once it is gone.
    #  What an ALL window has seen is kept for ever, whoever else may ask for it.
    assume("[ALL]" not in scenario.query)
    terms = []
    for registers in (False, True):
        engine = Engine(summary=False, lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms)
        query = engine.register(scenario.query, output=scenario.output) if registers else None
        for step in scenario.steps:
            take_step(engine, step)
        engine.finish()
        if query is not None:
            query.close()
            query.take()
        engine.advance_to(1000)
        forget_all_that_may_be(engine)
        terms.append(engine.stats["terms"])
    assert terms[1] <= terms[0]


@pytest.mark.parametrize("at_once", [1, 3])
@some
@given(session=any_sessions())
def test_a_graph_may_be_shown_to_a_query_in_parts(at_once: int, session: Session) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("millstream.engine.windows.window_state._AT_ONCE", at_once)
        run_session(session)
