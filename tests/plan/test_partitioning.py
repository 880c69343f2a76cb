"""By which variables plans are cut: what each operator lets through, and what keeps a query in one cell."""

from __future__ import annotations

import pytest

from millstream.language import parse_query
from millstream.plan.distribute.cells import Cells, cells_for
from millstream.plan.distribute.partitioning import cuts_of, only_adds, waits_for_streams
from millstream.plan.explain.cells import explain_cells
from millstream.plan.nodes import leaf_patterns
from millstream.plan.passes import plan_of

PREFIX = "PREFIX : <http://e/>\n"
STREAM = "STREAM :s [RANGE 9]"
NO_JOIN = ", and below that there is no join to spread"


def variables(query: str) -> set[str]:
    """What can span the grid of a query."""
    return {cut.variable.value for cut in cuts_of(plan_of(parse_query(PREFIX + query)))}


def cells(query: str, most: int = 8, *, changing: bool = False) -> Cells:
    parsed = parse_query(PREFIX + query)
    return cells_for(parsed, plan_of(parsed), most, changing=changing)


def why(query: str, *, changing: bool = False) -> str:
    return cells(query, changing=changing).why.removeprefix("one cell: ").removesuffix(NO_JOIN)


# Operators --------------------------------------------------------------------------------------------------------------


def test_groups_are_told_apart_by_their_keys() -> None:
    assert variables(f"SELECT ?a (COUNT(?b) AS ?n) {{ {STREAM} {{ ?a :p ?b }} }} GROUP BY ?a") == {"a"}


def test_two_keys_of_groups_can_span_two_dimensions() -> None:
    query = f"SELECT ?a ?b (COUNT(?c) AS ?n) {{ {STREAM} {{ ?a :p ?c . ?b :q ?c . ?a :r ?b }} }} GROUP BY ?a ?b"
    assert variables(query) == {"a", "b"}
    assert sorted(cells(query).shares) == [2, 4]


def test_what_is_optional_is_told_apart_by_what_it_hangs_on() -> None:
    query = f"SELECT * {{ {STREAM} {{ ?a :p ?b }} OPTIONAL {{ {STREAM} {{ ?a :q ?c }} }} }}"
    grid = cells(query)
    assert [v.value for v in grid.variables] == ["a"]
    assert grid.places == ((0, 0),)
    # By ?b, every cell has all that is optional.
    assert variables(query) == {"a", "b"}


def test_negation_goes_where_what_it_takes_away_is() -> None:
    assert cells(f"SELECT * {{ {STREAM} {{ ?a :p ?b }} MINUS {{ {STREAM} {{ ?a :q ?c }} }} }}").places == ((0, 0),)
    assert cells(f"SELECT * {{ {STREAM} {{ ?a :p ?b }} FILTER NOT EXISTS {{ ?b :q ?c }} }}").places == ((2, 0),)


def test_a_sub_select_meets_the_rest_under_the_name_it_gives() -> None:
    inner = f"{{ SELECT (?x AS ?a) (MAX(?y) AS ?m) {{ {STREAM} {{ ?x :q ?y }} }} GROUP BY ?x }}"
    assert cells(f"SELECT * {{ {STREAM} {{ ?a :p ?b }} {inner} }}").places == ((0, 0),)


def test_a_group_of_everything_is_in_every_cell_for_those_who_join_it() -> None:
    inner = f"{{ SELECT (MAX(?y) AS ?m) {{ {STREAM} {{ ?x :q ?y }} }} }}"
    grid = cells(f"SELECT * {{ {STREAM} {{ ?a :p ?m . ?a :r ?b }} {inner} }}")
    assert grid.count == 8
    assert [grid.replication(number) for number in range(3)] == [1, 1, 8]


def test_equal_names_in_a_sub_select_that_does_not_give_them_are_not_the_same() -> None:
    inner = f"{{ SELECT (COUNT(?a) AS ?n) {{ {STREAM} {{ ?a :q ?b }} }} }}"
    grid = cells(f"SELECT * {{ {STREAM} {{ ?a :p ?b }} {inner} }}")
    assert [grid.replication(number) for number in range(2)] == [1, 8]


def test_both_sides_of_a_union_are_split_or_none() -> None:
    assert variables(f"SELECT * {{ {{ {STREAM} {{ ?a :p ?b }} }} UNION {{ {STREAM} {{ ?a :q ?c }} }} }}") >= {"a"}
    with_constants = f"SELECT * {{ {{ {STREAM} {{ ?a :p ?b }} }} UNION {{ VALUES ?a {{ 1 }} }} }}"
    assert not variables(with_constants)
    assert why(with_constants) == "all rows of two sides, of which only one can be told apart"


def test_triples_that_all_have_a_variable_in_one_place_are_told_apart_by_it() -> None:
    assert variables(f"CONSTRUCT {{ ?a :x ?b . ?a :y 1 }} {{ {STREAM} {{ ?a :p ?b }} }}") == {"a"}
    assert why(f"CONSTRUCT {{ ?a :x ?b . ?b :x ?a }} {{ {STREAM} {{ ?a :p ?b }} }}") == (
        "the triples of CONSTRUCT are a set, so equal ones must meet"
    )


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"SELECT ?a {{ {STREAM} {{ ?a :p ?b }} }} ORDER BY ?b LIMIT 10", "the first 10 of an order need all rows"),
        (f"SELECT (COUNT(*) AS ?n) {{ {STREAM} {{ ?a :p ?b }} }}", "a group of everything needs all rows together"),
        (f"SELECT ?k {{ {STREAM} {{ ?a :p ?b }} }} GROUP BY (STR(?a) AS ?k)", "groups by ?k need all rows together"),
        (f"SELECT DISTINCT (STR(?a) AS ?k) {{ {STREAM} {{ ?a :p ?b }} }}", "DISTINCT keeps one row: equal ones must meet"),
        (f"SELECT * {{ {STREAM} {{ ?a :p+ ?b }} }}", "paths of any length need all edges"),
        (f"ASK {{ {STREAM} {{ ?a :p ?b }} }}", "ASK needs all solutions"),
    ],
)
def test_an_operator_that_needs_everything_keeps_a_query_in_one_cell(query: str, reason: str) -> None:
    assert cells(query).count == 1
    assert why(query) == reason


# What may be split ------------------------------------------------------------------------------------------------------


def test_equal_answers_meet_where_a_change_can_give_and_take() -> None:
    query = f"SELECT ?b {{ {STREAM} {{ ?a :p ?b }} %s }}"
    assert variables(query % "") == {"a", "b"}
    # Of two ?a with one ?b, the same element can give one an answer and take it from the other.
    negated = cells(query % f"FILTER NOT EXISTS {{ {STREAM} {{ ?a :q ?c }} }}")
    assert [v.value for v in negated.variables] == ["b"]


def test_all_answers_of_every_window_need_not_meet() -> None:
    closing = "STREAM :s [RANGE 9 STEP 3]"
    query = f"REGISTER RSTREAM <http://o> AS SELECT ?b {{ {closing} {{ ?a :p ?b }} MINUS {{ {closing} {{ ?a :q ?c }} }} }}"
    assert cells(query).places == ((0, 0),)


def test_an_order_needs_one_cell_only_where_it_shows() -> None:
    closing = "STREAM :s [RANGE 9 STEP 3]"
    query = f"REGISTER %s <http://o> AS SELECT ?b {{ {closing} {{ ?a :p ?b }} }} ORDER BY DESC(?a)"
    assert why(query % "RSTREAM") == "the order of the answers of a window needs all of them"
    # A key that is not selected does not tell answers apart.
    assert [v.value for v in cells(query % "ISTREAM").variables] == ["b"]


def test_any_graph_needs_one_cell_that_sees_all() -> None:
    assert cells(f"SELECT * {{ {STREAM} {{ ?a :p ?b }} GRAPH ?g {{ ?b :q ?c }} }}").whole


def test_what_reads_its_own_answers_needs_one_cell_that_sees_all() -> None:
    text = f"REGISTER ISTREAM <http://e/s> AS CONSTRUCT {{ ?b :p ?a }} {{ {STREAM} {{ ?a :p ?b }} }}"
    assert cells(text).whole


def test_answers_without_elements_wait_for_the_first_change_of_any_graph() -> None:
    query = f"SELECT * {{ ?a :p ?b OPTIONAL {{ {STREAM} {{ ?a :q ?c }} }} }}"
    assert cells(query).count == 8
    assert cells(query, changing=True).whole


@pytest.mark.parametrize(
    ("window", "why"),
    [
        ("TRIPLES 9", "one cell: [TRIPLES 9] counts the stream in order"),
        ("EVENT", "one cell: [EVENT] is emptied by the stream's next element"),
        ("SESSION 5m", "one cell: [SESSION 5m] ends when no element of the stream, asked for or not, has come for 5m"),
    ],
)
def test_a_window_says_why_it_needs_one_cell(window: str, why: str) -> None:
    grid = cells(f"SELECT CHANGES * {{ STREAM :s [{window}] {{ ?a :p ?b . ?b :q ?c }} }}")
    assert (grid.count, grid.whole, grid.why) == (1, True, why)


def test_so_far_on_a_grid_is_spread_like_any_range() -> None:
    grid = cells("SELECT CHANGES * { STREAM :s [LANDMARK 1d] { ?a :p ?b . ?b :q ?c } }")
    assert (grid.count, grid.whole) == (8, False)


def test_elements_are_matched_alone_unless_nothing_is_an_answer() -> None:
    event = "STREAM :s [EVENT]"
    alone = f"SELECT * {{ {event} {{ ?a :p ?b OPTIONAL {{ ?b :q ?c }} }} }}"
    assert cells(alone).stateless
    assert not cells(f"SELECT * {{ ?a :p ?b FILTER NOT EXISTS {{ {event} {{ ?a :q ?c }} }} }}").stateless


@pytest.mark.parametrize(
    ("body", "waits", "adds"),
    [
        (f"{STREAM} {{ ?a :p ?b }}", True, True),
        (f"?b :q ?c {STREAM} {{ ?a :p ?b }}", True, True),
        (f"?b :q ?c OPTIONAL {{ {STREAM} {{ ?a :p ?b }} }}", False, False),
        (f"{STREAM} {{ ?a :p ?b }} OPTIONAL {{ ?b :q ?c }}", True, False),
        (f"{{ {STREAM} {{ ?a :p ?b }} }} UNION {{ ?a :q ?b }}", False, True),
        (f"{{ SELECT (COUNT(*) AS ?n) {{ {STREAM} {{ ?a :p ?b }} }} }}", False, False),
        (f"{{ SELECT ?a (COUNT(*) AS ?n) {{ {STREAM} {{ ?a :p ?b }} }} GROUP BY ?a }}", True, False),
        (f"{STREAM} {{ ?a :p* ?b }}", True, True),
        (f"{STREAM} {{ :x :p* ?b }}", False, True),
    ],
)
def test_what_a_plan_answers_over_empty_windows_and_what_more_triples_do(body: str, waits: bool, adds: bool) -> None:
    plan = plan_of(parse_query(f"{PREFIX}SELECT * {{ {body} }}"))
    assert (waits_for_streams(plan), only_adds(plan)) == (waits, adds)


def test_large_queries_are_cut_without_trying_everything() -> None:
    body = " ".join(f"OPTIONAL {{ {STREAM} {{ ?a :p{i} ?b{i} }} }}" for i in range(12))
    query = f"SELECT * {{ {STREAM} {{ ?a :p ?b }} {body} }}"
    grid = cells(query)
    assert [v.value for v in grid.variables] == ["a"]
    assert all(grid.replication(number) == 1 for number in range(13))


# Explained --------------------------------------------------------------------------------------------------------------


def test_explain_shows_where_triples_of_all_conjunctions_go() -> None:
    query = f"SELECT ?a (AVG(?c) AS ?n) {{ {STREAM} {{ ?a :p ?b }} OPTIONAL {{ ?a :q ?c }} }} GROUP BY ?a"
    assert explain_cells(parse_query(PREFIX + query), 4).splitlines() == [
        "on Spark",
        "  4 cells of 4: ?a 4",
        "  why: the least load of a cell, the sizes of views all taken as equal",
        "  ?a :p ?b  to one cell by ?a",
        "  ?a :q ?c  to one cell by ?a",
    ]
    assert len(leaf_patterns(plan_of(parse_query(PREFIX + query)))) == 2
