"""Which graphs a pattern sees: FROM, FROM NAMED, and the contents of windows."""

from __future__ import annotations

import pytest

from tests.semantics.conftest import MakeMachine, emits

# FROM and FROM NAMED --------------------------------------------------------------------------------------------------


def test_from_named_keeps_the_default_graph_beside_a_stream(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :q 1")
    m.load(":a :r 2", graph="g")
    q = m.register(
        "SELECT ?x ?y ?z FROM NAMED :g { STREAM :s [ALL] { ?x :p 0 } ?x :q ?y GRAPH :g { ?x :r ?z } }",
    )
    m.push("s", ":a :p 0", at_ms=1)
    emits(q, "1 +a,1,2")


def test_from_named_leaves_no_default_graph_without_a_stream(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :q 1")
    m.load(":b :q 2", graph="g")
    q = m.register("SELECT ?x FROM NAMED :g { { ?x :q ?y } UNION { GRAPH :g { ?x :q ?y } } }")
    emits(q, "0 +b")


def test_from_makes_a_named_graph_the_default_graph(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :q 1")
    m.load(":b :q 2", graph="g")
    q = m.register("SELECT ?x FROM :g { ?x :q ?y }")
    m.insert(":c :q 1", at_ms=1)
    m.insert(":d :q 1", at_ms=2, graph="g")
    emits(q, "0 +b | 2 +d")


def test_from_chooses_the_default_graph_beside_a_stream_too(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :q 1")
    m.load(":a :q 2", graph="g")
    q = m.register("SELECT ?x ?y FROM :g { STREAM :s [ALL] { ?x :p 0 } ?x :q ?y }")
    m.push("s", ":a :p 0", at_ms=1)
    emits(q, "1 +a,2")


def test_several_from_merge_into_one_set_of_triples(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :q 1", graph="g")
    m.load(":a :q 1 . :b :q 1", graph="h")
    q = m.register("SELECT ?x FROM :g FROM :h { ?x :q ?y }")
    m.delete(":a :q 1", at_ms=1, graph="g")
    m.delete(":a :q 1", at_ms=2, graph="h")
    emits(q, "0 +a +b | 2 -a")


def test_a_named_graph_is_seen_with_graph_only(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x { GRAPH :g { ?x :q ?y } }")
    m.insert(":a :q 1", at_ms=1)
    m.insert(":b :q 1", at_ms=2, graph="g")
    m.insert(":c :q 1", at_ms=3, graph="h")
    emits(q, "2 +b")


def test_a_graph_variable_ranges_over_all_named_graphs(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?g ?x { GRAPH ?g { ?x :q ?y } }")
    m.insert(":a :q 1", at_ms=1)
    m.insert(":b :q 1", at_ms=2, graph="g")
    m.insert(":b :q 1", at_ms=3, graph="h")
    m.delete(":b :q 1", at_ms=4, graph="g")
    emits(q, "2 +g,b | 3 +h,b | 4 -g,b")


def test_from_named_bounds_a_graph_variable(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?g ?x FROM NAMED :g { GRAPH ?g { ?x :q ?y } }")
    m.insert(":b :q 1", at_ms=2, graph="g")
    m.insert(":b :q 1", at_ms=3, graph="h")
    emits(q, "2 +g,b")


def test_from_hides_graphs_that_are_not_named(machine: MakeMachine) -> None:
    m = machine()
    m.load(":b :q 1", graph="g")
    q = m.register("SELECT ?x FROM :g { { GRAPH :g { ?x :q ?y } } UNION { ?x :q ?y } }")
    emits(q, "0 +b")


# Windows in the default graph -----------------------------------------------------------------------------------------

MERGED = {
    "c-sparql": "FROM STREAM :s [RANGE 10]",
    "rsp-ql": "FROM WINDOW ON :s [RANGE 10]",
    "rsp-ql with stream": "FROM WINDOW ON STREAM :s [RANGE 10]",
}


@pytest.mark.parametrize("dialect", MERGED)
def test_an_unnamed_window_merges_into_the_default_graph(machine: MakeMachine, dialect: str) -> None:
    #  dataset  a knows b-------------
    #  stream         3         13
    #                 a p 1-----)
    m = machine()
    m.load(":a :knows :b")
    q = m.register(f"SELECT ?x ?z {MERGED[dialect]} {{ ?x :p ?y ; :knows ?z }}", output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "3 +a,b | 13 -a,b")


def test_several_unnamed_windows_merge_into_one_graph(machine: MakeMachine) -> None:
    #  s  1         11
    #     a p 1-----)      RANGE 10
    #  t       4    9
    #          a q 2)      RANGE 5
    m = machine()
    q = m.register("SELECT ?x FROM STREAM :s [RANGE 10] FROM STREAM :t [RANGE 5] { ?x :p ?y ; :q ?z }", output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("t", ":a :q 2", at_ms=4)
    m.finish()
    emits(q, "4 +a | 9 -a")


def test_a_path_crosses_from_a_merged_window_into_the_dataset(machine: MakeMachine) -> None:
    m = machine()
    m.load(":b :next :c")
    q = m.register("SELECT ?x FROM STREAM :s [RANGE 10] { :a :next+ ?x }", output="changes")
    m.push("s", ":a :next :b", at_ms=1)
    m.finish()
    emits(q, "1 +b +c | 11 -b -c")


def test_an_unnamed_window_merges_with_the_graph_that_from_chooses(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :q 1")
    m.load(":a :q 2", graph="g")
    q = m.register("SELECT ?x ?z FROM :g FROM STREAM :s [RANGE 10] { ?x :p ?y ; :q ?z }")
    m.push("s", ":a :p 1", at_ms=3)
    emits(q, "3 +a,2")


def test_a_merged_window_is_not_in_named_graphs(machine: MakeMachine) -> None:
    m = machine()
    m.load(":b :p 1", graph="g")
    q = m.register("SELECT ?x FROM STREAM :s [RANGE 10] { GRAPH ?g { ?x :p ?y } }")
    m.push("s", ":a :p 1", at_ms=3)
    emits(q, "3 +b")


# Windows of their own -------------------------------------------------------------------------------------------------

OWN = {
    "cqels": "SELECT ?x { STREAM :s [RANGE 10] { INSIDE } OUTSIDE }",
    "rsp-ql": "SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE 10] { WINDOW :w { INSIDE } OUTSIDE }",
}


@pytest.mark.parametrize("dialect", OWN)
def test_a_block_does_not_see_the_dataset(machine: MakeMachine, dialect: str) -> None:
    m = machine()
    m.load(":b :p 1")
    q = m.register(OWN[dialect].replace("INSIDE", "?x :p ?y").replace("OUTSIDE", ""), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    emits(q, "3 +a")


@pytest.mark.parametrize("dialect", OWN)
def test_outside_its_block_a_window_is_not_seen(machine: MakeMachine, dialect: str) -> None:
    m = machine()
    m.load(":a :q 1")
    q = m.register(OWN[dialect].replace("INSIDE", "?x :p ?y").replace("OUTSIDE", "?x :q ?z"), output="changes")
    m.push("s", ":a :p 1 . :b :p 1 . :b :q 1", at_ms=3)
    emits(q, "3 +a")


@pytest.mark.parametrize("dialect", OWN)
def test_a_graph_variable_does_not_range_over_windows(machine: MakeMachine, dialect: str) -> None:
    m = machine()
    m.load(":a :q 1", graph="g")
    text = OWN[dialect].replace("SELECT ?x", "SELECT ?g").replace("INSIDE", "?x :p ?y")
    q = m.register(text.replace("OUTSIDE", "GRAPH ?g { ?z :q ?v }"), output="rstream")
    m.push("s", ":a :p 1 . :a :q 1", at_ms=3)
    emits(q, "3 +g")


def test_a_block_does_not_see_other_windows(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x { STREAM :s [ALL] { ?x :p ?y } STREAM :t [ALL] { ?x :q ?z } }")
    m.push("s", ":a :p 1 . :a :q 1", at_ms=1)
    m.push("t", ":b :p 1 . :b :q 1", at_ms=2)
    emits(q, "")
    m.push("t", ":a :q 1", at_ms=3)
    emits(q, "3 +a")


def test_a_named_window_may_be_asked_twice(machine: MakeMachine) -> None:
    #  1       3
    #  a p 1---
    #          a q 2---   both in one window, asked in two blocks
    m = machine()
    q = m.register(
        "SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE 10] { WINDOW :w { ?x :p ?y } WINDOW :w { ?x :q ?z } }",
        output="changes",
    )
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":a :q 2", at_ms=3)
    m.finish()
    emits(q, "3 +a | 11 -a")


def test_two_named_windows_on_one_stream_keep_apart(machine: MakeMachine) -> None:
    #  1     4       11
    #  a-----)              :short, RANGE 3
    #  a-------------)      :long, RANGE 10
    #        b--)
    m = machine()
    q = m.register(
        "SELECT ?x ?y FROM NAMED WINDOW :short ON :s [RANGE 3] FROM NAMED WINDOW :long ON :s [RANGE 10] "
        "{ WINDOW :short { ?x :p 1 } WINDOW :long { ?y :p 1 } FILTER(?x != ?y) }",
        output="changes",
    )
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=4)
    m.finish()
    emits(q, "4 +b,a | 7 -b,a")


def test_merged_and_named_windows_live_in_one_query(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(
        "SELECT ?x ?z FROM STREAM :s [RANGE 10] FROM NAMED WINDOW :w ON :t [RANGE 10] { ?x :p ?y WINDOW :w { ?x :q ?z } }",
        output="changes",
    )
    m.push("s", ":a :p 1 . :a :q 0", at_ms=1)
    m.push("t", ":a :q 2", at_ms=2)
    emits(q, "2 +a,2")


def test_filters_and_optional_parts_of_a_block_see_its_window_only(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :hidden true . :a :name 'dataset'")
    q = m.register(
        "SELECT ?x ?n { STREAM :s [ALL] { ?x :p ?y OPTIONAL { ?x :name ?n } FILTER NOT EXISTS { ?x :hidden true } } }"
    )
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1 . :b :name 'stream'", at_ms=2)
    m.push("s", ":c :p 1 . :c :hidden true", at_ms=3)
    emits(q, '1 +a,_ | 2 +b,"stream"')
