"""Cells and the stage after them, without Spark: the answers of one engine, for every cut into triggers, whatever dies.

Queries whose joins are spread though an operator above them needs all rows are written out. Others are drawn from the whole
language and split wherever they can be, also where one stage would do: so that every operator is met in either stage.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from millstream.errors import MillstreamError
from millstream.pipeline.job.specification import job_spec
from millstream.plan.distribute import cells as planning
from millstream.plan.distribute.stages import Stages
from tests.engine.scenarios import queries
from tests.pipeline.state.test_any_query_simulated import (
    C0,
    C1,
    PREFIX,
    QUERIES,
    S0,
    S1,
    check,
    checks,
    cuts,
    seeds,
    timed_queries,
)
from tests.pipeline.state.test_cells_simulated import SOURCES, Setting, some_settings

JOINED = f"{S0} {{ ?a :p0 ?b . ?b :p1 ?c }}"
CLOSED = f"{C0} {{ ?a :p0 ?b }} {C1} {{ ?a :p1 ?c }}"
STAGED = {
    "count of everything": f"SELECT (COUNT(*) AS ?n) (SUM(?b) AS ?m) {{ {JOINED} }}",
    "first of groups": f"SELECT ?b (COUNT(*) AS ?n) {{ {JOINED} }} GROUP BY ?b ORDER BY DESC(?n) LIMIT 2",
    "first of groups when windows close": f"SELECT ?b (COUNT(*) AS ?n) {{ {CLOSED} }} GROUP BY ?b ORDER BY DESC(?n) LIMIT 1",
    "first of an order": f"SELECT ?a ?c {{ {JOINED} }} ORDER BY ?c LIMIT 3 OFFSET 1",
    "groups by an expression": f"SELECT ?k (MAX(?c) AS ?m) {{ {JOINED} }} GROUP BY (STR(?b) AS ?k)",
    "distinct": f"SELECT DISTINCT ?k {{ {JOINED} BIND (STR(?b) AS ?k) }}",
    "equal answers of several cells": f"SELECT ?k {{ {CLOSED} BIND (STR(?c) AS ?k) }}",
    "minus across": f"SELECT * {{ ?d :p1 ?e BIND (STR(?e) AS ?k) MINUS {{ {JOINED} BIND (STR(?b) AS ?k) }} }}",
    "what is optional, by another name": f"SELECT * {{ ?a :p0 ?b OPTIONAL {{ {S0} {{ ?c :p1 ?d }} FILTER (?a != ?c) }} }} "
    f"ORDER BY ?b LIMIT 3",
    "two parts": f"SELECT * {{ {{ SELECT (COUNT(*) AS ?n) {{ {JOINED} }} }} "
    f"{{ SELECT (MAX(?e) AS ?m) {{ {S1} {{ ?d :p1 ?e }} }} }} }}",
    "a part that all cells have": f"SELECT * {{ ?a :p0 ?b OPTIONAL {{ {S0} {{ ?c :p1 ?d }} }} }}",
    "a union": f"SELECT (COUNT(*) AS ?n) {{ {{ {JOINED} }} UNION {{ ?d :p1 ?e . ?e :p0 ?f }} }}",
    "construct": f"CONSTRUCT {{ ?b :x _:y . _:y :z ?c }} {{ {JOINED} }}",
    "ask": f"ASK {{ {JOINED} }}",
    "paths from what is joined, counted": f"SELECT (COUNT(*) AS ?n) {{ {JOINED} ?b :p1+ ?d }}",
}

WHOLE = ("any graph", "what it constructs itself")
"""Queries that need one order of everything, and so one cell."""

cells = st.sampled_from([2, 3, 4, 8])


@pytest.mark.parametrize("name", STAGED)
def test_what_needs_rows_of_several_cells_runs_after_them(name: str) -> None:
    assert job_spec(PREFIX + STAGED[name], SOURCES[:2], cells=4, output="changes").stages is not None

    @settings(max_examples=8, deadline=None, suppress_health_check=checks, database=None)
    @given(some_settings(st.just(PREFIX + STAGED[name])), cells, seeds, cuts)
    def checked(setting: Setting, cells: int, seed: int, cuts: list[int]) -> None:
        check(setting, cells, seed, cuts)

    checked()


def test_the_order_of_a_window_is_that_of_all_cells() -> None:
    query = f"{PREFIX} SELECT ?c {{ {CLOSED} }} ORDER BY DESC(?b)"
    assert job_spec(query, SOURCES[:2], cells=4, output="rstream").stages is not None


@pytest.fixture
def always_in_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "_candidates", lambda query, plan: ([], "always"))
    monkeypatch.setattr(Stages, "joins", True)


@pytest.mark.usefixtures("always_in_stages")
@pytest.mark.parametrize("name", [name for name in QUERIES if name not in WHOLE])
def test_every_operator_answers_in_either_stage(name: str) -> None:
    @settings(max_examples=3, deadline=None, suppress_health_check=checks, database=None)
    @given(some_settings(st.just(PREFIX + QUERIES[name])), cells, seeds, cuts)
    def checked(setting: Setting, cells: int, seed: int, cuts: list[int]) -> None:
        check(setting, cells, seed, cuts)

    checked()


@pytest.mark.usefixtures("always_in_stages")
def test_any_query_answers_in_stages_as_in_one_engine() -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=checks)
    @given(some_settings(st.one_of(timed_queries(), queries())), cells, seeds, cuts)
    def checked(setting: Setting, cells: int, seed: int, cuts: list[int]) -> None:
        try:
            check(setting, cells, seed, cuts)
        except MillstreamError:
            assume(False)

    checked()
