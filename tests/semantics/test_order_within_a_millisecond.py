"""At one millisecond: all expiries as one change, then elements and dataset changes each by itself, grids last."""

from __future__ import annotations

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over, over_any

COUNT = "(COUNT(*) AS ?n)"


def test_expiries_come_before_the_elements_of_their_millisecond(machine: MakeMachine) -> None:
    #  0         10
    #  a---------)
    #            b---     RANGE 10
    m = machine()
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=10)
    emits(q, "0 +a | 10 -a | 10 +b")


def test_all_expiries_of_a_millisecond_are_one_change(machine: MakeMachine) -> None:
    #  0         10
    #  a---------)
    #  b---------)        RANGE 10: from two to none, never one
    m = machine()
    q = m.register(over("RANGE 10", select=COUNT), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=0)
    m.finish()
    emits(q, "0 +1 | 0 -1 +2 | 10 -2 +0")


def test_expiries_in_several_windows_are_one_change(machine: MakeMachine) -> None:
    #  s  0         10
    #     a---------)     RANGE 10
    #  t       5    10
    #          b----)     RANGE 5
    m = machine()
    q = m.register(over_any(":s [RANGE 10]", ":t [RANGE 5]", select=COUNT), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("t", ":b :p 1", at_ms=5)
    m.finish()
    emits(q, "0 +1 | 5 -1 +2 | 10 -2 +0")


def test_expiries_come_before_the_dataset_changes_of_their_millisecond(machine: MakeMachine) -> None:
    #  stream   0         10
    #           a p 1-----)    RANGE 10
    #  dataset            a q 2---
    m = machine()
    q = m.register("SELECT ?x ?z { STREAM :s [RANGE 10] { ?x :p ?y } ?x :q ?z }", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.insert(":a :q 2", at_ms=10)
    m.finish()
    emits(q, "")


def test_each_element_of_a_millisecond_is_a_change_of_its_own(machine: MakeMachine) -> None:
    #  3
    #  a
    #  b                  RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", select=COUNT), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.push("s", ":b :p 1", at_ms=3)
    emits(q, "3 +1 | 3 +2")


def test_elements_of_several_streams_keep_the_order_of_arrival(machine: MakeMachine) -> None:
    #  3
    #  t b
    #  s a
    #  t c
    m = machine()
    q = m.register(over_any(":s [ALL]", ":t [ALL]"), output="changes")
    m.push("t", ":b :p 1", at_ms=3)
    m.push("s", ":a :p 1", at_ms=3)
    m.push("t", ":c :p 1", at_ms=3)
    emits(q, "3 +b | 3 +a | 3 +c")


def test_elements_and_dataset_changes_keep_the_order_of_arrival(machine: MakeMachine) -> None:
    #  3
    #  insert a q 2
    #  a p 1              meets a q 2
    #  delete a q 2       and loses it, all in one millisecond
    #  a p 1              meets nothing
    m = machine()
    q = m.register("SELECT ?x ?z { STREAM :s [RANGE 10] { ?x :p ?y } ?x :q ?z }", output="changes")
    m.insert(":a :q 2", at_ms=3)
    m.push("s", ":a :p 1", at_ms=3)
    m.delete(":a :q 2", at_ms=3)
    m.push("s", ":a :p 1", at_ms=3)
    emits(q, "3 +a,2 | 3 -a,2")


def test_an_insert_and_a_delete_of_one_millisecond_are_two_changes(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x { ?x :p ?y }")
    m.insert(":a :p 1", at_ms=3)
    m.delete(":a :p 1", at_ms=3)
    emits(q, "3 +a | 3 -a")


STEP_AND_NOT = ":s [RANGE 5 STEP 5]", ":t [RANGE 50]"


def test_what_enters_on_a_grid_comes_after_the_elements_of_its_millisecond(machine: MakeMachine) -> None:
    #  s  5
    #     a               STEP 5: enters at 5, last
    #  t  5
    #     b
    m = machine()
    q = m.register(over_any(*STEP_AND_NOT), output="changes")
    m.push("s", ":a :p 1", at_ms=5)
    m.push("t", ":b :p 1", at_ms=5)
    m.advance_to(9)
    emits(q, "5 +b | 5 +a")


def test_what_leaves_on_a_grid_comes_after_the_elements_of_its_millisecond(machine: MakeMachine) -> None:
    #  s  3  5    10
    #     a  -----)       RANGE 5 STEP 5
    #  t          10
    #             b---    still sees a
    m = machine()
    q = m.register(over_any(*STEP_AND_NOT), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.push("t", ":b :p 1", at_ms=10)
    m.advance_to(11)
    emits(q, "5 +a | 10 +a +b | 10 +b")


def test_what_enters_and_leaves_on_a_grid_is_one_change(machine: MakeMachine) -> None:
    #  0 3  5  7  10   15
    #  .    .     .    .
    #    a  ------)
    #          b  -----)  RANGE 5 STEP 5: one at 5, one at 10, none at 15
    m = machine()
    q = m.register(over_any(*STEP_AND_NOT, select=COUNT), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.push("s", ":b :p 1", at_ms=7)
    m.advance_to(15)
    emits(q, "3 +0 | 5 -0 +1 | 15 -1 +0")
