"""Windows hold sets of triples; elements are atomic; answers are multisets."""

from __future__ import annotations

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over

COUNT = "(COUNT(*) AS ?n)"

# Sets -----------------------------------------------------------------------------------------------------------------


def test_a_triple_that_arrives_again_stays_longer(machine: MakeMachine) -> None:
    #  0     6   10    16
    #  a---------)
    #        a---------)  RANGE 10
    m = machine()
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :p 1", at_ms=6)
    m.finish()
    emits(q, "0 +a | 16 -a")


def test_a_triple_that_arrives_again_is_not_counted_twice(machine: MakeMachine) -> None:
    #  0     6         16
    #  a-----a---------)  RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", select=COUNT), output="rstream")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :p 1", at_ms=6)
    m.finish()
    emits(q, "0 +1 | 6 +1 | 16 +0")


def test_a_triple_that_arrives_again_at_its_end_was_gone_in_between(machine: MakeMachine) -> None:
    #  0         10        20
    #  a---------)
    #            a---------)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :p 1", at_ms=10)
    m.finish()
    emits(q, "0 +a | 10 -a | 10 +a | 20 -a")


def test_a_triple_that_arrives_again_extends_the_answers_it_is_part_of(machine: MakeMachine) -> None:
    #  0    4  6 10   14 16
    #  a p 1---p 1-------)
    #       a q 2-----)
    #       [answer   )   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", "?x :p ?y . ?x :q ?z"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :q 2", at_ms=4)
    m.push("s", ":a :p 1", at_ms=6)
    m.finish()
    emits(q, "4 +a | 14 -a")


def test_a_triple_that_arrives_again_on_the_grid_stays_without_a_gap(machine: MakeMachine) -> None:
    #  0 3  5    8  10   15
    #  .    .       .    .
    #    a  --------)
    #            a  -----)     RANGE 5 STEP 5
    m = machine()
    q = m.register(over("RANGE 5 STEP 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.push("s", ":a :p 1", at_ms=8)
    m.advance_to(20)
    emits(q, "5 +a | 15 -a")


def test_a_repeat_within_an_element_is_dropped(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select=COUNT), output="rstream")
    m.push("s", ":a :p 1 . :a :p 1 . :a :p 2", at_ms=0)
    emits(q, "0 +2")


def test_a_triple_of_two_streams_is_one_triple_of_the_graph_they_merge_into(machine: MakeMachine) -> None:
    #  s  0         10
    #     a---------)
    #  t       5         15
    #          a---------)     RANGE 10 each, merged: from 0 to 15
    m = machine()
    q = m.register(
        "SELECT ?x FROM STREAM :s [RANGE 10] FROM STREAM :t [RANGE 10] { ?x :p ?y }",
        output="changes",
    )
    m.push("s", ":a :p 1", at_ms=0)
    m.push("t", ":a :p 1", at_ms=5)
    m.finish()
    emits(q, "0 +a | 15 -a")


def test_a_triple_of_a_stream_and_the_default_graph_is_one_triple(machine: MakeMachine) -> None:
    #  dataset  a-----)
    #  stream   0     3    10
    #           a----------)   RANGE 10
    m = machine()
    m.load(":a :p 1")
    q = m.register("SELECT ?x FROM STREAM :s [RANGE 10] { ?x :p ?y }", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.delete(":a :p 1", at_ms=3)
    m.finish()
    emits(q, "0 +a | 10 -a")


def test_different_triples_may_give_equal_rows(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL"), output="changes")
    m.push("s", ":a :p 1 . :a :p 2", at_ms=0)
    emits(q, "0 +a +a")


def test_terms_are_the_same_only_if_written_the_same(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select=COUNT), output="rstream")
    m.push("s", ':a :p "x" . :a :p "x"@en . :a :p "x"^^:kind . :a :p :x', at_ms=0)
    emits(q, "0 +4")


# Elements -------------------------------------------------------------------------------------------------------------


def test_the_triples_of_an_element_enter_at_once(machine: MakeMachine) -> None:
    #  0
    #  a,b,c---           never one or two of them
    m = machine()
    q = m.register(over("ALL", select=COUNT), output="changes")
    m.push("s", ":a :p 1 . :b :p 1 . :c :p 1", at_ms=0)
    emits(q, "0 +3")


def test_the_triples_of_an_element_leave_at_once(machine: MakeMachine) -> None:
    #  0         10
    #  a,b,c-----)        RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", select=COUNT), output="changes")
    m.push("s", ":a :p 1 . :b :p 1 . :c :p 1", at_ms=0)
    m.finish()
    emits(q, "0 +3 | 10 -3 +0")


def test_an_element_takes_the_place_of_another_in_one_change(machine: MakeMachine) -> None:
    #  1 2
    #  a-)
    #    b---             ELEMENTS 1: always one triple
    m = machine()
    q = m.register(over("ELEMENTS 1", select=COUNT), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=2)
    emits(q, "1 +1")


def test_what_enters_and_leaves_within_one_change_is_never_emitted(machine: MakeMachine) -> None:
    #  1
    #  a b                TRIPLES 1: a is gone before the change is over
    m = machine()
    handles = {out: m.register(over("TRIPLES 1"), output=out) for out in ("istream", "dstream", "rstream", "changes")}
    m.push("s", ":a :p 1 . :b :p 1", at_ms=1)
    emits(handles["istream"], "1 +b")
    emits(handles["dstream"], "")
    emits(handles["rstream"], "1 +b")
    emits(handles["changes"], "1 +b")


def test_the_triples_of_an_insert_enter_at_once(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(f"SELECT {COUNT} {{ ?x :p ?y }}")
    m.insert(":a :p 1 . :b :p 1", at_ms=3)
    m.delete(":b :p 1 . :a :p 1", at_ms=5)
    emits(q, "0 +0 | 3 -0 +2 | 5 -2 +0")


def test_an_element_without_triples_is_an_element(machine: MakeMachine) -> None:
    #  1 2
    #  a-)
    #    (nothing)        ELEMENTS 1
    m = machine()
    q = m.register(over("ELEMENTS 1"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", "", at_ms=2)
    emits(q, "1 +a | 2 -a")


def test_a_blank_node_label_names_a_node_of_its_element_only(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", "?x :p ?y . ?x :q ?z", select=COUNT), output="changes")
    m.push("s", "_:b :p 1", at_ms=1)
    m.push("s", "_:b :q 1", at_ms=2)
    m.push("s", "_:b :p 1 . _:b :q 1", at_ms=3)
    emits(q, "1 +0 | 3 -0 +1")
