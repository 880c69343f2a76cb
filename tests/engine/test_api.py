"""The calls of an engine and its queries, as people type them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import rdflib
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from millstream import DataError, Engine, LateElementError, OptionError, QuerySyntaxError, UnsupportedQueryError
from tests.engine.machines import forget_all_that_may_be
from tests.engine.notation import NAMESPACE, S, T, answer_set, emitted, nt, over

A, P, B = (NamedNode(NAMESPACE + name) for name in "apb")


def watched(window: str = "ALL", **options: Any) -> tuple[Engine, Any]:
    engine = Engine(**options)
    return engine, engine.register(over(window), output="changes")


# Triples --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "triples",
    [
        nt("a p b"),
        nt("a p b").encode(),
        [Triple(A, P, B)],
        (Triple(A, P, B) for _ in range(2)),
        [(rdflib.URIRef(A.value), rdflib.URIRef(P.value), rdflib.URIRef(B.value))],
        [(str(A), str(P), str(B))],
        [nt("a p b")],
    ],
    ids=["text", "bytes", "pyoxigraph", "generator", "rdflib", "tuples", "lines"],
)
def test_triples_come_in_many_forms(triples: object) -> None:
    engine, query = watched()
    engine.push(S, triples, at_ms=1)
    assert emitted(query) == ["1 +a b"]
    assert engine.stats["triples"] == 1


def test_an_rdflib_graph_is_an_element() -> None:
    graph = rdflib.Graph()
    for name in "bc":
        graph.add((rdflib.URIRef(A.value), rdflib.URIRef(P.value), rdflib.URIRef(NAMESPACE + name)))
    engine, query = watched()
    engine.push(S, graph, at_ms=1)
    assert sorted(emitted(query)) == ["1 +a b", "1 +a c"]


def test_labels_in_text_are_nodes_of_their_call_only() -> None:
    engine, query = watched()
    for at_ms in (1, 2):
        engine.push(S, f"_:x {P} {B} .\n_:x {P} {A} .", at_ms=at_ms)
    nodes = [x.bindings["x"] for x in query.take()]
    assert nodes[0] == nodes[1]
    assert nodes[2] == nodes[3]
    assert nodes[0] != nodes[2]


def test_blank_nodes_that_are_objects_keep_their_identity_across_calls() -> None:
    node = BlankNode("x")
    engine, query = watched()
    engine.push(S, [Triple(node, P, B)], at_ms=1)
    engine.push(S, [Triple(node, P, B)], at_ms=2)
    engine.push(S, f"_:x {P} {B} .", at_ms=3)
    first, second = query.take()
    assert first.bindings["x"] == node
    assert (second.at_ms, second.bindings["x"] == node) == (3, False)


def test_a_blank_node_of_an_answer_can_be_passed_back() -> None:
    engine, query = watched()
    engine.push(S, f"_:x {P} {B} .", at_ms=1)
    (answer,) = query.take()
    engine.push(S, [Triple(answer.bindings["x"], P, A)], at_ms=2)
    (again,) = query.take()
    assert again.bindings["x"] == answer.bindings["x"]


def test_equal_values_written_differently_are_different_terms() -> None:
    engine, query = watched()
    for number in ("1", "01", "+1"):
        engine.push(S, [(str(A), str(P), f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>')], at_ms=1)
    assert [x.bindings["y"].value for x in query.take()] == ["1", "01", "+1"]


@pytest.mark.parametrize(
    "triples",
    [
        "garbage",
        f"{A} {P} {B}",
        nt("a p b") + "\n" + "<relative> <p> <o> .",
        nt("a p b") + f'\n"literal" {P} {B} .',
        [(str(A), str(P))],
        [Triple(A, P, B), "x"],
        [(str(A), "no term", str(B))],
        [(str(A), str(P), "<no term")],
        None,
        7,
        "\ud800",
    ],
)
@pytest.mark.parametrize("window", ["RANGE 10", "TRIPLES 3", "RANGE 4 STEP 2"])
def test_malformed_triples_raise_and_change_nothing(triples: object, window: str) -> None:
    engine, query = watched(window)
    engine.push(S, nt("a p b"), at_ms=1)
    before = engine.stats
    for call in (engine.push, lambda _, t, at_ms: engine.insert(t, at_ms), lambda _, t, at_ms: engine.delete(t, at_ms)):
        with pytest.raises(DataError):
            call(S, triples, at_ms=5)
    assert engine.stats | {"terms": 0} == before | {"terms": 0}
    assert engine.clock_ms == 1
    engine.push(S, nt("c p d"), at_ms=2)
    engine.finish()
    assert Counter(e.split("+")[1] for e in emitted(query) if "+" in e) == {"a b": 1, "c d": 1}


def test_a_complaint_says_where_and_why() -> None:
    with pytest.raises(DataError, match="triples: line 2, column 1: ") as caught:
        Engine().push(S, nt("a p b") + "\n<relative> <p> <o> .", at_ms=1)
    assert (caught.value.line, caught.value.source) == (2, "triples")


# Times ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_ms", [None, "5", 5.0, True, 1 << 59, -(1 << 59), float("nan")])
def test_a_time_is_a_whole_number_that_can_be_told(at_ms: Any) -> None:
    engine, query = watched()
    with pytest.raises(DataError, match="a time "):
        engine.push(S, nt("a p b"), at_ms=at_ms)
    with pytest.raises(DataError, match="a time "):
        engine.advance_to(at_ms)
    assert emitted(query) == []


def test_numbers_of_numpy_are_times() -> None:
    engine, query = watched()
    engine.push(S, nt("a p b"), at_ms=np.int64(3))  # type: ignore[arg-type]
    assert emitted(query) == ["3 +a b"]


def test_what_is_late_is_counted_and_set_aside_with_its_reason() -> None:
    engine, query = watched()
    engine.push(S, nt("a p b"), at_ms=10)
    engine.push(S, nt("c p d"), at_ms=9)
    engine.insert(nt("e p f"), at_ms=3)
    assert engine.stats["late"] == 2
    first, second = engine.rejected()
    assert (first.source, first.text) == (S, nt("c p d"))
    assert first.reason == "late: its time is 9 ms, when only 10 ms and later was still taken"
    assert second.source == "graph default"
    assert engine.rejected() == []
    assert emitted(query) == ["10 +a b"]


def test_what_is_late_raises_where_lateness_is_strict() -> None:
    engine, query = watched(strict=True)
    engine.push(S, nt("a p b"), at_ms=10)
    with pytest.raises(LateElementError, match="its time is 9 ms"):
        engine.push(S, nt("c p d"), at_ms=9)
    assert (engine.stats["late"], engine.stats["elements"]) == (0, 1)
    assert emitted(query) == ["10 +a b"]


def test_what_comes_within_the_lateness_is_put_in_order() -> None:
    engine, query = watched("ALL", lateness_ms=5)
    for name, at_ms in (("a", 10), ("b", 7), ("c", 5), ("d", 4), ("e", 20)):
        engine.push(S, nt(f"{name} p x"), at_ms=at_ms)
    assert engine.stats["held"] == 1
    engine.finish()
    assert emitted(query) == ["5 +c x", "7 +b x", "10 +a x", "20 +e x"]
    assert (engine.stats["late"], engine.stats["held"]) == (1, 0)


@pytest.mark.parametrize(
    "options",
    [{"lateness_ms": -1}, {"lateness_ms": 1.5}, {"lateness_ms": "5s"}, {"max_pending": 0}, {"max_pending": None}],
)
def test_options_have_values_they_can_have(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        Engine(**options)


# Names ----------------------------------------------------------------------------------------------------------------


def test_a_relative_name_of_a_stream_is_that_of_queries() -> None:
    engine = Engine()
    query = engine.register("SELECT ?x WHERE { STREAM <taxi> [ALL] { ?x ?p ?y } }")
    engine.push("taxi", nt("a p b"), at_ms=0)
    assert emitted(query) == ["0 +a"]


@pytest.mark.parametrize("name", [5, None, b"http://e/s", "no iri", "http://e/<>", "\ud800"])
def test_a_stream_has_an_iri(name: Any) -> None:
    with pytest.raises(OptionError, match="the name of a stream is an IRI"):
        Engine().push(name, nt("a p b"), at_ms=0)


@pytest.mark.parametrize("name", [5, b"http://e/s", "no iri"])
def test_a_graph_has_an_iri(name: Any) -> None:
    with pytest.raises(OptionError, match="the name of a graph is an IRI"):
        Engine().insert(nt("a p b"), graph=name)


def test_a_query_says_what_it_is() -> None:
    engine = Engine()
    query = engine.register(
        f"REGISTER QUERY Doors AS PREFIX : <{NAMESPACE}> "
        f"SELECT ?y ?x FROM STREAM <{S}> [RANGE 5s STEP 1s] WHERE {{ ?x :p ?y }}",
        output="istream",
    )
    assert (query.name, query.variables, query.output, query.closed) == ("Doors", ("y", "x"), "istream", False)
    assert "RANGE 5s STEP 1s" in query.explain()
    assert ":p" in query.explain()
    assert query.warnings == ()
    assert engine.queries == (query,)


def test_what_is_no_query_is_refused_and_leaves_nothing_behind() -> None:
    engine = Engine()
    with pytest.raises(QuerySyntaxError):
        engine.register("SELECT nonsense")
    with pytest.raises(OptionError, match="output is one of"):
        engine.register(over("ALL"), output="all")
    with pytest.raises(OptionError, match="a query is text"):
        engine.register(7)  # type: ignore[arg-type]
    assert engine.queries == ()
    assert engine.stats["queries"] == 0


# Answers --------------------------------------------------------------------------------------------------------------


def test_answers_can_be_taken_once() -> None:
    engine, query = watched()
    engine.push(S, nt("a p b"), at_ms=1)
    (answer,) = query.take()
    assert (answer.at_ms, answer.weight, answer.bindings) == (1, 1, {"x": A, "y": B})
    assert query.take() == []


def test_a_table_of_answers_has_their_terms_as_text() -> None:
    engine, query = watched("RANGE 3")
    engine.push(S, [Triple(A, P, Literal("été", language="fr"))], at_ms=1)
    engine.finish()
    table = query.take_table()
    assert table.column_names == ["at_ms", "weight", "x", "y"]
    assert table.schema.types == [pa.int64(), pa.int64(), pa.string(), pa.string()]
    assert table.to_pylist() == [
        {"at_ms": 1, "weight": 1, "x": str(A), "y": '"été"@fr'},
        {"at_ms": 4, "weight": -1, "x": str(A), "y": '"été"@fr'},
    ]
    assert query.take_table().num_rows == 0


def test_weights_add_up_to_the_answer_set() -> None:
    engine = Engine()
    asked, taken = (engine.register(over("RANGE 7", "?x :p ?y . ?y :p ?z"), output="changes") for _ in range(2))
    total: Counter[str] = Counter()
    for i in range(60):
        engine.push(S, nt(f"n{i * 7 % 5} p n{i * 3 % 4}"), at_ms=i)
        for emission in emitted(taken):
            sign, row = emission.split(" ", 1)[1][0], emission.split(" ", 1)[1][1:]
            total[row] += 1 if sign == "+" else -1
        assert Counter(answer_set(asked)) == +total == Counter(answer_set(taken))


def test_unbound_variables_are_absent() -> None:
    engine = Engine()
    query = engine.register(f"SELECT ?x ?never WHERE {{ STREAM <{S}> [ALL] {{ ?x ?p ?y }} }}")
    engine.push(S, nt("a p b"), at_ms=0)
    assert query.take_table().to_pylist() == [{"at_ms": 0, "weight": 1, "x": str(A), "never": None}]
    assert query.solutions() == [{"x": A}]


def test_what_a_query_counts() -> None:
    engine, query = watched("RANGE 10")
    engine.push(S, nt("a p b", "a q b"), at_ms=0)
    engine.push(T, nt("a p b"), at_ms=1)
    engine.push(S, nt("c q d"), at_ms=2)
    assert query.stats == {"elements": 2, "kept": 1, "stored": 1, "answers": 1, "pending": 1}
    stats = engine.stats
    assert {k: stats[k] for k in ("elements", "triples", "answers", "stored", "late", "rejected", "queries")} == {
        "elements": 3,
        "triples": 4,
        "answers": 1,
        "stored": 1,
        "late": 0,
        "rejected": 0,
        "queries": 1,
    }


# Callbacks ------------------------------------------------------------------------------------------------------------


def test_a_callback_hears_each_answer_and_nothing_is_kept() -> None:
    heard: list[Any] = []
    engine = Engine()
    query = engine.register(over("RANGE 3"), output="changes", on_answer=heard.append)
    engine.push(S, nt("a p b"), at_ms=1)
    assert [(x.at_ms, x.weight) for x in heard] == [(1, 1)]
    engine.finish()
    assert [(x.at_ms, x.weight) for x in heard] == [(1, 1), (4, -1)]
    assert query.take() == []
    assert query.stats["pending"] == 0


def test_a_callback_that_raises_loses_nothing() -> None:
    heard: list[int] = []

    def hear(answer: Any) -> None:
        heard.append(answer.at_ms)
        if answer.at_ms == 1:
            raise RuntimeError("cannot hear")

    engine = Engine()
    loud = engine.register(over("ALL"), on_answer=hear)
    quiet = engine.register(over("ALL"))
    with pytest.raises(RuntimeError, match="cannot hear"):
        engine.push(S, nt("a p b", "a p c"), at_ms=1)
    # The element has come for all queries; the second answer is heard with the next call.
    assert emitted(quiet) == ["1 +a b", "1 +a c"]
    assert answer_set(loud) == ["a b", "a c"]
    assert heard == [1]
    with pytest.raises(RuntimeError, match="cannot hear"):
        engine.push(S, nt("d p e"), at_ms=2)
    engine.advance_to(2)
    assert heard == [1, 1, 2]
    assert emitted(quiet) == ["2 +d e"]


def test_a_callback_may_feed_another_stream() -> None:
    engine = Engine()
    engine.register(over("ALL"), on_answer=lambda x: engine.push(T, [Triple(x.bindings["y"], P, x.bindings["x"])], x.at_ms))
    second = engine.register(over("ALL", stream=T))
    engine.push(S, nt("a p b", "c p d"), at_ms=1)
    assert sorted(emitted(second)) == ["1 +b a", "1 +d c"]


def test_a_callback_may_close_its_own_query() -> None:
    engine = Engine()
    heard: list[Any] = []

    def once(answer: Any) -> None:
        heard.append(answer)
        first.close()

    first = engine.register(over("ALL"), on_answer=once)
    second = engine.register(over("ALL"))
    engine.push(S, nt("a p b"), at_ms=1)
    engine.push(S, nt("c p d"), at_ms=2)
    assert len(heard) == 1
    assert emitted(second) == ["1 +a b", "2 +c d"]


# Many and closed ------------------------------------------------------------------------------------------------------


def test_a_closed_query_hears_nothing_more_and_frees_what_it_kept() -> None:
    engine, query = watched("ALL")
    kept = engine.register(over("ALL", "?x :q ?y"))
    for i in range(500):
        engine.push(S, nt(f"a{i} p b{i}"), at_ms=i)
    assert engine.stats["stored"] == 500
    query.close()
    query.close()
    assert query.closed
    assert engine.queries == (kept,)
    assert engine.stats["stored"] == 0
    assert query.solutions() == []
    assert len(query.take()) == 500
    engine.push(S, nt("c p d", "c q d"), at_ms=1000)
    assert (emitted(query), emitted(kept)) == ([], ["1000 +c d"])


def test_what_only_a_closed_query_needed_is_forgotten() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 1s"))
    for i in range(500):
        engine.push(S, nt(f"a{i} p b{i}"), at_ms=i)
    assert engine.stats["terms"] > 1000
    query.close()
    engine.advance_to(5000)
    forget_all_that_may_be(engine)
    assert engine.stats["terms"] == 0


@pytest.mark.parametrize("window", ["TRIPLES 100", "ELEMENTS 100", "EVENT", "SESSION 100"])
def test_what_a_closed_query_counted_is_forgotten(window: str) -> None:
    engine, query = watched(window)
    for i in range(300):
        engine.push(S, nt(f"a{i} p b{i}"), at_ms=i)
    query.close()
    query.take()
    engine.advance_to(1000)
    forget_all_that_may_be(engine)
    assert engine.stats["terms"] == 0


def test_many_queries_answer_as_each_alone() -> None:
    windows = ["RANGE 5", "RANGE 9 SLIDE 4", "RANGE 6 STEP 3", "TRIPLES 7", "ELEMENTS 3", "NOW", "EVENT", "ALL"]
    windows += ["LANDMARK 4", "SESSION 2"]
    patterns = ["?x :p ?y", "?x :q ?y", "?x :p ?y . ?y :q ?z", "?x ?p ?y", ":n1 :p ?y"]
    outputs = [None, "istream", "dstream", "changes", "rstream"]
    texts = [(over(w, p), o) for w in windows for p in patterns for o in outputs]
    assert len(texts) == 250
    elements = [(nt(f"n{i * 7 % 4} {'pq'[i % 2]} n{i * 5 % 3}", f"n{i % 3} q n{i % 2}"), i * 3 // 2) for i in range(25)]

    def run(engine: Engine) -> None:
        for triples, at_ms in elements:
            engine.push(S, triples, at_ms=at_ms)
        engine.advance_to(1000)

    together = Engine()
    queries = [together.register(text, output=output) for text, output in texts]
    run(together)
    for (text, output), query in zip(texts, queries, strict=True):
        alone = Engine()
        lone = alone.register(text, output=output)
        run(alone)
        # Within a change rows go by ids, which are given out as terms come.
        assert sorted(emitted(query)) == sorted(emitted(lone)), text
        assert answer_set(query) == answer_set(lone), text


def fed(name: str, read: str, output: str) -> str:
    pattern = f"STREAM :{read} [RANGE 5] {{ ?s :p ?o }}"
    return f"PREFIX : <http://example.org/> REGISTER {output} :{name} AS CONSTRUCT {{ ?o :p ?s }} {{ {pattern} }}"


def test_queries_that_would_answer_each_other_without_end_are_refused() -> None:
    engine = Engine()
    with pytest.raises(UnsupportedQueryError, match="without end"):
        engine.register(fed("a", "a", "RSTREAM"))
    with pytest.raises(UnsupportedQueryError, match="without end"):
        engine.register(fed("a", "a", "ISTREAM"), output="rstream")
    engine.register(fed("b", "a", "RSTREAM"))
    engine.register(fed("c", "b", "ISTREAM"))
    with pytest.raises(UnsupportedQueryError, match="each other"):
        engine.register(fed("a", "c", "ISTREAM"))
    query = engine.register(fed("d", "c", "RSTREAM"))
    engine.push("http://example.org/a", "<http://e/1> <http://example.org/p> <http://e/2> .", at_ms=0)
    assert len(query.take()) == 1


def test_what_is_new_alone_may_go_in_a_circle() -> None:
    engine = Engine()
    query = engine.register(fed("a", "a", "ISTREAM"))
    engine.push("http://example.org/a", "<http://e/1> <http://example.org/p> <http://e/2> .", at_ms=0)
    assert len(query.take()) == 2
