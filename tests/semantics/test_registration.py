"""What a query sees when it is registered, and when its first answer set is."""

from __future__ import annotations

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over


def test_a_query_sees_what_is_processed_after_its_registration(machine: MakeMachine) -> None:
    #  1   2
    #  a---|---           registered at |
    #      |b---          RANGE 10
    m = machine()
    m.push("s", ":a :p 1", at_ms=1)
    q = m.register(over("RANGE 10"), output="rstream")
    m.push("s", ":b :p 1", at_ms=2)
    emits(q, "2 +b")


def test_a_query_sees_elements_of_the_same_millisecond_processed_after_its_registration(machine: MakeMachine) -> None:
    m = machine()
    m.push("s", ":a :p 1", at_ms=1)
    q = m.register(over("RANGE 10"), output="rstream")
    m.push("s", ":b :p 1", at_ms=1)
    emits(q, "1 +b")


def test_a_query_sees_held_elements_that_are_processed_after_its_registration(machine: MakeMachine) -> None:
    #  5      20
    #  a |    b           a is held back until 20 has come; registered at |
    m = machine(lateness_ms=10)
    m.push("s", ":a :p 1", at_ms=5)
    q = m.register(over("RANGE 10"), output="istream")
    m.push("s", ":b :p 1", at_ms=20)
    m.finish()
    emits(q, "5 +a | 20 +b")


def test_a_query_sees_the_datasets_as_they_are(machine: MakeMachine) -> None:
    #  dataset  1 insert a q 1, b q 1; 2 delete b q 1
    #  stream          | 3 a, b       registered at |
    m = machine()
    m.insert(":a :q 1 . :b :q 1", at_ms=1)
    m.delete(":b :q 1", at_ms=2)
    q = m.register("SELECT ?x { STREAM :s [RANGE 10] { ?x :p ?y } ?x :q ?z }")
    m.push("s", ":a :p 1 . :b :p 1", at_ms=3)
    emits(q, "3 +a")


def test_the_first_answer_set_of_a_stream_query_is_at_the_next_change(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :q 1")
    q = m.register("SELECT ?x { { ?x :q ?y } UNION { STREAM :s [ALL] { ?x :p ?y } } }")
    emits(q, "")
    m.push("s", ":b :p 1", at_ms=5)
    emits(q, "5 +a +b")


def test_a_dataset_change_may_bring_the_first_answer_set(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :q 1")
    q = m.register("SELECT ?x { { ?x :q ?y } UNION { STREAM :s [ALL] { ?x :p ?y } } }")
    m.insert(":c :q 1", at_ms=3)
    emits(q, "3 +a +c")


def test_the_first_answer_set_of_a_query_with_steps_is_at_an_instant(machine: MakeMachine) -> None:
    #  0    5  7  10
    #  .    .     .
    #          b  ]       RANGE 5 STEP 5
    m = machine()
    m.load(":a :q 1")
    q = m.register("SELECT ?x { { ?x :q ?y } UNION { STREAM :s [RANGE 5 STEP 5] { ?x :p ?y } } }")
    m.insert(":c :q 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=7)
    m.finish()
    emits(q, "10 +a +b +c")


def test_over_datasets_alone_the_first_answer_set_is_at_registration(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :p 1")
    q = m.register("SELECT ?x { ?x :p ?y }")
    emits(q, "0 +a")


def test_registration_is_at_t0_if_nothing_came_yet(machine: MakeMachine) -> None:
    m = machine(t0_ms=7)
    m.load(":a :p 1")
    q = m.register("SELECT ?x { ?x :p ?y }")
    emits(q, "7 +a")


def test_registration_is_at_the_time_of_the_last_element(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :p 1")
    m.push("s", ":z :p 1", at_ms=12)
    q = m.register("SELECT ?x { ?x :p ?y }")
    emits(q, "12 +a")


def test_registration_is_at_the_time_of_the_last_dataset_change(machine: MakeMachine) -> None:
    m = machine()
    m.insert(":a :p 1", at_ms=12)
    q = m.register("SELECT ?x { ?x :p ?y }")
    emits(q, "12 +a")


def test_registration_is_at_the_time_advanced_to(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :p 1")
    m.advance_to(20)
    q = m.register("SELECT ?x { ?x :p ?y }")
    emits(q, "20 +a")


def test_registration_may_be_before_time_zero(machine: MakeMachine) -> None:
    m = machine()
    m.insert(":a :p 1", at_ms=-12)
    q = m.register("SELECT ?x { ?x :p ?y }")
    emits(q, "-12 +a")


def test_registration_is_at_the_time_that_lateness_lets_pass(machine: MakeMachine) -> None:
    #  0       90   100
    #          |    z     lateness 10: time is at 90, whatever other queries there are
    m = machine(lateness_ms=10)
    m.load(":a :p 1")
    m.push("s", ":z :p 1", at_ms=100)
    q = m.register("SELECT ?x { ?x :p ?y }")
    emits(q, "90 +a")


def test_a_count_starts_at_registration(machine: MakeMachine) -> None:
    m = machine()
    m.push("s", ":a :p 1", at_ms=1)
    q = m.register(over("TRIPLES 2"), output="rstream")
    m.push("s", ":b :p 1", at_ms=2)
    m.push("s", ":c :p 1", at_ms=3)
    emits(q, "2 +b | 3 +b +c")


def test_the_grid_does_not_start_at_registration(machine: MakeMachine) -> None:
    #  0    5 | 8 10      registered at |
    #  .    .     .
    #           a ]       RANGE 5 STEP 5
    m = machine()
    m.push("t", ":z :p 1", at_ms=6)
    q = m.register(over("RANGE 5 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=8)
    m.finish()
    emits(q, "10 +a")


def test_registering_does_not_disturb_running_queries(machine: MakeMachine) -> None:
    #  0    5    10       another query is registered at 5
    #  a---------)        RANGE 10
    m = machine()
    q = m.register(over("RANGE 10"), output="rstream")
    m.push("s", ":a :p 1", at_ms=0)
    m.advance_to(5)
    m.register(over("RANGE 10"), output="rstream")
    m.push("s", ":b :p 1", at_ms=6)
    emits(q, "0 +a | 6 +a +b")


def test_equal_queries_registered_at_different_times_see_different_windows(machine: MakeMachine) -> None:
    m = machine()
    first = m.register(over("ALL"))
    m.push("s", ":a :p 1", at_ms=0)
    second = m.register(over("ALL"))
    m.push("s", ":a :p 1", at_ms=1)
    emits(first, "0 +a")
    emits(second, "1 +a")
