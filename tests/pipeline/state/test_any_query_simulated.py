"""Queries of every kind in cells, without Spark: the answers of one engine, for every cut into triggers, whatever dies.

Queries with each operator are written out, so that each is spread at least once; others are drawn from the whole language.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from millstream.errors import MillstreamError
from tests.engine.any_query import Author, chooser
from tests.pipeline.state.test_cells_simulated import Setting, expected, simulated, some_settings

PREFIX = "PREFIX : <http://example.org/>\n"
S0, S1 = "STREAM :s0 [RANGE 6]", "STREAM :s1 [RANGE 3 SLIDE 2]"
C0, C1 = "STREAM :s0 [RANGE 6 STEP 2]", "STREAM :s1 [RANGE 4 TUMBLING]"
QUERIES = {
    "optional": f"SELECT * {{ {S0} {{ ?a :p0 ?b }} OPTIONAL {{ {S1} {{ ?a :p1 ?c }} }} }}",
    "optional, projected": f"SELECT ?b ?c {{ {S0} {{ ?a :p0 ?b }} OPTIONAL {{ {S1} {{ ?a :p1 ?c }} }} }}",
    "optional stream of a dataset": f"SELECT * {{ ?a :p0 ?b OPTIONAL {{ {S0} {{ ?a :p1 ?c }} }} }}",
    "optional when windows close": f"SELECT * {{ {C0} {{ ?a :p0 ?b }} OPTIONAL {{ {C1} {{ ?a :p1 ?c }} }} }}",
    "dataset when windows close": f"SELECT * {{ ?a :p0 ?b OPTIONAL {{ {C0} {{ ?a :p1 ?c }} }} }}",
    "minus": f"SELECT * {{ {S0} {{ ?a :p0 ?b }} MINUS {{ {S1} {{ ?c :p1 ?b }} }} }}",
    "not exists": f"SELECT ?b {{ {S0} {{ ?a :p0 ?b }} FILTER NOT EXISTS {{ ?b :p1 ?c }} }}",
    "counts": f"SELECT ?a (COUNT(*) AS ?n) (COUNT(DISTINCT ?b) AS ?m) {{ {S0} {{ ?a ?p ?b }} }} GROUP BY ?a",
    "averages": f"SELECT ?a (AVG(?b) AS ?n) (MEDIAN(?b) AS ?m) {{ {S0} {{ ?a :p0 ?b }} }} GROUP BY ?a",
    "counts when windows close": f"SELECT ?a ?p (COUNT(*) AS ?n) {{ {C0} {{ ?a ?p ?b }} }} GROUP BY ?a ?p",
    "having": f"SELECT ?b {{ {S0} {{ ?a :p0 ?b . ?a :p1 ?c }} }} GROUP BY ?b HAVING (COUNT(?c) > 1)",
    "count of everything": f"SELECT (COUNT(*) AS ?n) {{ {S0} {{ ?a :p0 ?b }} }}",
    "count of everything, joined": f"SELECT * {{ {S1} {{ ?c :p1 ?n }} "
    f"{{ SELECT (COUNT(*) AS ?n) {{ {S0} {{ ?a :p0 ?b }} }} }} }}",
    "first of an order": f"SELECT * {{ {S0} {{ ?a :p0 ?b }} }} ORDER BY DESC(?b) LIMIT 2",
    "first of groups, joined": f"SELECT * {{ {S1} {{ ?b :p1 ?c }} "
    f"{{ SELECT ?b (COUNT(*) AS ?n) {{ {S0} {{ ?a :p0 ?b }} }} GROUP BY ?b ORDER BY DESC(?n) LIMIT 1 }} }}",
    "in order": f"SELECT ?b {{ {S0} {{ ?a :p0 ?b }} }} ORDER BY DESC(?a)",
    "in order when windows close": f"SELECT ?b {{ {C0} {{ ?a :p0 ?b }} }} ORDER BY DESC(?a)",
    "distinct": f"SELECT DISTINCT ?a {{ {S0} {{ ?a :p0 ?b . ?a :p1 ?c }} }}",
    "sub-select under another name": f"SELECT * {{ {S0} {{ ?a :p0 ?b }} "
    f"{{ SELECT (?x AS ?a) (MAX(?y) AS ?m) {{ {S1} {{ ?x :p1 ?y }} }} GROUP BY ?x }} }}",
    "union": f"SELECT * {{ {{ {S0} {{ ?a :p0 ?b }} }} UNION {{ {S1} {{ ?a :p1 ?c }} }} }}",
    "union with a dataset": f"SELECT * {{ {{ {S0} {{ ?a :p0 ?b }} }} UNION {{ ?a :p1 ?c }} }}",
    "values and binds": f"SELECT * {{ {S0} {{ ?a :p0 ?b }} VALUES ?a {{ :n0 :n1 }} BIND (?b + 1 AS ?c) }}",
    "sequences and alternatives": f"SELECT * {{ {S0} {{ ?a (:p0/:p1)|^:p0 ?b }} }}",
    "paths of any length": f"SELECT * {{ {S0} {{ ?a :p0+ ?b }} ?b :p1 ?c }}",
    "paths in a dataset": f"SELECT * {{ {S0} {{ ?a :p0 ?b }} ?b :p1* ?c }}",
    "construct": f"CONSTRUCT {{ ?a :x ?b . ?a :y ?c }} {{ {S0} {{ ?a :p0 ?b }} OPTIONAL {{ ?b :p1 ?c }} }}",
    "construct with blank nodes": f"CONSTRUCT {{ ?a :x _:y . _:y :z ?b }} {{ {S0} {{ ?a :p0 ?b }} }}",
    "ask": f"ASK {{ {S0} {{ ?a :p0 ?b }} {S1} {{ ?b :p1 ?c }} }}",
    "any graph": f"SELECT * {{ {S0} {{ ?a :p0 ?b }} GRAPH ?g {{ ?b :p1 ?c }} }}",
    "what it constructs itself": f"REGISTER ISTREAM :s0 AS CONSTRUCT {{ ?b :p1 ?a }} {{ {S0} {{ ?a :p0 ?b }} }}",
}

cells = st.sampled_from([1, 2, 3, 4, 8])
seeds = st.integers(0, 1 << 30)
cuts = st.lists(st.integers(0, 4), max_size=6)
checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def check(setting: Setting, cells: int, seed: int, cuts: list[int]) -> None:
    # Some of them come to ends that are none.
    job = simulated(setting, cells, seed, cuts, ends=seed % 4)
    assume(job is not None)
    assert job is not None
    answers, _ = expected(setting)
    assert Counter(job.answers) == answers


@pytest.mark.parametrize("name", QUERIES)
def test_every_operator_answers_in_cells_as_in_one_engine(name: str) -> None:
    @settings(max_examples=5, deadline=None, suppress_health_check=checks, database=None)
    @given(some_settings(st.just(PREFIX + QUERIES[name])), cells, seeds, cuts)
    def checked(setting: Setting, cells: int, seed: int, cuts: list[int]) -> None:
        check(setting, cells, seed, cuts)

    checked()


class TimedAuthor(Author):
    """Writes queries over streams whose windows end by time, the ones that can be spread."""

    def __init__(self, choose) -> None:  # type: ignore[no-untyped-def]
        super().__init__(choose)
        if self.dialect == "dataset":
            self.dialect = "cqels"

    def window(self) -> str:
        window = super().window()
        return f"RANGE {self.size(1, 6)}" if window.startswith(("TRIPLES", "ELEMENTS", "EVENT", "SESSION")) else window


@st.composite
def timed_queries(draw: st.DrawFn) -> str:
    return TimedAuthor(chooser(draw)).query(draw(st.integers(1, 2)))


@settings(max_examples=25, deadline=None, suppress_health_check=checks)
@given(some_settings(timed_queries()), cells, seeds, cuts)
def test_any_query_answers_in_cells_as_in_one_engine(setting: Setting, cells: int, seed: int, cuts: list[int]) -> None:
    try:
        check(setting, cells, seed, cuts)
    except MillstreamError:
        assume(False)
