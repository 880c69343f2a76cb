"""What is not conjunctive: after every change the answer is what SPARQL defines for the contents then."""

from __future__ import annotations

import pytest

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over

# Negation and options -------------------------------------------------------------------------------------------------


def test_optional_parts_come_and_go(machine: MakeMachine) -> None:
    #  s  0         10
    #     a p 1-----)     RANGE 10
    #  t    2    7
    #       a q 5)        RANGE 5
    m = machine()
    q = m.register(
        "SELECT ?x ?z { STREAM :s [RANGE 10] { ?x :p ?y } OPTIONAL { STREAM :t [RANGE 5] { ?x :q ?z } } }",
        output="changes",
    )
    m.push("s", ":a :p 1", at_ms=0)
    m.push("t", ":a :q 5", at_ms=2)
    m.finish()
    emits(q, "0 +a,_ | 2 -a,_ +a,5 | 7 -a,5 +a,_ | 10 -a,_")


def test_a_second_match_of_an_optional_part_does_not_bring_back_the_bare_row(machine: MakeMachine) -> None:
    #  t  2    4    7    9
    #     a q 5-----)
    #          a q 6-----)     RANGE 5
    m = machine()
    q = m.register(
        "SELECT ?x ?z { STREAM :s [ALL] { ?x :p ?y } OPTIONAL { STREAM :t [RANGE 5] { ?x :q ?z } } }",
        output="changes",
    )
    m.push("s", ":a :p 1", at_ms=0)
    m.push("t", ":a :q 5", at_ms=2)
    m.push("t", ":a :q 6", at_ms=4)
    m.finish()
    emits(q, "0 +a,_ | 2 -a,_ +a,5 | 4 +a,6 | 7 -a,5 | 9 -a,6 +a,_")


def test_the_filter_of_an_optional_part_sees_the_whole_row(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(
        "SELECT ?x ?z { STREAM :s [ALL] { ?x :p ?y } OPTIONAL { STREAM :t [ALL] { ?x :q ?z } FILTER(?z > ?y) } }",
        output="changes",
    )
    m.push("s", ":a :p 5", at_ms=0)
    m.push("t", ":a :q 4", at_ms=1)
    m.push("t", ":a :q 6", at_ms=2)
    emits(q, "0 +a,_ | 2 -a,_ +a,6")


WITHOUT = {
    "minus": "MINUS { STREAM :t [RANGE 5] { ?x :q ?z } }",
    "not exists": "FILTER NOT EXISTS { STREAM :t [RANGE 5] { ?x :q ?z } }",
    "optional and not bound": "OPTIONAL { STREAM :t [RANGE 5] { ?x :q ?z } } FILTER(!BOUND(?z))",
}


@pytest.mark.parametrize("way", WITHOUT)
def test_negation_takes_an_answer_away_and_gives_it_back(machine: MakeMachine, way: str) -> None:
    #  s  0         10
    #     a p 1-----)     RANGE 10
    #  t    2    7
    #       a q 5)        RANGE 5
    m = machine()
    q = m.register(f"SELECT ?x {{ STREAM :s [RANGE 10] {{ ?x :p ?y }} {WITHOUT[way]} }}", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("t", ":a :q 5", at_ms=2)
    m.push("t", ":b :q 5", at_ms=3)
    m.finish()
    emits(q, "0 +a | 2 -a | 7 +a | 10 -a")


@pytest.mark.parametrize("way", WITHOUT)
def test_negation_holds_while_any_match_is_there(machine: MakeMachine, way: str) -> None:
    #  t  2    4    7    9
    #     a q 5-----)
    #          a q 6-----)     RANGE 5
    m = machine()
    q = m.register(f"SELECT ?x {{ STREAM :s [ALL] {{ ?x :p ?y }} {WITHOUT[way]} }}", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("t", ":a :q 5", at_ms=2)
    m.push("t", ":a :q 6", at_ms=4)
    m.finish()
    emits(q, "0 +a | 2 -a | 9 +a")


def test_minus_without_a_common_variable_takes_nothing_away(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x { STREAM :s [ALL] { ?x :p ?y } MINUS { STREAM :t [ALL] { ?z :q ?v } } }")
    m.push("t", ":b :q 5", at_ms=1)
    m.push("s", ":a :p 1", at_ms=2)
    emits(q, "2 +a")


def test_exists_follows_the_dataset(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x { STREAM :s [RANGE 10] { ?x :p ?y } FILTER EXISTS { ?x :q ?z } }", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.insert(":a :q 1", at_ms=2)
    m.insert(":a :q 2", at_ms=3)
    m.delete(":a :q 1", at_ms=4)
    m.delete(":a :q 2", at_ms=5)
    emits(q, "2 +a | 5 -a")


def test_a_union_counts_a_row_for_each_of_its_parts(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("RANGE 10", "{ ?x :p 1 } UNION { ?x :q 1 }"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :q 1", at_ms=4)
    m.finish()
    emits(q, "0 +a | 4 +a | 10 -a | 14 -a")


# DISTINCT, ORDER BY, LIMIT --------------------------------------------------------------------------------------------


def test_distinct_gives_a_row_once_until_its_last_solution_goes(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  a p 1-----)
    #       a p 2-----)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", select="DISTINCT ?x"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :p 2", at_ms=5)
    m.finish()
    emits(q, "0 +a | 15 -a")


def test_the_first_of_an_order_changes_as_better_ones_come_and_go(machine: MakeMachine) -> None:
    #  0    3    8    10
    #  a 5------------)        RANGE 10
    #       b 9-----------13)
    #            c 7---------18)
    m = machine()
    q = m.register(over("RANGE 10", select="?x ?y") + " ORDER BY DESC(?y) LIMIT 1", output="changes")
    m.push("s", ":a :p 5", at_ms=0)
    m.push("s", ":b :p 9", at_ms=3)
    m.push("s", ":c :p 7", at_ms=8)
    m.finish()
    emits(q, "0 +a,5 | 3 -a,5 +b,9 | 13 -b,9 +c,7 | 18 -c,7")


def test_ties_of_an_order_are_broken_by_the_projected_variables(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select="?x") + " ORDER BY ?y LIMIT 1", output="changes")
    m.push("s", ":b :p 1", at_ms=0)
    m.push("s", ":c :p 1", at_ms=1)
    m.push("s", ":a :p 1", at_ms=2)
    emits(q, "0 +b | 2 -b +a")


def test_without_an_order_a_limit_goes_by_the_projected_variables_as_selected(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select="?y ?x") + " LIMIT 2", output="rstream")
    m.push("s", ":a :p 3 . :b :p 10 . :c :p 1 . :a :p 1", at_ms=0)
    emits(q, "0 +1,a +1,c")


def test_an_offset_leaves_out_the_first(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select="?y") + " ORDER BY ?y LIMIT 2 OFFSET 1", output="rstream")
    m.push("s", ":a :p 3 . :a :p 10 . :a :p 1 . :a :p 2", at_ms=0)
    emits(q, "0 +2 +3")


def test_term_order_is_unbound_then_iris_then_numbers_by_value_then_strings(machine: MakeMachine) -> None:
    m = machine()
    counts = [
        m.register(over("ALL", "?x :p ?v OPTIONAL { ?x :q ?y }", select="?y") + f" LIMIT 1 OFFSET {k}", output="rstream")
        for k in range(5)
    ]
    m.push("s", ":a :p 1 . :b :p 1 ; :q 'text' . :c :p 1 ; :q 10 . :d :p 1 ; :q 9.5 . :e :p 1 ; :q :iri", at_ms=0)
    for count, row in zip(counts, ("_", "iri", "9.5", "10", '"text"'), strict=True):
        emits(count, f"0 +{row}")


# Sub-selects, VALUES, BIND --------------------------------------------------------------------------------------------


def test_a_sub_select_is_answered_before_the_rest(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  a 9-------)
    #       b 4-------)   RANGE 10: whoever has the largest value
    m = machine()
    q = m.register(
        "SELECT ?x ?m { { SELECT (MAX(?v) AS ?m) { STREAM :s [RANGE 10] { ?z :p ?v } } } "
        "STREAM :s [RANGE 10] { ?x :p ?m } }",
        output="changes",
    )
    m.push("s", ":a :p 9", at_ms=0)
    m.push("s", ":b :p 4", at_ms=5)
    m.finish()
    emits(q, "0 +a,9 | 10 -a,9 +b,4 | 15 -b,4")


def test_a_sub_select_may_stand_inside_a_block(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(
        "SELECT ?x ?n { STREAM :s [RANGE 10] { { SELECT ?x (COUNT(?y) AS ?n) { ?x :p ?y } GROUP BY ?x } ?x :q true } }",
        output="changes",
    )
    m.push("s", ":a :p 1 . :a :p 2 . :b :p 1", at_ms=0)
    m.push("s", ":a :q true", at_ms=1)
    m.finish()
    emits(q, "1 +a,2 | 10 -a,2")


def test_an_empty_window_is_an_empty_graph(machine: MakeMachine) -> None:
    #  0         10
    #  a---------)        RANGE 10
    m = machine()
    q = m.register("SELECT ?n { STREAM :s [RANGE 10] { { SELECT (COUNT(*) AS ?n) { ?x :p ?y } } } }", output="changes")
    absent = m.register("SELECT ?n { STREAM :s [RANGE 10] { BIND(1 AS ?n) FILTER NOT EXISTS { ?x :p ?y } } }")
    m.push("s", ":a :p 1", at_ms=0)
    m.finish()
    emits(q, "0 +1 | 10 -1 +0")
    emits(absent, "10 +1")


def test_a_sub_select_with_a_limit_hides_what_it_leaves_out(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(
        "SELECT ?x { { SELECT ?x { STREAM :s [ALL] { ?x :p ?y } } ORDER BY ?y LIMIT 1 } ?x :q true }", output="changes"
    )
    m.insert(":b :q true", at_ms=0)
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 2", at_ms=2)
    emits(q, "")
    m.push("s", ":b :p 0", at_ms=3)
    emits(q, "3 +b")


def test_values_and_bind_work_beside_windows(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(
        "SELECT ?x ?z { VALUES ?x { :a :b } STREAM :s [RANGE 10] { ?x :p ?y } BIND(?y * 2 AS ?z) }", output="changes"
    )
    m.push("s", ":a :p 1 . :c :p 1", at_ms=0)
    m.finish()
    emits(q, "0 +a,2 | 10 -a,2")


# Property paths -------------------------------------------------------------------------------------------------------


def test_a_path_goes_over_all_triples_in_the_window(machine: MakeMachine) -> None:
    #  0         10
    #  a->b------)
    #       4         14
    #       b->c------)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", "?x :next+ ?y", select="?x ?y"), output="changes")
    m.push("s", ":a :next :b", at_ms=0)
    m.push("s", ":b :next :c", at_ms=4)
    m.finish()
    emits(q, "0 +a,b | 4 +a,c +b,c | 10 -a,b -a,c | 14 -b,c")


def test_a_path_that_can_be_gone_another_way_stays(machine: MakeMachine) -> None:
    #  0         10
    #  a->b->d---)
    #       4         14
    #       a->c->d---)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", ":a :next+ :d . :a :name ?x"), output="changes")
    m.push("s", ":a :name 'a'", at_ms=0)
    m.push("s", ":a :next :b . :b :next :d", at_ms=0)
    m.push("s", ":a :next :c . :c :next :d . :a :name 'a'", at_ms=4)
    m.finish()
    emits(q, '0 +"a" | 14 -"a"')


def test_a_path_of_any_length_starts_with_none(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  a->b------)
    #       a is 1----)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", ":a :next* ?x"), output="changes")
    m.push("s", ":a :next :b", at_ms=0)
    m.push("s", ":a :is 1", at_ms=5)
    m.advance_to(14)
    emits(q, "0 +a +b | 10 -b")


def test_a_path_of_length_none_starts_at_a_term_that_is_not_in_the_window(machine: MakeMachine) -> None:
    #  0         10
    #  a->b------)        RANGE 10
    m = machine()
    m.needs_own_sparql("no path of length zero from a term that is not in the graph")
    q = m.register(over("RANGE 10", ":a :next* ?x"), output="changes")
    m.push("s", ":a :next :b", at_ms=0)
    m.finish()
    emits(q, "0 +a +b | 10 -b")


def test_a_sequence_counts_ways_and_a_closure_does_not(machine: MakeMachine) -> None:
    m = machine()
    ways = m.register(over("ALL", ":a :next/:next ?x"), output="rstream")
    reached = m.register(over("ALL", ":a (:next/:next)+ ?x"), output="rstream")
    m.push("s", ":a :next :b . :b :next :d . :a :next :c . :c :next :d", at_ms=0)
    emits(ways, "0 +d +d")
    emits(reached, "0 +d")


def test_a_cycle_of_a_path_ends_with_its_weakest_link(machine: MakeMachine) -> None:
    #  0         10
    #  a->b------)
    #       4         14
    #       b->a------)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", "?x :next+ ?x"), output="changes")
    m.push("s", ":a :next :b", at_ms=0)
    m.push("s", ":b :next :a", at_ms=4)
    m.finish()
    emits(q, "4 +a +b | 10 -a -b")


# NOW() ----------------------------------------------------------------------------------------------------------------


def test_the_function_now_is_the_clock_at_registration(machine: MakeMachine) -> None:
    m = machine()
    m.push("s", ":z :p 1", at_ms=61_500)
    q = m.register(over("ALL", select="?x (MINUTES(NOW()) AS ?m) (SECONDS(NOW()) AS ?s)"))
    m.push("s", ":a :p 1", at_ms=62_000)
    m.push("s", ":b :p 1", at_ms=700_000)
    emits(q, "62000 +a,1,1.5 | 700000 +b,1,1.5")


def test_the_function_now_is_t0_if_nothing_came_yet(machine: MakeMachine) -> None:
    m = machine(t0_ms=86_400_000)
    q = m.register(over("ALL", select="?x (NOW() = '1970-01-02T00:00:00Z'^^xsd:dateTime AS ?t)"))
    m.push("s", ":a :p 1", at_ms=90_000_000)
    emits(q, "90000000 +a,true")


def test_inside_of_any_graph_minus_takes_nothing_that_shares_no_value(machine: MakeMachine) -> None:
    m = machine()
    m.needs_own_sparql("to it the graph's name is a value that both sides of MINUS share")
    m.load(":x :p :y . :a :r :b", graph="g")
    m.load(":x :p :y . :x :q 1 . :a :r :b . :a :s 1", graph="h")
    pattern = "?x :p ?y OPTIONAL { ?x :q ?z } MINUS { ?a :r ?b OPTIONAL { ?a :s ?z } }"
    q = m.register(f"SELECT ?g {{ GRAPH ?g {{ {pattern} }} }}", output="changes")
    emits(q, "0 +g")
    m.insert(":a :s 1", at_ms=2, graph="g")
    m.insert(":x :q 1", at_ms=3, graph="g")
    emits(q, "0 +g | 3 -g")
