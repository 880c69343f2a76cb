"""LANDMARK: all that has come since the last instant of a grid; answers on every change.

A triple is drawn from where it enters to where it leaves, `)` being the first instant at which it is gone.
"""

from __future__ import annotations

import pytest

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over


def test_everything_leaves_at_the_next_instant(machine: MakeMachine) -> None:
    #  0 1     7  10
    #    a--------)
    #          b--)       LANDMARK 10
    m = machine()
    q = m.register(over("LANDMARK 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=7)
    m.finish()
    assert m.clock_ms == 10
    emits(q, "1 +a | 7 +b | 10 -a -b")


def test_what_comes_at_an_instant_is_seen_until_the_next(machine: MakeMachine) -> None:
    #  5    10        20
    #  a----)
    #       b---------)   LANDMARK 10: expiries are before elements
    m = machine()
    q = m.register(over("LANDMARK 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=5)
    m.push("s", ":b :p 1", at_ms=10)
    m.finish()
    emits(q, "5 +a | 10 -a | 10 +b | 20 -b")


def test_what_comes_again_leaves_no_later(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("LANDMARK 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":a :p 1", at_ms=9)
    m.push("s", ":a :p 1", at_ms=11)
    m.finish()
    emits(q, "1 +a | 10 -a | 11 +a | 20 -a")


@pytest.mark.parametrize(("at_ms", "end"), [(-11, -7), (-7, 3), (-1, 3), (2, 3), (3, 13)])
def test_the_grid_begins_at_t0_and_goes_both_ways(machine: MakeMachine, at_ms: int, end: int) -> None:
    m = machine(t0_ms=3)
    q = m.register(over("LANDMARK 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=at_ms)
    m.finish()
    emits(q, f"{at_ms} +a | {end} -a")


def test_counts_so_far_begin_anew_at_every_instant(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("LANDMARK 10", select="(COUNT(*) AS ?n)"), output="istream")
    for at_ms, name in ((1, "a"), (4, "b"), (12, "c"), (19, "d"), (20, "e")):
        m.push("s", f":{name} :p 1", at_ms=at_ms)
    emits(q, "1 +1 | 4 +2 | 10 +0 | 12 +1 | 19 +2 | 20 +0 | 20 +1")


def test_rstream_answers_at_the_instant_for_what_no_pattern_matches(machine: MakeMachine) -> None:
    #  s  1 a--)        LANDMARK 5
    #  t  1 b--------   ALL
    m = machine()
    q = m.register("SELECT ?x { { STREAM :s [LANDMARK 5] { ?x :p 1 } } UNION { STREAM :t [ALL] { ?x :p 1 } } }", "rstream")
    m.push("t", ":b :p 1", at_ms=1)
    m.push("s", ":z :z 1", at_ms=1)
    m.push("t", ":c :p 1", at_ms=7)
    emits(q, "1 +b | 1 +b | 5 +b | 7 +b +c")


def test_a_landmark_joins_other_windows(machine: MakeMachine) -> None:
    #  0  2  4    10
    #     a-------)       LANDMARK 10
    #        b---)        RANGE 5
    m = machine()
    text = "SELECT ?x ?y { STREAM :s [LANDMARK 10] { ?x :p 1 } STREAM :t [RANGE 5] { ?y :p 1 } }"
    q = m.register(text, output="changes")
    m.push("s", ":a :p 1", at_ms=2)
    m.push("t", ":b :p 1", at_ms=4)
    m.push("t", ":c :p 1", at_ms=8)
    m.finish()
    emits(q, "4 +a,b | 8 +a,c | 9 -a,b | 10 -a,c")
