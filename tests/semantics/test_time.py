"""The one clock: lateness, what is late, `advance_to` and `finish`."""

from __future__ import annotations

import pytest

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over

COUNT = "(COUNT(*) AS ?n)"

# Order and lateness ---------------------------------------------------------------------------------------------------


def test_with_a_lateness_elements_are_put_in_order(machine: MakeMachine) -> None:
    #  arrival  b@10  a@7  c@15
    #  order    a@7  b@10  c@15
    m = machine(lateness_ms=5)
    q = m.register(over("ALL"))
    m.push("s", ":b :p 1", at_ms=10)
    m.push("s", ":a :p 1", at_ms=7)
    m.push("s", ":c :p 1", at_ms=15)
    m.finish()
    emits(q, "7 +a | 10 +b | 15 +c")


def test_an_element_is_held_until_the_lateness_has_passed(machine: MakeMachine) -> None:
    #  a@7 waits for time to reach 7: the first element at or after 12
    m = machine(lateness_ms=5)
    q = m.register(over("ALL"))
    m.push("s", ":a :p 1", at_ms=7)
    emits(q, "")
    m.push("s", ":b :p 1", at_ms=11)
    emits(q, "")
    m.push("s", ":c :p 1", at_ms=12)
    emits(q, "7 +a")


def test_any_stream_or_dataset_moves_time_for_all(machine: MakeMachine) -> None:
    m = machine(lateness_ms=5)
    q = m.register(over("ALL"))
    m.push("s", ":a :p 1", at_ms=7)
    m.push("t", ":z :p 1", at_ms=12)
    emits(q, "7 +a")
    m.push("s", ":b :p 1", at_ms=8)
    m.insert(":z :p 1", at_ms=13)
    emits(q, "7 +a | 8 +b")


def test_held_elements_of_equal_time_keep_the_order_of_arrival(machine: MakeMachine) -> None:
    #  arrival  c@9  t b@5  insert d@5  s a@5   all held
    #  order    b  d  a  c
    m = machine(lateness_ms=10)
    q = m.register(
        "SELECT ?x { { STREAM :s [ALL] { ?x :p ?y } } UNION { STREAM :t [ALL] { ?x :p ?y } } UNION { ?x :p ?y } }"
    )
    m.push("s", ":c :p 1", at_ms=9)
    m.push("t", ":b :p 1", at_ms=5)
    m.insert(":d :p 1", at_ms=5)
    m.push("s", ":a :p 1", at_ms=5)
    m.finish()
    emits(q, "5 +b | 5 +d | 5 +a | 9 +c")


def test_an_element_before_the_largest_time_is_late(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL"))
    m.push("s", ":a :p 1", at_ms=10)
    m.push("s", ":b :p 1", at_ms=9)
    emits(q, "10 +a")
    assert m.late == 1


def test_an_element_at_the_largest_time_is_not_late(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL"))
    m.push("s", ":a :p 1", at_ms=10)
    m.push("s", ":b :p 1", at_ms=10)
    emits(q, "10 +a | 10 +b")
    assert m.late == 0


@pytest.mark.parametrize(("at_ms", "late"), [(4, 1), (5, 0), (6, 0)])
def test_an_element_exactly_as_old_as_the_lateness_is_not_late(machine: MakeMachine, at_ms: int, late: int) -> None:
    #     4 5 6      10
    #     late )[ not late, lateness 5
    m = machine(lateness_ms=5)
    q = m.register(over("ALL"))
    m.push("s", ":b :p 1", at_ms=10)
    m.push("s", ":a :p 1", at_ms=at_ms)
    m.finish()
    emits(q, "10 +b" if late else f"{at_ms} +a | 10 +b")
    assert m.late == late


def test_an_element_is_late_by_the_time_of_any_stream(machine: MakeMachine) -> None:
    m = machine()
    m.push("t", ":z :p 1", at_ms=10)
    m.push("s", ":a :p 1", at_ms=9)
    assert m.late == 1


def test_a_dataset_change_can_be_late(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x { ?x :p ?y }")
    m.insert(":a :p 1", at_ms=10)
    m.insert(":b :p 1", at_ms=9)
    m.delete(":a :p 1", at_ms=8)
    emits(q, "10 +a")
    assert m.late == 2


def test_what_is_late_does_not_count_in_a_window_of_triples(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("TRIPLES 1"), output="changes")
    m.push("s", ":a :p 1", at_ms=10)
    m.push("s", ":b :p 1", at_ms=9)
    emits(q, "10 +a")


def test_what_is_late_does_not_start_a_grid(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("RANGE 5 STEP 5", select=COUNT), output="rstream")
    m.push("t", ":z :p 1", at_ms=10)
    m.push("s", ":a :p 1", at_ms=3)
    m.advance_to(20)
    emits(q, "")


# advance_to -----------------------------------------------------------------------------------------------------------


def test_advancing_time_lets_triples_expire(machine: MakeMachine) -> None:
    #  0         10
    #  a---------)        RANGE 10
    m = machine()
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.advance_to(9)
    emits(q, "0 +a")
    m.advance_to(10)
    emits(q, "0 +a | 10 -a")


def test_expiries_happen_at_their_own_time_however_far_time_advances(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=3)
    m.advance_to(1000)
    emits(q, "0 +a | 3 +b | 10 -a | 13 -b")


@pytest.mark.parametrize(("at_ms", "late"), [(49, 1), (50, 1), (51, 0)])
def test_what_comes_at_or_before_a_time_advanced_to_is_late(machine: MakeMachine, at_ms: int, late: int) -> None:
    #       49 50 51
    #       late ]( not late
    m = machine()
    q = m.register(over("ALL"))
    m.advance_to(50)
    m.push("s", ":a :p 1", at_ms=at_ms)
    emits(q, "" if late else f"{at_ms} +a")
    assert m.late == late


def test_a_time_advanced_to_is_final_even_within_the_lateness(machine: MakeMachine) -> None:
    m = machine(lateness_ms=100)
    m.advance_to(50)
    m.push("s", ":a :p 1", at_ms=50)
    m.insert(":a :p 1", at_ms=50)
    assert m.late == 2


def test_advancing_time_releases_what_is_held(machine: MakeMachine) -> None:
    #  a@7 and b@8 are held; advancing to 7 releases a
    m = machine(lateness_ms=5)
    q = m.register(over("ALL"))
    m.push("s", ":b :p 1", at_ms=8)
    m.push("s", ":a :p 1", at_ms=7)
    m.advance_to(7)
    emits(q, "7 +a")
    m.advance_to(8)
    emits(q, "7 +a | 8 +b")


def test_advancing_to_a_time_that_has_passed_changes_nothing(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=5)
    m.advance_to(2)
    m.push("s", ":b :p 1", at_ms=5)
    emits(q, "5 +a | 5 +b")
    assert m.late == 0


def test_advancing_time_in_one_step_or_many_is_the_same(machine: MakeMachine) -> None:
    machines = machine(), machine()
    queries = [m.register(over("RANGE 10 STEP 4", select=COUNT), output="rstream") for m in machines]
    for m in machines:
        m.push("s", ":a :p 1", at_ms=1)
    machines[0].advance_to(30)
    for at_ms in range(2, 31):
        machines[1].advance_to(at_ms)
    assert queries[0].emitted() == queries[1].emitted()
    emits(queries[0], "4 +1 | 8 +1 | 12 +0 | 16 +0 | 20 +0 | 24 +0 | 28 +0")


# finish ---------------------------------------------------------------------------------------------------------------


def test_finish_processes_what_is_held(machine: MakeMachine) -> None:
    m = machine(lateness_ms=100)
    q = m.register(over("ALL"))
    m.push("s", ":b :p 1", at_ms=5)
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "3 +a | 5 +b")


def test_finish_moves_time_to_the_last_end_of_anything_seen(machine: MakeMachine) -> None:
    #  0         10        20
    #  a---------)             RANGE 10
    #  a-------------------)   RANGE 20
    m = machine()
    short = m.register(over("RANGE 10"), output="changes")
    long = m.register(over("RANGE 20"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.finish()
    emits(short, "0 +a | 10 -a")
    emits(long, "0 +a | 20 -a")


def test_finish_answers_the_instants_before_the_last_end_and_not_the_one_at_it(machine: MakeMachine) -> None:
    #  0 3  5    10   15
    #  .    .    .    .
    #    a  ----------)   RANGE 10 STEP 5
    m = machine()
    q = m.register(over("RANGE 10 STEP 5", select=COUNT), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "5 +1 | 10 +1")


def test_finish_answers_instants_up_to_the_last_end_of_any_query(machine: MakeMachine) -> None:
    #  0 3  5    10   15
    #  .    .    .    .
    #    a  -----)        RANGE 5 STEP 5: its own end is 10
    #    a------------)   RANGE 12: that of another query is 15
    m = machine()
    q = m.register(over("RANGE 5 STEP 5", select=COUNT), output="rstream")
    other = m.register(over("RANGE 12"), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "5 +1 | 10 +0")
    emits(other, "3 +a | 15 -a")


def test_finish_moves_time_to_an_end_of_something_not_yet_seen(machine: MakeMachine) -> None:
    #  0    6       20
    #  .            .
    #       a       ---...   RANGE 100 STEP 20: first seen at 20, gone at 120
    m = machine()
    q = m.register(over("RANGE 100 STEP 20"), output="rstream")
    m.push("s", ":a :p 1", at_ms=6)
    m.finish()
    emits(q, "20 +a | 40 +a | 60 +a | 80 +a | 100 +a")


def test_finish_does_not_wait_for_what_will_never_be_seen(machine: MakeMachine) -> None:
    #  0 1   3   6   9 10
    #  .     .   .   .       RANGE 3 STEP 3: seen at 3, gone at 6
    #    a   ----)
    #  .               .     RANGE 5 STEP 10: never seen
    m = machine()
    q = m.register(over("RANGE 3 STEP 3", select=COUNT), output="rstream")
    never = m.register(over("RANGE 5 STEP 10", select=COUNT), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.finish()
    emits(q, "3 +1")
    emits(never, "")


@pytest.mark.parametrize("window", ["ALL", "TRIPLES 2", "ELEMENTS 2", "EVENT"])
def test_windows_without_an_end_keep_their_content_at_finish(machine: MakeMachine, window: str) -> None:
    m = machine()
    q = m.register(over(window), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "3 +a")


def test_a_window_without_an_end_does_not_stop_others_from_ending(machine: MakeMachine) -> None:
    #  3         13
    #  a---------)        RANGE 10
    #  a-------------...  ALL
    m = machine()
    q = m.register("SELECT ?x { STREAM :s [RANGE 10] { ?x :p ?y } STREAM :s [ALL] { ?x :p ?y } }", output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "3 +a | 13 -a")


def test_finish_ends_at_the_extended_end_of_a_triple(machine: MakeMachine) -> None:
    #  0    7    10     17
    #  a----a-----------)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :p 1", at_ms=7)
    m.finish()
    emits(q, "0 +a | 17 -a")


def test_finish_without_input_emits_nothing(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("RANGE 10 STEP 5", select=COUNT), output="rstream")
    m.finish()
    emits(q, "")
