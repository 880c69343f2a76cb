"""What random queries found: one fact each, in the smallest form that showed it, against the reference evaluator."""

from __future__ import annotations

import pyarrow as pa
import pytest

from millstream import Engine
from tests.engine.machines import check, take_step
from tests.engine.notation import NAMESPACE, S, nt
from tests.engine.scenarios import Scenario, Step

G = f"{NAMESPACE}g"


def scenario(query: str, *steps: Step, output: str = "changes") -> Scenario:
    return Scenario(f"PREFIX : <{NAMESPACE}> {query}", output, 0, 0, steps)


def push(at_ms: int, *triples: str) -> Step:
    return Step("push", S, (nt(*triples),), at_ms)


def insert(at_ms: int, *triples: str, graph: str | None = None) -> Step:
    return Step("insert", graph, (nt(*triples),), at_ms)


def delete(at_ms: int, *triples: str, graph: str | None = None) -> Step:
    return Step("delete", graph, (nt(*triples),), at_ms)


def test_a_variable_is_the_same_term_as_itself() -> None:
    check(scenario("SELECT * { ?a :p ?b . ?b :q ?c FILTER(sameTerm(?a, ?a)) }", insert(0, "a p b", "b q c")))


def test_what_a_sub_query_leaves_out_is_not_selected_around_it() -> None:
    check(scenario("SELECT ?d { { SELECT ?a { ?a :p ?d } } }", insert(0, "a p b")))


def test_equal_sub_queries_multiply_their_solutions() -> None:
    check(scenario("SELECT ?a { { SELECT ?a { ?a :p ?b } } { SELECT ?a { ?a :p ?b } } }", insert(0, "a p b", "a p c")))


@pytest.mark.parametrize("inner", ["", "BIND(1 AS ?x)", "OPTIONAL { ?x :p ?y }"])
def test_a_named_graph_is_there_while_it_has_a_triple(inner: str) -> None:
    query = f"SELECT * {{ GRAPH :g {{ {inner} }} }}"
    check(scenario(query, insert(1, "a q b", graph=G), delete(2, "a q b", graph=G), insert(3, "a p b", graph=G)))


@pytest.mark.parametrize("graph", [":g", "?g"])
@pytest.mark.parametrize("inner", ["VALUES ?x { 1 }", "{ SELECT (COUNT(*) AS ?n) { ?x :p ?y } }", ":a :p* ?x"])
def test_a_graph_that_is_not_there_has_no_solutions_though_none_needs_a_triple(graph: str, inner: str) -> None:
    # Not against the reference evaluator: its outside engine departs from section 18.6 here.
    engine = Engine()
    query = engine.register(f"PREFIX : <{NAMESPACE}> SELECT * {{ GRAPH {graph} {{ {inner} }} }}", "changes")
    engine.insert(nt("a q b"), at_ms=1, graph=G)
    engine.delete(nt("a q b"), at_ms=2, graph=G)
    assert [(x.at_ms, x.weight) for x in query.take()] == [(1, 1), (2, -1)]


@pytest.mark.parametrize("graph", [":g", "?g"])
def test_a_path_between_two_terms_is_one_solution_however_many_ways_there_are(graph: str) -> None:
    # Not against the reference evaluator: its outside engine has one for each last step in GRAPH ?g.
    engine = Engine()
    query = engine.register(f"PREFIX : <{NAMESPACE}> SELECT * {{ GRAPH {graph} {{ :a :p+ :b }} }}", "changes")
    engine.insert(nt("a p a"), at_ms=1, graph=G)
    engine.insert(nt("a p b"), at_ms=2, graph=G)
    engine.delete(nt("a p a"), at_ms=3, graph=G)
    engine.delete(nt("a p b"), at_ms=4, graph=G)
    assert [(x.at_ms, x.weight) for x in query.take()] == [(2, 1), (4, -1)]


@pytest.mark.parametrize("tail", ["LIMIT 1", "HAVING (COUNT(*) > 0) LIMIT 1"])
def test_what_a_group_counts_at_registration_is_one_change_with_what_it_has_before(tail: str) -> None:
    query = f"SELECT * {{ STREAM <{S}> [RANGE 6] {{ ?a :p ?b }} {{ SELECT (COUNT(*) AS ?n) {{ ?c :p ?d }} {tail} }} }}"
    for first in (insert(0, "a p b"), push(0, "a q b")):
        engine = Engine()
        take_step(engine, first)
        engine.insert(nt("c p d"), at_ms=0)
        registered = engine.register(f"PREFIX : <{NAMESPACE}> {query}", "changes")
        engine.push(S, nt("e p f"), at_ms=1)
        assert [(x.at_ms, x.weight) for x in registered.take()] == [(1, 1)]
    engine = Engine()
    engine.load(nt("c p d").encode(), format="nt")
    registered = engine.register(f"PREFIX : <{NAMESPACE}> {query}", "changes")
    engine.push(S, nt("e p f"), at_ms=1)
    assert [(x.at_ms, x.weight) for x in registered.take()] == [(1, 1)]


@pytest.mark.parametrize(
    "term",
    [
        '"NaN"^^xsd:double',
        '"NaN"^^xsd:float',
        '"abc"^^xsd:integer',
        '"never"^^xsd:dateTime',
        '"x"^^<urn:unknown>',
        '"x"@en',
        '"P1Y"^^xsd:duration',
    ],
)
def test_values_join_with_the_same_term_whether_it_equals_itself_or_not(term: str) -> None:
    # Not against the reference evaluator: its outside engine keeps numbers by value.
    engine = Engine()
    prologue = f"PREFIX : <{NAMESPACE}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"
    query = engine.register(f"{prologue} SELECT * {{ VALUES ?b {{ {term} }} ?a :p ?b }}", "changes")
    whole = term.replace("xsd:", "<http://www.w3.org/2001/XMLSchema#") + (">" if "xsd:" in term else "")
    engine.insert(f"<{NAMESPACE}a> <{NAMESPACE}p> {whole} .", at_ms=0)
    assert len(query.take()) == 1


def test_alternatives_of_a_path_are_a_union() -> None:
    # Not against the reference evaluator: its outside engine drops repeats.
    engine = Engine()
    one = engine.register(f"PREFIX : <{NAMESPACE}> SELECT * {{ ?a :p|:p|:q ?b }}", "changes")
    other = engine.register(f"PREFIX : <{NAMESPACE}> SELECT * {{ ?a (:p|:q)/^(:p|:q) ?b }}", "changes")
    engine.insert(nt("a p b", "a q b"), at_ms=0)
    assert (len(one.take()), len(other.take())) == (3, 4)


def test_a_value_assigned_inside_of_a_graph_must_be_its_name() -> None:
    # Not against the reference evaluator: its outside engine lets the value assigned win.
    engine = Engine()
    query = engine.register(f"PREFIX : <{NAMESPACE}> SELECT ?g {{ GRAPH ?g {{ ?a :p ?b BIND(?b AS ?g) }} }}", "changes")
    engine.insert(nt("a p b", "a p g"), at_ms=0, graph=G)
    assert [x.bindings["g"].value for x in query.take()] == [G]


@pytest.mark.parametrize("inside", ["{ SELECT ?a { ?a :p ?b } }", "{ SELECT (COUNT(*) AS ?n) { ?a :p ?b } }"])
def test_a_sub_query_inside_of_a_graph_stays_in_it(inside: str) -> None:
    # Not against the reference evaluator: its outside engine forgets the graph.
    engine = Engine()
    query = engine.register(f"PREFIX : <{NAMESPACE}> SELECT * {{ GRAPH ?g {{ ?a :p ?b {inside} }} }}", "changes")
    engine.insert(nt("a p b"), at_ms=0, graph=G)
    engine.insert(nt("a p b"), at_ms=1, graph=f"{NAMESPACE}h")
    assert [(x.at_ms, x.weight) for x in query.take()] == [(0, 1), (1, 1)]


@pytest.mark.parametrize(
    "inner",
    [
        "?c :q ?d FILTER EXISTS { ?e :p ?f FILTER(?f = ?b) }",
        "?c :q ?d FILTER NOT EXISTS { ?c :p ?f FILTER(?f = ?b || ?d = ?a) }",
        "?c :q ?d OPTIONAL { ?c :p ?e FILTER EXISTS { ?e :q ?f FILTER(?f != ?a) } } FILTER(BOUND(?e))",
    ],
)
def test_an_exists_inside_of_another_sees_the_values_of_the_outermost_solution(inner: str) -> None:
    steps = [insert(0, "a p b", "c q d"), insert(1, "c p b", "b q a"), insert(2, "b p c"), delete(3, "a p b")]
    for word in ("EXISTS", "NOT EXISTS"):
        check(scenario(f"SELECT * {{ ?a :p ?b FILTER {word} {{ {inner} }} }}", *steps))


@pytest.mark.parametrize(("minus", "left"), [("?x :q ?y", 1), ("?a :q ?y", 0)])
def test_sides_of_a_minus_do_not_share_the_name_of_the_graph_they_are_in(minus: str, left: int) -> None:
    # Not against the reference evaluator: its outside engine has the name in both.
    engine = Engine()
    query = engine.register(f"PREFIX : <{NAMESPACE}> SELECT * {{ GRAPH ?g {{ ?a :p ?b MINUS {{ {minus} }} }} }}", "changes")
    engine.insert(nt("a p b", "a q b"), at_ms=0, graph=G)
    assert len(query.take()) == left


@pytest.mark.parametrize("window", ["RANGE 4 TUMBLING", "RANGE 4 STEP 2"])
@pytest.mark.parametrize("form", ["ASK", "SELECT (COUNT(*) AS ?n)", "SELECT DISTINCT ?y"])
def test_what_leaves_on_a_grid_while_it_comes_again_is_no_change(form: str, window: str) -> None:
    steps = [push(1, "a p b", "b q c"), push(5, "a p b", "b q c"), push(9, "d p e")]
    for pattern in ("?x :p ?y", "?x :p ?y . ?y :q ?z"):
        check(scenario(f"{form} {{ STREAM <{S}> [{window}] {{ {pattern} }} }}", *steps))


@pytest.mark.parametrize("test", ["?c = ?d", "?c != ?d", "!BOUND(?d)", "BOUND(?d) || ?c = :c"])
@pytest.mark.parametrize("open", ["{ ?b :p ?c } UNION { ?b :q ?d }", "?b :p ?c OPTIONAL { ?b :q ?d }"])
@pytest.mark.parametrize("beside", ["?c :p ?d", "{ SELECT DISTINCT ?c ?d { ?c :p ?d } }", "{ ?c :p ?e BIND(?e AS ?d) }"])
def test_a_filter_does_not_see_what_is_bound_beside_its_group(beside: str, open: str, test: str) -> None:
    steps = [insert(0, "c p c", "a p c"), insert(1, "c p d", "c q c"), insert(2, "a q c"), delete(3, "c p c")]
    check(scenario(f"SELECT * {{ {{ {open} FILTER({test}) }} {beside} }}", *steps))
    check(scenario(f"SELECT * {{ {{ {open} }} {beside} FILTER({test}) }}", *steps))


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("format", ["nt", "turtle"])
def test_a_load_is_one_change_however_its_bytes_are_cut(end: str, format: str) -> None:
    engine = Engine()
    query = engine.register(f"PREFIX : <{NAMESPACE}> SELECT (COUNT(*) AS ?n) {{ ?x :p ?y }}", "rstream")
    engine.load((nt("a p b", "a p c", "a p d").rstrip("\n") + end).encode(), format=format)
    assert [x.bindings["n"].value for x in query.take()] == ["0", "3"]


@pytest.mark.parametrize("format", ["nquads", "trig"])
def test_a_load_changes_graphs_in_the_order_in_which_they_appear(format: str) -> None:
    engine = Engine()
    query = engine.register(f"PREFIX : <{NAMESPACE}> SELECT * {{ GRAPH ?g {{ ?x :p ?y }} }}", "changes")
    graphs = [f"{NAMESPACE}g{i}" for i in (2, 0, 1)]
    write = "<{0}a> <{0}p> <{0}b> <{1}> .\n" if format == "nquads" else "<{1}> {{ <{0}a> <{0}p> <{0}b> }}\n"
    engine.insert(nt("g0 p g1"))
    engine.load("".join(write.format(NAMESPACE, graph) for graph in graphs).encode(), format=format)
    assert [x.bindings["g"].value for x in query.take()] == graphs


def test_what_a_load_makes_a_query_construct_reaches_those_that_read_it_at_once() -> None:
    engine = Engine()
    prefix = f"PREFIX : <{NAMESPACE}>"
    engine.register(f"{prefix} REGISTER ISTREAM :made AS CONSTRUCT {{ ?y :q ?x }} WHERE {{ ?x :p ?y }}")
    query = engine.register(f"{prefix} SELECT * {{ STREAM :made [ALL] {{ ?y :q ?x }} }}")
    engine.load(nt("a p b").encode(), format="nt")
    assert [x.bindings["x"].value for x in query.take()] == [f"{NAMESPACE}a"]


def test_a_snapshot_has_nothing_of_merged_windows_that_has_ended() -> None:
    engine = Engine()
    query = f"PREFIX : <{NAMESPACE}> ASK FROM STREAM <{S}> [RANGE 6 STEP 2] {{ ?b :q ?c MINUS {{ ?a :p ?c }} }}"
    engine.register(query)
    engine.insert(nt("a p b"), at_ms=0)
    engine.push(S, nt("a p b"), at_ms=1)
    engine.delete(nt("a p b"), at_ms=2)
    engine.advance_to(20)
    Engine.restore(engine.snapshot()).finish()


@pytest.mark.parametrize("order", ["ASC(?o) LIMIT 3", "DESC(?o) LIMIT 3", "ASC(?o) OFFSET 9", "DESC(?o) OFFSET 9"])
def test_literals_of_all_kinds_have_one_order(order: str) -> None:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    typed = [
        ("0", "integer"),
        ("0.5", "decimal"),
        ("0.5", "double"),
        ("true", "boolean"),
        ("false", "boolean"),
        ("n", "integer"),
    ]
    literals = ['""', '"n"', '"n"@en', '"n"@de', *(f'"{text}"^^<{xsd}{name}>' for text, name in typed)]
    steps = [Step("insert", None, (f"<{NAMESPACE}a> <{NAMESPACE}p> {o} .",), at_ms) for at_ms, o in enumerate(literals)]
    check(scenario(f"SELECT ?o {{ ?s :p ?o }} ORDER BY {order}", insert(0, "a p b"), *steps))


@pytest.mark.parametrize("pattern", [":a :p ?t", "?x ?y :b . :a :p ?t", ":a :p ?t . ?x :p ?t . ?x ?y ?z"])
def test_a_snapshot_has_moments_that_a_pattern_has_nothing_beside(pattern: str) -> None:
    engine = Engine()
    engine.register(f"PREFIX : <{NAMESPACE}> SELECT * {{ STREAM <{S}> [RANGE 9] {{ {pattern} }} }}", output="changes")
    moment = '"2020-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    engine.push(S, f"<{NAMESPACE}a> <{NAMESPACE}p> {moment} .\n{nt('a p b')}", at_ms=1)
    (query,), (again,) = engine.queries, Engine.restore(engine.snapshot()).queries
    assert again.solutions() == query.solutions() != []


@pytest.mark.parametrize("far", [2**60, 2**63, 2**64 - 1])
def test_a_time_in_a_table_that_no_clock_tells_is_set_aside_alone(far: int) -> None:
    engine = Engine()
    engine.register(f"SELECT * {{ STREAM <{S}> [RANGE 4 STEP 2] {{ ?x ?p ?y }} }}", output="rstream")
    terms = {place: ["<http://e/a>"] * 2 for place in "spo"}
    engine.push_table(S, pa.table({**terms, "at_ms": pa.array([1, far], pa.uint64())}))
    assert engine.stats["elements"] == 1
    assert [f"at_ms is {far}" in rejected.reason for rejected in engine.rejected()] == [True]


def test_an_element_that_concerns_nobody_still_ends() -> None:
    """The first element behind a change that waited: two queries skip it, and time still goes to its last end."""
    engine = Engine(lateness_ms=2)
    stream, pattern = "<http://example.org/s>", "{ ?a <http://example.org/p> ?a }"
    engine.register(f"SELECT * WHERE {{ STREAM {stream} [RANGE 2] {pattern} {pattern} }}")
    engine.push("http://example.org/s", "<http://example.org/n> <http://example.org/q> <http://example.org/n> .", at_ms=0)
    engine.register(f"SELECT * WHERE {{ STREAM {stream} [RANGE 1] {pattern} }}")
    engine.insert("<http://example.org/n> <http://example.org/p> <http://example.org/n> .", at_ms=-1)
    engine.finish()
    assert engine.clock_ms == 2


def test_what_waits_is_known_when_a_snapshot_is_taken_back() -> None:
    """A change waits whose terms nothing else has, and a query makes a term while it is taken back."""
    engine = Engine(lateness_ms=2)
    engine.insert("<http://example.org/n> <http://example.org/p> <http://example.org/n> .", at_ms=-10)
    engine = Engine.restore(engine.snapshot())
    engine.register("SELECT ?a (0.5e0 AS ?v) WHERE { STREAM <http://example.org/s> [ALL] { ?a <http://example.org/p> ?b } }")
    engine = Engine.restore(engine.snapshot())
    engine.finish()
    assert engine.stats["changes"] == 1
