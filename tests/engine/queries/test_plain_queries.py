"""SPARQL over datasets alone, where the reference evaluator departs from the recommendation or nothing moves time."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from millstream import ContinuousQuery, Engine
from tests.engine.notation import NAMESPACE, answer_set, emitted, nt, short

G, H = f"{NAMESPACE}g", f"{NAMESPACE}h"


def register(engine: Engine, text: str) -> ContinuousQuery:
    return engine.register(f"PREFIX : <{NAMESPACE}> {text}")


# ASK ------------------------------------------------------------------------------------------------------------------


def test_a_triple_that_never_came_is_not_there_before_time_began() -> None:
    engine = Engine()
    engine.insert(nt("a p b"))
    assert register(engine, "ASK { :a :p :c }").solutions() is False


# Joins ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("VALUES ?x { 1 1 } VALUES ?x { 1 1 }", 4),
        ("{ { ?x :p ?y } UNION { ?x :p ?y } } { { ?x :p ?y } UNION { ?x :p ?y } }", 8),
        ("{ SELECT ?x { ?x :p ?y } } { SELECT ?x { ?x :p ?y } }", 4),
        ("VALUES (?x ?y) { (1 UNDEF) (UNDEF 2) } VALUES (?x ?y) { (1 UNDEF) (UNDEF 2) }", 4),
        ("GRAPH ?g { ?x :p ?y } GRAPH ?g { ?x :p ?y }", 2),
        ("?x :p+ ?y . ?x :p+ ?y", 2),
    ],
)
def test_a_pattern_joined_with_itself_pairs_all_its_solutions(pattern: str, count: int) -> None:
    engine = Engine()
    query = register(engine, f"SELECT * {{ {pattern} }}")
    for graph in (None, G):
        engine.insert(nt("a p b", "a p c"), at_ms=0, graph=graph)
    assert len(query.solutions()) == count


# Graphs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "VALUES ?x { :a }",
        "BIND(:a AS ?x)",
        "OPTIONAL { ?x :never ?y }",
        ":a :p* :a",
        "SELECT (COUNT(?y) AS ?x) { ?y :never ?z }",
        "{ ?x :never ?y } UNION { }",
        "FILTER NOT EXISTS { ?x :never ?y }",
    ],
)
def test_a_graph_has_solutions_only_while_it_exists(pattern: str) -> None:
    engine = Engine()
    query = register(engine, f"SELECT * {{ GRAPH :g {{ {pattern} }} }}")
    assert len(query.solutions()) == 0
    engine.insert(nt("s p o"), at_ms=1, graph=G)
    assert len(query.solutions()) == 1
    engine.insert(nt("s p u"), at_ms=2, graph=G)
    engine.delete(nt("s p o"), at_ms=3, graph=G)
    assert len(query.solutions()) == 1
    engine.delete(nt("s p u"), at_ms=4, graph=G)
    assert len(query.solutions()) == 0
    assert [answer.weight for answer in query.take()] == [1, -1]


def test_a_graph_that_from_named_does_not_choose_has_no_solutions() -> None:
    engine = Engine()
    engine.insert(nt("s p o"), graph=G)
    assert register(engine, "SELECT * FROM NAMED :h { GRAPH :g { } }").solutions() == []


def test_an_aggregate_inside_of_a_graph_variable_is_one_for_each_graph() -> None:
    engine = Engine()
    query = register(engine, "SELECT ?g ?n { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?x :p ?y } } }")
    assert answer_set(query) == []
    engine.insert(nt("s q o"), at_ms=1, graph=G)
    engine.insert(nt("a p b", "a p c"), at_ms=2, graph=H)
    engine.insert(nt("a p b"), at_ms=3, graph=G)
    engine.delete(nt("a p b"), at_ms=4, graph=G)
    engine.delete(nt("s q o"), at_ms=5, graph=G)
    changes = Counter(emitted(query))
    assert changes == Counter(["1 +g 0", "2 +h 2", "3 -g 0", "3 +g 1", "4 -g 1", "4 +g 0", "5 -g 0"])


def test_aggregates_of_nothing_in_a_graph_are_those_of_nothing_anywhere() -> None:
    engine = Engine()
    engine.insert(nt("s q o"), graph=G)
    inner = "SELECT (SUM(?y) AS ?a) (GROUP_CONCAT(?y) AS ?b) (MIN(?y) AS ?c) (SAMPLE(?y) AS ?d) { ?x :p ?y }"
    (found,) = register(engine, f"SELECT * {{ GRAPH ?g {{ {inner} }} }}").solutions()
    assert {name: short(term) for name, term in found.items()} == {"g": "g", "a": "0", "b": ""}


# BNODE, UUID, STRUUID and RAND ----------------------------------------------------------------------------------------

EACH = {
    "BNODE()": r"[0-9a-z]+",
    "UUID()": r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    "STRUUID()": r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    "RAND()": r"0\.[0-9]+|[0-9.]+[Ee]-[0-9]+|0",
}


@pytest.mark.parametrize("call", EACH)
def test_every_call_and_solution_has_a_fresh_value(call: str) -> None:
    engine = Engine()
    engine.insert(nt("a p b", "a p c"))
    query = register(engine, f"SELECT ({call} AS ?v) ({call} AS ?w) {{ ?x :p ?y }}")
    values = [term.value for solution in query.solutions() for term in solution.values()]
    assert len(set(values)) == 4
    assert all(re.fullmatch(EACH[call], value) for value in values)


@pytest.mark.parametrize("call", [*EACH, 'BNODE("a")'])
def test_a_fresh_value_goes_with_its_solution_and_comes_back_with_it(call: str) -> None:
    engine = Engine()
    query = register(engine, f"SELECT ?v {{ ?x :p ?y BIND({call} AS ?v) }}")
    engine.insert(nt("a p b"), at_ms=1)
    engine.delete(nt("a p b"), at_ms=2)
    engine = Engine.restore(engine.snapshot())
    (query,) = engine.queries
    engine.insert(nt("a p b"), at_ms=3)
    answers = query.take()
    assert [answer.weight for answer in answers] == [1, -1, 1]
    assert len({answer.bindings["v"] for answer in answers}) == 1


def test_a_label_is_one_blank_node_within_a_solution() -> None:
    engine = Engine()
    engine.insert(nt("a p b", "a p c"))
    query = register(
        engine, 'SELECT ?v ?w (BNODE("k") AS ?u) { ?x :p ?y BIND(BNODE("k") AS ?v) BIND(BNODE("l") AS ?w) FILTER(?v != ?w) }'
    )
    rows = query.solutions()
    assert all(row["u"] == row["v"] != row["w"] for row in rows)
    assert len({term for row in rows for term in row.values()}) == 4


def test_a_label_is_a_string() -> None:
    assert register(Engine(), "SELECT (BNODE(1) AS ?v) (BNODE(:a) AS ?w) { }").solutions() == [{}]


def test_a_filter_by_chance_keeps_the_same_solutions() -> None:
    engine = Engine()
    query = register(engine, "SELECT ?x { ?x :p ?y FILTER(RAND() < 0.5) }")
    lines = [f"a{i} p b" for i in range(100)]
    engine.insert(nt(*lines), at_ms=1)
    kept = answer_set(query)
    assert 20 < len(kept) < 80
    engine.delete(nt(*lines), at_ms=2)
    engine.insert(nt(*lines[::-1]), at_ms=3)
    assert answer_set(query) == kept


# EXISTS ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("GRAPH :g { ?z :p ?w FILTER(?w = ?y) }", ["a b"]),
        ("GRAPH ?g { ?z :p ?w FILTER(?w = ?y) }", ["a b", "a c"]),
        ("GRAPH :g { ?z :p ?w FILTER EXISTS { GRAPH :h { ?z :p ?v FILTER(?v = ?y) } } }", ["a c"]),
        ("?x :p ?w FILTER(?w = ?y) { SELECT ?x { ?x :p ?y } GROUP BY ?x HAVING (COUNT(?y) = 2) }", ["a b", "a c"]),
    ],
)
def test_exists_knows_the_solution_it_is_asked_for_at_any_depth(pattern: str, expected: list[str]) -> None:
    engine = Engine()
    query = register(engine, f"SELECT ?x ?y {{ ?x :p ?y FILTER EXISTS {{ {pattern} }} }}")
    engine.insert(nt("a p b", "a p c", "d p e"), at_ms=1)
    engine.insert(nt("a p b"), at_ms=2, graph=G)
    engine.insert(nt("a p c"), at_ms=3, graph=H)
    assert answer_set(query) == expected
