"""The central property: incremental answers equal recomputing every window, over random queries and timelines."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from tests.engine.machines import check
from tests.engine.scenarios import Scenario, scenarios


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios())
def test_incremental_answers_equal_recomputing(scenario: Scenario) -> None:
    check(scenario)
