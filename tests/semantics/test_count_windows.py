"""TRIPLES, ELEMENTS and EVENT: seen until enough others have come."""

from __future__ import annotations

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over

# TRIPLES n: until the n-th later triple of the stream -----------------------------------------------------------------


def test_a_triple_leaves_when_the_nth_later_triple_arrives(machine: MakeMachine) -> None:
    #  1 2 3
    #  a---)
    #    b---
    #      c-             TRIPLES 2
    m = machine()
    q = m.register(over("TRIPLES 2"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=2)
    m.push("s", ":c :p 1", at_ms=3)
    emits(q, "1 +a | 2 +b | 3 -a +c")


def test_triples_may_be_written_after_range(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x FROM STREAM :s [RANGE TRIPLES 1] { ?x :p ?y }")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=2)
    emits(q, "1 +a | 2 +b")


def test_a_triple_that_arrives_again_is_counted_again(machine: MakeMachine) -> None:
    #  1 2 3
    #  a---)
    #    b b-             TRIPLES 2
    m = machine()
    q = m.register(over("TRIPLES 2"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=2)
    m.push("s", ":b :p 1", at_ms=3)
    emits(q, "1 +a | 2 +b | 3 -a")


def test_a_triple_that_arrives_again_counts_from_its_last_arrival(machine: MakeMachine) -> None:
    #  1 2 3 4
    #  a---a---
    #    b---)
    #        c-           TRIPLES 2
    m = machine()
    q = m.register(over("TRIPLES 2"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=2)
    m.push("s", ":a :p 1", at_ms=3)
    m.push("s", ":c :p 1", at_ms=4)
    emits(q, "1 +a | 2 +b | 4 -b +c")


def test_triples_that_no_pattern_matches_are_counted(machine: MakeMachine) -> None:
    #  1 2 3
    #  a---)
    #    z z              TRIPLES 2
    m = machine()
    q = m.register(over("TRIPLES 2"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":z :other 1", at_ms=2)
    m.push("s", ":z :other 2", at_ms=3)
    emits(q, "1 +a | 3 -a")


def test_triples_counts_each_triple_of_an_element(machine: MakeMachine) -> None:
    #  1    2
    #  a----)
    #  b-----
    #       c-            TRIPLES 2
    m = machine()
    q = m.register(over("TRIPLES 2"), output="changes")
    m.push("s", ":a :p 1 . :b :p 1", at_ms=1)
    m.push("s", ":c :p 1", at_ms=2)
    emits(q, "1 +a +b | 2 -a +c")


def test_of_an_element_with_more_than_n_triples_the_last_n_are_seen(machine: MakeMachine) -> None:
    #  1
    #  a b c d            TRIPLES 2: a and b come and go within one change
    m = machine()
    q = m.register(over("TRIPLES 2"), output="changes")
    m.push("s", ":a :p 1 . :b :p 1 . :c :p 1 . :d :p 1", at_ms=1)
    emits(q, "1 +c +d")


def test_the_triples_of_an_element_count_in_the_order_given(machine: MakeMachine) -> None:
    #  1
    #  d c b a            TRIPLES 2
    m = machine()
    q = m.register(over("TRIPLES 2"), output="changes")
    m.push("s", ":d :p 1 . :c :p 1 . :b :p 1 . :a :p 1", at_ms=1)
    emits(q, "1 +a +b")


def test_triples_does_not_count_repeats_within_an_element(machine: MakeMachine) -> None:
    #  1
    #  a b b              TRIPLES 2
    m = machine()
    q = m.register(over("TRIPLES 2"), output="changes")
    m.push("s", ":a :p 1 . :b :p 1 . :b :p 1", at_ms=1)
    emits(q, "1 +a +b")


def test_triples_does_not_count_other_streams(machine: MakeMachine) -> None:
    #  s  a-------
    #  t    z z           TRIPLES 1 on each
    m = machine()
    q = m.register(
        "SELECT ?x { { STREAM :s [TRIPLES 1] { ?x :p ?y } } UNION { STREAM :t [TRIPLES 1] { ?x :q ?y } } }",
        output="changes",
    )
    m.push("s", ":a :p 1", at_ms=1)
    m.push("t", ":z :other 1", at_ms=2)
    m.push("t", ":z :other 2", at_ms=3)
    emits(q, "1 +a")


def test_windows_of_different_counts_forget_one_after_the_other(machine: MakeMachine) -> None:
    #  1 2 3
    #  a-)                TRIPLES 1
    #  a---)              TRIPLES 2
    m = machine()
    q = m.register("SELECT ?x ?y { STREAM :s [TRIPLES 1] { ?x :p 1 } STREAM :s [TRIPLES 2] { ?y :p 1 } }", output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=2)
    m.push("s", ":c :p 1", at_ms=3)
    emits(q, "1 +a,a | 2 +b,a +b,b | 3 +c,b +c,c")


# ELEMENTS n: until the n-th later element of the stream ---------------------------------------------------------------


def test_an_element_leaves_whole_when_the_nth_later_element_arrives(machine: MakeMachine) -> None:
    #  1     2 3
    #  a,b-----)
    #        c---
    #          d-         ELEMENTS 2
    m = machine()
    q = m.register(over("ELEMENTS 2"), output="changes")
    m.push("s", ":a :p 1 . :b :p 1", at_ms=1)
    m.push("s", ":c :p 1", at_ms=2)
    m.push("s", ":d :p 1", at_ms=3)
    emits(q, "1 +a +b | 2 +c | 3 -a -b +d")


def test_elements_that_no_pattern_matches_are_counted(machine: MakeMachine) -> None:
    #  1 2 3
    #  a---)
    #    z z              ELEMENTS 2
    m = machine()
    q = m.register(over("ELEMENTS 2"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":z :other 1", at_ms=2)
    m.push("s", ":z :other 2", at_ms=3)
    emits(q, "1 +a | 3 -a")


def test_a_triple_in_a_later_element_too_stays_with_that_element(machine: MakeMachine) -> None:
    #  1   2   3   4
    #  a-------a-------
    #      b-------)
    #              c-     ELEMENTS 2
    m = machine()
    q = m.register(over("ELEMENTS 2"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=2)
    m.push("s", ":a :p 1", at_ms=3)
    m.push("s", ":c :p 1", at_ms=4)
    emits(q, "1 +a | 2 +b | 4 -b +c")


# EVENT: one element at a time -----------------------------------------------------------------------------------------


def test_an_event_is_emptied_as_a_change_of_its_own_before_the_next(machine: MakeMachine) -> None:
    #  1   5
    #  a---)
    #      b---           EVENT
    m = machine()
    q = m.register(over("EVENT"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=5)
    emits(q, "1 +a | 5 -a | 5 +b")


def test_an_identical_second_event_gives_its_answers_again(machine: MakeMachine) -> None:
    #  1   5
    #  a---)
    #      a---           EVENT
    m = machine()
    q = m.register(over("EVENT"), output="istream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":a :p 1", at_ms=5)
    emits(q, "1 +a | 5 +a")


def test_an_identical_second_event_in_the_same_millisecond_gives_its_answers_again(machine: MakeMachine) -> None:
    #  1
    #  a)
    #   a---              EVENT
    m = machine()
    q = m.register(over("EVENT"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":a :p 1", at_ms=1)
    emits(q, "1 +a | 1 -a | 1 +a")


def test_an_event_matches_within_one_element_only(machine: MakeMachine) -> None:
    #  1       2       3
    #  a p 1---)
    #          a q 2---)
    #                  b p 1, b q 2   EVENT
    m = machine()
    q = m.register(over("EVENT", "?x :p ?y . ?x :q ?z"))
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":a :q 2", at_ms=2)
    m.push("s", ":b :p 1 . :b :q 2", at_ms=3)
    emits(q, "3 +b")


def test_an_event_that_matches_nothing_empties_the_window_too(machine: MakeMachine) -> None:
    #  1   5
    #  a---)
    #      z---           EVENT
    m = machine()
    q = m.register(over("EVENT"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":z :other 1", at_ms=5)
    emits(q, "1 +a | 5 -a")


def test_elements_of_other_streams_do_not_end_an_event(machine: MakeMachine) -> None:
    #  s  a---------      EVENT
    #  t      b-----      EVENT
    m = machine()
    q = m.register("SELECT ?x ?y { STREAM :s [EVENT] { ?x :p 1 } STREAM :t [EVENT] { ?y :p 1 } }", output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("t", ":b :p 1", at_ms=5)
    emits(q, "5 +a,b")


def test_time_does_not_end_an_event(machine: MakeMachine) -> None:
    #  1
    #  a-------------...  EVENT
    m = machine()
    q = m.register(over("EVENT"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.advance_to(10**6)
    m.finish()
    emits(q, "1 +a")


# Datasets: from insert until delete -----------------------------------------------------------------------------------


def test_a_dataset_triple_is_seen_from_insert_to_delete(machine: MakeMachine) -> None:
    #  1    5
    #  a----)             the default graph
    m = machine()
    q = m.register("SELECT ?x { ?x :p ?y }")
    m.insert(":a :p 1", at_ms=1)
    m.delete(":a :p 1", at_ms=5)
    emits(q, "1 +a | 5 -a")


def test_a_dataset_triple_is_not_ended_by_time(machine: MakeMachine) -> None:
    #  1
    #  a-------------...
    m = machine()
    q = m.register("SELECT ?x { ?x :p ?y }")
    m.insert(":a :p 1", at_ms=1)
    m.advance_to(10**6)
    m.finish()
    emits(q, "1 +a")


def test_a_dataset_triple_inserted_twice_is_deleted_once(machine: MakeMachine) -> None:
    #  1 2  5
    #  a-a--)
    m = machine()
    q = m.register("SELECT ?x { ?x :p ?y }")
    m.insert(":a :p 1", at_ms=1)
    m.insert(":a :p 1", at_ms=2)
    m.delete(":a :p 1", at_ms=5)
    emits(q, "1 +a | 5 -a")


def test_a_stream_joins_the_dataset_as_it_is_at_the_time(machine: MakeMachine) -> None:
    #  dataset     1      6
    #              a q 2--)
    #  stream  0               12
    #          a p 1------------)   RANGE 12
    m = machine()
    q = m.register("SELECT ?x ?z { STREAM :s [RANGE 12] { ?x :p ?y } ?x :q ?z }", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.insert(":a :q 2", at_ms=1)
    m.delete(":a :q 2", at_ms=6)
    m.finish()
    emits(q, "1 +a,2 | 6 -a,2")
