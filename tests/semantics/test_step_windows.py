"""RANGE with STEP, and TUMBLING: seen on the grid only, from the first instant at or after its time.

Instants of the grid are drawn as dots. An instant is answered when time has passed it, so most tests end with `finish`,
which answers every instant before the last triple leaves.
"""

from __future__ import annotations

import pytest

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over


def test_a_triple_enters_at_the_next_instant_and_stays_while_its_range_lasts(machine: MakeMachine) -> None:
    #  0  3 5    10   15
    #  .    .    .    .
    #     a ----------)   RANGE 10 STEP 5: 3 + 10 = 13, the next instant is 15
    m = machine()
    q = m.register(over("RANGE 10 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "5 +a | 10 +a")


def test_an_element_at_an_instant_belongs_to_it(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  .    .    .    .
    #       a---------)   RANGE 10 STEP 5
    m = machine()
    q = m.register(over("RANGE 10 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=5)
    m.finish()
    emits(q, "5 +a | 10 +a")


def test_an_element_just_after_an_instant_belongs_to_the_next(machine: MakeMachine) -> None:
    #  0    5 6  10   15   20
    #  .    .    .    .    .
    #         a  ----------)   RANGE 10 STEP 5
    m = machine()
    q = m.register(over("RANGE 10 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=6)
    m.finish()
    emits(q, "10 +a | 15 +a")


def test_a_triple_leaves_at_the_first_instant_at_or_after_its_range(machine: MakeMachine) -> None:
    #  0  3 5    10   15
    #  .    .    .    .
    #     a ----------)   RANGE 10 STEP 5
    m = machine()
    q = m.register(over("RANGE 10 STEP 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.advance_to(15)
    emits(q, "5 +a | 15 -a")


@pytest.mark.parametrize(
    ("at_ms", "instants"),
    [(3, (5,)), (4, (5, 10)), (5, (5, 10)), (8, (10,)), (9, (10, 15))],
)
def test_a_range_that_is_no_multiple_of_the_step_holds_what_came_after_t_minus_r(
    machine: MakeMachine, at_ms: int, instants: tuple[int, ...]
) -> None:
    #     3 4 5  8 9 10     15
    #         .      .      .
    #         (-2 . 5]
    #     (  3 . 10  ]
    #            (8  .  15  ]     RANGE 7 STEP 5
    m = machine()
    q = m.register(over("RANGE 7 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=at_ms)
    m.advance_to(100)
    emits(q, " | ".join(f"{instant} +a" for instant in instants))


def test_a_step_longer_than_the_range_never_sees_some_elements(machine: MakeMachine) -> None:
    #  0  3   5 6    10
    #  .             .
    #     a   b (c   d]   RANGE 5 STEP 10: the window at 10 is (5, 10]
    m = machine()
    q = m.register(over("RANGE 5 STEP 10"), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.push("s", ":b :p 1", at_ms=5)
    m.push("s", ":c :p 1", at_ms=6)
    m.push("s", ":d :p 1", at_ms=10)
    m.advance_to(100)
    emits(q, "10 +c +d")


def test_a_step_shorter_than_the_range_shows_an_element_in_overlapping_windows(machine: MakeMachine) -> None:
    #  0  2  4  6  8  10 12
    #  .  .  .  .  .  .  .
    #   a ---------)            1 + 6 = 7
    #         b ----------)     5 + 6 = 11, RANGE 6 STEP 2
    m = machine()
    q = m.register(over("RANGE 6 STEP 2"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=5)
    m.finish()
    emits(q, "2 +a | 4 +a | 6 +a +b | 8 +b | 10 +b")


def test_t0_shifts_the_grid_of_a_step(machine: MakeMachine) -> None:
    #  2 3  7    12
    #  .    .    .
    #    a  -----)        RANGE 5 STEP 5, t0 is 2
    m = machine(t0_ms=2)
    q = m.register(over("RANGE 5 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "7 +a")


def test_t0_after_an_element_still_fixes_the_grid_before_it(machine: MakeMachine) -> None:
    #  92 93  97   102
    #  .      .    .      ... t0 is 1002
    #     a   -----)      RANGE 5 STEP 5
    m = machine(t0_ms=1002)
    q = m.register(over("RANGE 5 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=93)
    m.finish()
    emits(q, "97 +a")


@pytest.mark.parametrize(("at_ms", "instant"), [(-6, -5), (-5, -5), (-4, 0), (0, 0), (1, 5)])
def test_the_grid_of_a_step_goes_on_before_t0(machine: MakeMachine, at_ms: int, instant: int) -> None:
    #  -6 -5 -4   0 1    5
    #      .      .      .
    #  a   ]
    #         b   ]
    #               c    ]     RANGE 5 STEP 5
    m = machine()
    q = m.register(over("RANGE 5 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=at_ms)
    m.finish()
    emits(q, f"{instant} +a")


def test_tumbling_windows_show_every_element_once(machine: MakeMachine) -> None:
    #  0 1    5 6    10
    #  .      .      .
    #    a    b]
    #           c     ]   RANGE 5 TUMBLING
    m = machine()
    q = m.register(over("RANGE 5 TUMBLING"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=5)
    m.push("s", ":c :p 1", at_ms=6)
    m.finish()
    emits(q, "5 +a +b | 10 +c")


def test_tumbling_is_a_step_as_long_as_the_range(machine: MakeMachine) -> None:
    m = machine(t0_ms=3)
    tumbling = m.register(over("RANGE 7 TUMBLING"), output="changes")
    step = m.register(over("RANGE 7 STEP 7"), output="changes")
    for at_ms in (-11, -4, -3, 0, 3, 9, 10, 11, 40):
        m.push("s", f":a{abs(at_ms)} :p 1", at_ms=at_ms)
    m.advance_to(60)
    assert tumbling.emitted()
    assert tumbling.emitted() == step.emitted()
