"""Where a plan is split into what cells run and what runs after them, and when it is not."""

from __future__ import annotations

import pytest

from millstream.language import parse_query
from millstream.plan import nodes as n
from millstream.plan.distribute.cells import Cells, cells_for
from millstream.plan.distribute.stages import Stages, split, stages_of
from millstream.plan.explain.cells import explain_cells
from millstream.plan.nodes import in_order, leaf_patterns
from millstream.plan.passes import plan_of
from tests.pipeline.state.test_any_query_simulated import PREFIX as EXAMPLE
from tests.pipeline.state.test_any_query_simulated import QUERIES

PREFIX = "PREFIX : <http://e/>\n"
STREAM = "STREAM :s [RANGE 9]"
CHAIN = f"{STREAM} {{ ?a :p ?b . ?b :q ?c }}"


def cells(query: str, most: int = 4) -> Cells:
    parsed = parse_query(PREFIX + query)
    return cells_for(parsed, plan_of(parsed), most)


def stages(query: str) -> Stages:
    grid = cells(query)
    assert grid.beyond is not None
    return split(plan_of(parse_query(PREFIX + query)), grid.beyond)


def kinds(root: n.Node) -> list[str]:
    return [type(node).__name__ for node in in_order(root)]


def test_cells_join_and_the_rest_takes_the_first_rows() -> None:
    found = stages(f"SELECT ?a ?c {{ {CHAIN} }} ORDER BY ?c LIMIT 3")
    assert kinds(found.cells) == ["Solutions", "ExchangeOutput"]
    assert kinds(found.rest) == ["ExchangeInput", "TopK", "Ordered"]


def test_groups_that_cells_can_tell_apart_stay_in_them() -> None:
    found = stages(f"SELECT ?b (COUNT(*) AS ?n) {{ {CHAIN} }} GROUP BY ?b ORDER BY DESC(?n) LIMIT 3")
    assert "Group" in kinds(found.cells)
    assert kinds(found.rest) == ["ExchangeInput", "TopK", "Ordered"]


def test_only_columns_that_the_rest_reads_are_sent() -> None:
    found = stages(f"SELECT ?k (MAX(?c) AS ?m) {{ {CHAIN} }} GROUP BY (STR(?b) AS ?k)")
    assert [v.value for v in found.cells.parts[0].variables] == ["c", "k"]


def test_a_part_can_be_the_same_in_all_cells() -> None:
    grid = cells(f"SELECT * {{ ?a :p ?b OPTIONAL {{ {STREAM} {{ ?c :q ?d }} }} }}")
    assert grid.second == "whether there is a match needs all that could be one"
    assert grid.everywhere == ((1,),)


def test_of_cells_that_have_the_same_rows_the_first_sends() -> None:
    # Two dimensions of 2 and 3; part 1 is the same all along the first, part 2 along both.
    grid = Cells((), (2, 3), "", everywhere=((1, 2), (2,)))
    senders = [[cell for cell in range(6) if grid.sends(cell, part)] for part in range(3)]
    assert senders == [[0, 1, 2, 3, 4, 5], [0, 1, 2], [0]]


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT (COUNT(*) AS ?n) {{ {STREAM} {{ ?a :p ?b }} }}",
        f"SELECT ?b {{ {STREAM} {{ ?a :p ?b ; :q ?c ; :r 5 }} }} ORDER BY ?c LIMIT 5",
    ],
)
def test_without_a_join_to_spread_there_is_one_cell(query: str) -> None:
    grid = cells(query)
    assert (grid.count, grid.beyond) == (1, None)
    assert grid.why.endswith("and below that there is no join to spread")


@pytest.mark.parametrize("window", ["STREAM :s [TRIPLES 9]", "STREAM :s [EVENT]", "STREAM :s [SESSION 9]"])
def test_what_needs_one_order_of_everything_is_not_split(window: str) -> None:
    query = f"SELECT (COUNT(*) AS ?n) {{ {window} {{ ?a :p ?b . ?b :q ?c }} }}"
    assert cells(query).beyond is None


@pytest.mark.parametrize("name", QUERIES)
def test_patterns_have_the_same_numbers_in_cells_as_in_the_whole_plan(name: str) -> None:
    plan = plan_of(parse_query(EXAMPLE + QUERIES[name]))
    for found in stages_of(plan):
        assert leaf_patterns(found.cells) == leaf_patterns(plan)
        assert not leaf_patterns(found.rest)
        assert found.rest.variables == plan.variables


def test_explain_shows_both_stages_and_why() -> None:
    query = f"SELECT (COUNT(?a) AS ?n) {{ {CHAIN} }}"
    assert explain_cells(parse_query(PREFIX + query), 4).splitlines() == [
        "on Spark",
        "  4 cells of 4: ?b 4",
        "  why: the least load of a cell, the sizes of views all taken as equal",
        "  ?a :p ?b  to one cell by ?b",
        "  ?b :q ?c  to one cell by ?b",
        "  cells run",
        "    sends on one part",
        "    └─ conjunction 1: no columns",
        "  a second stage runs the rest, in one bucket: a group of everything needs all rows together",
        "    columns ?n",
        "    └─ ?n = ?agg1",
        "       └─ group by no columns: ?agg1 = COUNT(*)",
        "          └─ part 1 of all cells: no columns",
    ]
