"""RANGE and SLIDE: seen from its time on, for a while; answers on every change.

A triple is drawn from where it enters to where it leaves, `)` being the first instant at which it is gone.
"""

from __future__ import annotations

import pytest

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over

# RANGE r: from t until t + r ------------------------------------------------------------------------------------------


def test_a_triple_leaves_when_the_range_has_passed(machine: MakeMachine) -> None:
    #  0    5    10
    #  a---------)        RANGE 10
    m = machine()
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.finish()
    emits(q, "0 +a | 10 -a")


def test_an_element_at_the_end_of_the_range_does_not_see_the_triple(machine: MakeMachine) -> None:
    #  0         10
    #  a---------)
    #            b---
    m = machine()
    q = m.register(over("RANGE 10"), output="rstream")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=10)
    emits(q, "0 +a | 10 +b")


def test_an_element_just_before_the_end_of_the_range_sees_the_triple(machine: MakeMachine) -> None:
    #  0        9 10
    #  a----------)
    #           b---
    m = machine()
    q = m.register(over("RANGE 10"), output="rstream")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=9)
    emits(q, "0 +a | 9 +a +b")


def test_a_range_holds_what_arrived_after_t_minus_r_up_to_t(machine: MakeMachine) -> None:
    #  0 1       10
    #  a---------)
    #    b---------)
    #            c---     at 10 the window is (0, 10]
    m = machine()
    q = m.register(over("RANGE 10"), output="rstream")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=1)
    m.push("s", ":c :p 1", at_ms=10)
    emits(q, "0 +a | 1 +a +b | 10 +b | 10 +b +c")


def test_an_answer_holds_while_all_its_triples_are_seen(machine: MakeMachine) -> None:
    #  0    4    10   14
    #  a p 1-----)
    #       a q 2-----)
    #       [answer )
    m = machine()
    q = m.register(over("RANGE 10", "?x :p ?y . ?x :q ?z"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :q 2", at_ms=4)
    m.finish()
    emits(q, "4 +a | 10 -a")


def test_two_windows_on_one_stream_see_a_triple_for_different_times(machine: MakeMachine) -> None:
    #  0  3   6    10
    #  a------------)     RANGE 10
    #  a--)               RANGE 3
    #         b-----...   RANGE 10
    #         b--)        RANGE 3
    m = machine()
    q = m.register(
        "SELECT ?x ?y { STREAM :s [RANGE 3] { ?x :p 1 } STREAM :s [RANGE 10] { ?y :p 1 } }",
        output="changes",
    )
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=6)
    m.finish()
    emits(q, "0 +a,a | 3 -a,a | 6 +b,a +b,b | 9 -b,a -b,b")


def test_a_range_works_before_time_zero(machine: MakeMachine) -> None:
    #  -15       -5   0
    #   a---------)
    m = machine()
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=-15)
    m.finish()
    emits(q, "-15 +a | -5 -a")


def test_a_range_ignores_t0(machine: MakeMachine) -> None:
    #  3         13
    #  a---------)        t0 is 7
    m = machine(t0_ms=7)
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "3 +a | 13 -a")


@pytest.mark.parametrize("window", ["RANGE 90000", "RANGE 90s", "RANGE 1m30s", "RANGE PT1M30S", "RANGE PT90S"])
def test_a_duration_means_the_same_however_it_is_written(machine: MakeMachine, window: str) -> None:
    m = machine()
    q = m.register(over(window), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.finish()
    emits(q, "0 +a | 90000 -a")


# RANGE r SLIDE x: from t until the first grid instant at or after t, plus r -------------------------------------------


def test_a_slide_keeps_a_triple_for_the_range_after_the_next_grid_instant(machine: MakeMachine) -> None:
    #  0  3 5    10   15
    #  .    .    .    .
    #     a-----------)   RANGE 10 SLIDE 5
    m = machine()
    q = m.register(over("RANGE 10 SLIDE 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "3 +a | 15 -a")


def test_a_slide_takes_an_element_on_a_grid_instant_from_that_instant(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  .    .    .    .
    #       a---------)   RANGE 10 SLIDE 5
    m = machine()
    q = m.register(over("RANGE 10 SLIDE 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=5)
    m.finish()
    emits(q, "5 +a | 15 -a")


def test_a_slide_evicts_all_of_one_grid_cell_at_once(machine: MakeMachine) -> None:
    #  0    5 6 8 10   15   20
    #  .    .     .    .    .
    #         a-------------)
    #           b-----------)   RANGE 10 SLIDE 5
    m = machine()
    q = m.register(over("RANGE 10 SLIDE 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=6)
    m.push("s", ":b :p 1", at_ms=8)
    m.finish()
    emits(q, "6 +a | 8 +b | 20 -a -b")


def test_a_slide_answers_on_every_change(machine: MakeMachine) -> None:
    #  0 1 2  5
    #  . a b  .           RANGE 10 SLIDE 5
    m = machine()
    q = m.register(over("RANGE 10 SLIDE 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=2)
    emits(q, "1 +a | 2 +a +b")


def test_a_slide_longer_than_the_range_keeps_a_triple_past_the_next_instant(machine: MakeMachine) -> None:
    #  0  3       10 12
    #  .          .
    #     a----------)    RANGE 2 SLIDE 10
    m = machine()
    q = m.register(over("RANGE 2 SLIDE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "3 +a | 12 -a")


def test_t0_shifts_the_grid_of_a_slide(machine: MakeMachine) -> None:
    #  2 3  7    12   17
    #  .    .    .    .
    #    a------------)   RANGE 10 SLIDE 5, t0 is 2
    m = machine(t0_ms=2)
    q = m.register(over("RANGE 10 SLIDE 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "3 +a | 17 -a")


@pytest.mark.parametrize(("at_ms", "until_ms"), [(-6, 5), (-5, 5), (-4, 10), (-1, 10), (0, 10), (1, 15)])
def test_the_grid_of_a_slide_goes_on_before_t0(machine: MakeMachine, at_ms: int, until_ms: int) -> None:
    #  -6 -5 -4  -1 0 1    5    10   15
    #     .         .      .    .    .
    #   a------------------)
    #        b------------------)
    #                 c--------------)   RANGE 10 SLIDE 5
    m = machine()
    q = m.register(over("RANGE 10 SLIDE 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=at_ms)
    m.finish()
    emits(q, f"{at_ms} +a | {until_ms} -a")


# NOW: from t until t + 1 ----------------------------------------------------------------------------------------------


def test_now_sees_a_triple_for_its_millisecond(machine: MakeMachine) -> None:
    #  1 2
    #  a-)                NOW
    m = machine()
    q = m.register(over("NOW"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.finish()
    emits(q, "1 +a | 2 -a")


def test_now_sees_all_elements_of_one_millisecond(machine: MakeMachine) -> None:
    #  1 2
    #  a-)
    #  b-)                NOW
    m = machine()
    q = m.register(over("NOW"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=1)
    emits(q, "1 +a | 1 +a +b")


def test_now_has_forgotten_the_millisecond_before(machine: MakeMachine) -> None:
    #  1 2 3
    #  a-)
    #    b-)              NOW
    m = machine()
    q = m.register(over("NOW"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=2)
    emits(q, "1 +a | 2 +b")


# ALL: from t for ever -------------------------------------------------------------------------------------------------


def test_all_never_forgets(machine: MakeMachine) -> None:
    #  1
    #  a------------...   ALL
    m = machine()
    q = m.register(over("ALL"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.advance_to(10**12)
    m.finish()
    emits(q, "1 +a")
