"""Columns that nobody reads are dropped where they come from."""

from __future__ import annotations

import pytest

from millstream.language import parse_query
from millstream.plan.nodes import Quads, Solutions, in_order
from millstream.plan.passes import plan_of

CHAIN = "?a <p:p> ?b . ?b <p:q> ?c . ?c <p:r> ?d"


def test_of_named_graphs_only_what_is_read_is_kept() -> None:
    plan = plan_of(parse_query("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"))
    (quads,) = (node for node in in_order(plan) if isinstance(node, Quads))
    assert quads.variables == (quads.graph,)


def test_whether_a_graph_exists_needs_no_columns() -> None:
    plan = plan_of(parse_query("SELECT * { GRAPH <http://example.org/g> { VALUES ?x { 1 } } }"))
    (quads,) = (node for node in in_order(plan) if isinstance(node, Quads))
    assert quads.variables == ()


def leaf_columns(text: str) -> list[list[str]]:
    """What each conjunction of a query has to tell; the rest of its variables is counted, where it can be."""
    leaves = [node for node in in_order(plan_of(parse_query(text))) if isinstance(node, Solutions)]
    return [[v.value for v in leaf.variables] for leaf in leaves]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (f"SELECT (COUNT(*) AS ?n) {{ {CHAIN} }}", [[]]),
        (f"SELECT ?a (COUNT(*) AS ?n) {{ {CHAIN} }} GROUP BY ?a", [["a"]]),
        (f"SELECT DISTINCT ?a {{ {CHAIN} }}", [["a"]]),
        (f"ASK {{ {CHAIN} }}", [[]]),
        (f"SELECT ?x {{ ?x <p:s> ?a FILTER EXISTS {{ {CHAIN} }} }}", [["x", "a"], ["a"]]),
        (f"SELECT ?x {{ ?x <p:s> ?a FILTER NOT EXISTS {{ {CHAIN} }} }}", [["x", "a"], ["a"]]),
        (f"SELECT ?x {{ ?x <p:s> ?a MINUS {{ {CHAIN} }} }}", [["x", "a"], ["a"]]),
        (f"SELECT ?x {{ ?x <p:s> ?a {{ SELECT DISTINCT ?a {{ {CHAIN} }} }} }}", [["x", "a"], ["a"]]),
    ],
)
def test_of_what_is_only_counted_nothing_is_told(text: str, columns: list[list[str]]) -> None:
    assert leaf_columns(text) == columns


def test_to_count_what_is_always_bound_is_to_count_solutions() -> None:
    assert leaf_columns(f"SELECT ?a (COUNT(?d) AS ?n) {{ {CHAIN} }} GROUP BY ?a") == [["a"]]
    assert leaf_columns(f"SELECT ?a (COUNT(DISTINCT ?d) AS ?n) {{ {CHAIN} }} GROUP BY ?a") == [["a", "d"]]
    # Nothing of a cycle can be counted: then it is left to others to share.
    cycle = "SELECT ?a (COUNT(?b) AS ?n) { ?a <p:p> ?b . ?b <p:q> ?c . ?c <p:r> ?a } GROUP BY ?a"
    assert leaf_columns(cycle) == [["a", "b"]]
    optional = "SELECT ?a (COUNT(?c) AS ?n) { ?a <p:p> ?b OPTIONAL { ?b <p:q> ?c } } GROUP BY ?a"
    assert leaf_columns(optional) == [["a", "b"], ["b", "c"]]


def test_a_template_reads_what_its_triples_say_or_all_of_a_solution_to_name_blank_nodes() -> None:
    assert leaf_columns(f"CONSTRUCT {{ ?a <p:x> ?c }} {{ {CHAIN} }}") == [["a", "c"]]
    assert leaf_columns(f"CONSTRUCT {{ <p:x> a <p:y> }} {{ {CHAIN} }}") == [[]]
    assert leaf_columns(f"CONSTRUCT {{ ?a <p:x> [] }} {{ {CHAIN} }}") == [["a", "b", "c", "d"]]
