"""What of a plan is evaluated before the stream begins, and what stays: parts that only read graphs, as large as can be."""

from __future__ import annotations

import pytest

from millstream.language import parse_query
from millstream.plan import nodes as n
from millstream.plan.distribute.cells import Cells, cells_at_rest, cells_for
from millstream.plan.distribute.precompute import PrecomputedParts, precomputed_parts
from millstream.plan.explain.cells import explain_cells
from millstream.plan.nodes import Node, in_order, leaf_patterns
from millstream.plan.passes import plan_of
from tests.pipeline.state.test_any_query_simulated import PREFIX as EXAMPLE
from tests.pipeline.state.test_any_query_simulated import QUERIES

PREFIX = "PREFIX : <http://e/>\n"
STREAM = "STREAM :s [RANGE 9] { ?a :p ?b }"


def plan(query: str) -> Node:
    return plan_of(parse_query(PREFIX + query))


def ahead(query: str) -> PrecomputedParts:
    found = precomputed_parts(plan(query))
    assert found is not None
    return found


def kinds(root: Node) -> list[str]:
    return [type(node).__name__ for node in in_order(root)]


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * {{ {STREAM} ?b :q ?c . ?c :r ?d }}",
        f"SELECT * {{ {STREAM} OPTIONAL {{ ?b :q ?c }} }}",
        f"SELECT * {{ {STREAM} MINUS {{ ?b :q ?c FILTER (?c > 1) }} }}",
        f"SELECT * {{ {STREAM} {{ {{ ?b :q ?c }} UNION {{ ?b :r ?c }} }} }}",
        f"SELECT * {{ {STREAM} VALUES ?b {{ :x :y }} }}",
        "SELECT (COUNT(*) AS ?n) { ?b :q ?c . ?c :r ?d }",
    ],
)
def test_views_of_a_join_triples_that_are_only_picked_and_whole_queries_stay(query: str) -> None:
    assert precomputed_parts(plan(query)) is None


def test_a_sub_select_is_one_part_with_all_that_is_in_it() -> None:
    found = ahead(f"SELECT * {{ {STREAM} {{ SELECT ?b (COUNT(*) AS ?n) {{ ?b :q ?c }} GROUP BY ?b ORDER BY ?n LIMIT 3 }} }}")
    assert kinds(found.rest) == ["Solutions", "Precomputed", "Join"]
    assert "TopK" in kinds(found.parts)
    assert [part.variables for part in found.parts.parts] == [
        node.variables for node in in_order(found.rest) if isinstance(node, n.Precomputed)
    ]


def test_rows_that_are_needed_twice_are_one_part() -> None:
    found = ahead(f"SELECT * {{ {STREAM} OPTIONAL {{ ?b :q ?c . ?c :r ?d }} }}")
    assert kinds(found.parts) == ["Solutions", "ExchangeOutput"]
    assert kinds(found.rest).count("Precomputed") == 1


def test_paths_that_a_stream_asks_for_stay_with_their_edges_given() -> None:
    found = ahead(f"SELECT * {{ {STREAM} ?b (:q/:r)+ ?c }}")
    assert "Closure" in kinds(found.rest)
    assert "Closure" not in kinds(found.parts)


def test_paths_that_nobody_asks_for_are_evaluated() -> None:
    assert "Closure" in kinds(ahead(f"SELECT * {{ {STREAM} OPTIONAL {{ ?b :q+ ?c }} }}").parts)


@pytest.mark.parametrize("name", QUERIES)
def test_the_rest_has_the_columns_of_the_plan_and_knows_its_patterns(name: str) -> None:
    whole = plan_of(parse_query(EXAMPLE + QUERIES[name]))
    found = precomputed_parts(whole)
    if found is not None:
        assert found.rest.variables == whole.variables
        numbered = leaf_patterns(whole)
        assert tuple(numbered[number] for number in found.numbers) == leaf_patterns(found.rest)


def grid(query: str) -> Cells:
    return cells_for(parse_query(PREFIX + query), ahead(query).rest, 4)


def test_given_rows_are_cut_like_triples() -> None:
    found = grid(f"SELECT * {{ {STREAM} OPTIONAL {{ ?b :q ?c . ?c :r ?d }} }}")
    assert [v.value for v in found.variables] == ["b"]
    # The stream's triples by their object, the rows by their first column.
    assert found.places == ((2, 0),)


def test_a_graph_with_a_variable_no_longer_needs_one_cell() -> None:
    found = grid(f"SELECT * {{ {STREAM} GRAPH ?g {{ ?b :q ?c }} }}")
    assert not found.whole
    assert found.count == 4


@pytest.mark.parametrize(
    ("query", "tasks", "in_stages"),
    [
        (f"SELECT * {{ {STREAM} OPTIONAL {{ ?b :q ?c . ?c :r ?d }} }}", 4, False),
        (f"SELECT * {{ {STREAM} {{ SELECT (COUNT(*) AS ?n) {{ ?b :q ?c . ?c :r ?d }} }} }}", 4, True),
        (f"SELECT * {{ {STREAM} {{ SELECT (COUNT(*) AS ?n) {{ ?b :q ?c }} }} }}", 1, False),
        (f"SELECT * {{ {STREAM} GRAPH ?g {{ ?b :q ?c }} }}", 1, False),
    ],
)
def test_parts_are_spread_over_tasks_where_there_is_something_to_join(query: str, tasks: int, in_stages: bool) -> None:
    found = cells_at_rest(ahead(query).parts, 4)
    assert found.count == tasks
    assert (found.beyond is not None) == in_stages


def test_explain_shows_what_is_evaluated_first() -> None:
    query = f"SELECT * {{ {STREAM} {{ SELECT ?b (COUNT(*) AS ?n) {{ ?b :q ?c . ?c :r ?d }} GROUP BY ?b }} }}"
    assert explain_cells(parse_query(PREFIX + query), 4).splitlines() == [
        "on Spark",
        "  part 1 is evaluated in batch before the stream, unless graphs change",
        "    columns ?b ?n",
        "    └─ ?n = ?agg1",
        "       └─ group by ?b: ?agg1 = COUNT(*)",
        "          └─ conjunction 2: ?b",
        "  over large datasets by 4 tasks by ?c, and one task after them: groups by ?b need all rows together",
        "  4 cells of 4: ?b 4",
        "  why: the least load of a cell, the sizes of views all taken as equal",
        "  ?a :p ?b  to one cell by ?b",
    ]
