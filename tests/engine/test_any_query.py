"""The whole language: every query answers as if it were recomputed at every change, however it is run."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from tests.engine.any_query import any_queries
from tests.engine.machines import check
from tests.engine.scenarios import Scenario, scenarios

some = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@some
@given(scenarios(any_queries()))
def test_incremental_answers_equal_recomputing(scenario: Scenario) -> None:
    check(scenario)
