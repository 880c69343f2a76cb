"""Columns that nobody reads are dropped where they come from."""

from __future__ import annotations

from millstream.language import parse_query
from millstream.plan.nodes import Quads, in_order
from millstream.plan.passes import plan_of


def test_of_named_graphs_only_what_is_read_is_kept() -> None:
    plan = plan_of(parse_query("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"))
    (quads,) = (node for node in in_order(plan) if isinstance(node, Quads))
    assert quads.variables == (quads.graph,)


def test_whether_a_graph_exists_needs_no_columns() -> None:
    plan = plan_of(parse_query("SELECT * { GRAPH <http://example.org/g> { VALUES ?x { 1 } } }"))
    (quads,) = (node for node in in_order(plan) if isinstance(node, Quads))
    assert quads.variables == ()
