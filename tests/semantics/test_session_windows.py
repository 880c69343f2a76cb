"""SESSION: what follows each other closely is seen together, until nothing has come for a while.

A triple is drawn from where it enters to where it leaves, `)` being the first instant at which it is gone.
"""

from __future__ import annotations

import pytest

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over


def test_everything_leaves_at_once_after_the_silence(machine: MakeMachine) -> None:
    #  0   3     8
    #  a---------)
    #      b-----)        SESSION 5
    m = machine()
    q = m.register(over("SESSION 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=3)
    m.finish()
    assert m.clock_ms == 8
    emits(q, "0 +a | 3 +b | 8 -a -b")


def test_an_element_at_the_end_begins_anew(machine: MakeMachine) -> None:
    #  0    5    10
    #  a----)
    #       b----)        SESSION 5
    m = machine()
    q = m.register(over("SESSION 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=5)
    m.finish()
    emits(q, "0 +a | 5 -a | 5 +b | 10 -b")


def test_an_element_just_before_the_end_puts_it_off(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("SESSION 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=4)
    m.push("s", ":c :p 1", at_ms=8)
    m.finish()
    emits(q, "0 +a | 4 +b | 8 +c | 13 -a -b -c")


@pytest.mark.parametrize("other", [":z :z 1", ""])
def test_elements_that_no_pattern_matches_put_the_end_off(machine: MakeMachine, other: str) -> None:
    m = machine()
    q = m.register(over("SESSION 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", other, at_ms=4)
    m.push("s", other, at_ms=8)
    m.finish()
    assert m.clock_ms == 13
    emits(q, "0 +a | 13 -a")


def test_a_triple_that_comes_again_is_there_once(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("SESSION 5"), output="changes")
    for at_ms in (0, 2, 4, 9, 10):
        m.push("s", ":a :p 1", at_ms=at_ms)
    m.finish()
    emits(q, "0 +a | 9 -a | 9 +a | 15 -a")


def test_other_streams_and_datasets_put_nothing_off(machine: MakeMachine) -> None:
    m = machine()
    text = "SELECT ?x { { STREAM :s [SESSION 5] { ?x :p 1 } } UNION { STREAM :t [NOW] { ?x :q 1 } } UNION { ?x :r 1 } }"
    q = m.register(text, output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("t", ":b :q 1", at_ms=3)
    m.insert(":c :r 1", at_ms=4)
    m.push("t", ":b :q 1", at_ms=6)
    emits(q, "0 +a | 3 +b | 4 -b | 4 +c | 5 -a | 6 +b")


def test_sessions_are_a_stream_s_own(machine: MakeMachine) -> None:
    #  s  a----)
    #  t    b----)        SESSION 5 on each
    m = machine()
    q = m.register("SELECT ?x ?y { STREAM :s [SESSION 5] { ?x :p 1 } STREAM :t [SESSION 5] { ?y :p 1 } }", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("t", ":b :p 1", at_ms=2)
    m.push("t", ":c :p 1", at_ms=5)
    m.finish()
    emits(q, "2 +a,b | 5 -a,b")


def test_expiries_of_a_millisecond_are_one_change(machine: MakeMachine) -> None:
    #  s  a-----)         SESSION 5
    #  t   b----)         RANGE 4
    m = machine()
    text = "SELECT (COUNT(*) AS ?n) { { STREAM :s [SESSION 5] { ?x :p 1 } } UNION { STREAM :t [RANGE 4] { ?x :p 1 } } }"
    q = m.register(text, output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("t", ":b :p 1", at_ms=1)
    m.finish()
    emits(q, "0 +1 | 1 -1 +2 | 5 -2 +0")


def test_late_elements_put_nothing_off(machine: MakeMachine) -> None:
    m = machine(lateness_ms=2)
    q = m.register(over("SESSION 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=8)
    m.push("s", ":c :p 1", at_ms=4)
    m.finish()
    assert m.late == 1
    emits(q, "0 +a | 5 -a | 8 +b | 13 -b")


def test_what_a_lateness_held_back_puts_the_end_off(machine: MakeMachine) -> None:
    m = machine(lateness_ms=5)
    q = m.register(over("SESSION 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=8)
    m.push("s", ":c :p 1", at_ms=4)
    m.finish()
    emits(q, "0 +a | 4 +c | 8 +b | 13 -a -b -c")


def test_time_that_is_told_ends_a_session(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("SESSION 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.advance_to(4)
    emits(q, "0 +a")
    m.advance_to(20)
    emits(q, "0 +a | 5 -a")
    m.push("s", ":a :p 1", at_ms=21)
    m.finish()
    emits(q, "0 +a | 5 -a | 21 +a | 26 -a")


def test_rstream_answers_when_a_session_ends_that_no_pattern_matches(machine: MakeMachine) -> None:
    m = machine()
    text = "SELECT ?x { { STREAM :s [SESSION 5] { ?x :p 1 } } UNION { STREAM :t [ALL] { ?x :p 1 } } }"
    q = m.register(text, output="rstream")
    m.push("t", ":b :p 1", at_ms=0)
    m.push("s", ":z :z 1", at_ms=1)
    m.push("s", "", at_ms=3)
    m.advance_to(10)
    m.push("s", "", at_ms=11)
    m.advance_to(20)
    emits(q, "0 +b | 1 +b | 3 +b | 8 +b | 11 +b")


def test_a_query_that_comes_later_sees_what_follows_until_the_same_end(machine: MakeMachine) -> None:
    m = machine()
    first = m.register(over("SESSION 5"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    later = m.register(over("SESSION 5"), output="changes")
    m.push("s", ":b :p 1", at_ms=4)
    m.finish()
    emits(first, "0 +a | 4 +b | 9 -a -b")
    emits(later, "4 +b | 9 -b")


def test_sessions_of_the_merged_default_graph(machine: MakeMachine) -> None:
    #  s  a----------)    SESSION 5
    #  t     a----------) RANGE 10: the union has it until 12
    m = machine()
    text = "SELECT ?x FROM STREAM :s [SESSION 5] FROM STREAM :t [RANGE 10] { ?x :p ?y }"
    q = m.register(text, output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("t", ":a :p 1", at_ms=2)
    m.push("s", ":z :z 1", at_ms=3)
    m.finish()
    emits(q, "0 +a | 12 -a")


def test_what_is_constructed_puts_the_end_off_as_well(machine: MakeMachine) -> None:
    m = machine()
    m.register("REGISTER ISTREAM :hot AS CONSTRUCT { ?x :hot 1 } { STREAM :s [RANGE 3] { ?x :p 1 } }")
    q = m.register("SELECT ?x { STREAM :hot [SESSION 5] { ?x :hot 1 } }", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=4)
    m.push("s", ":c :p 2", at_ms=8)
    m.finish()
    emits(q, "0 +a | 4 +b | 9 -a -b")


def test_a_session_and_a_step_in_one_query_answer_on_every_change(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x ?y { STREAM :s [SESSION 5] { ?x :p 1 } STREAM :t [RANGE 4 STEP 2] { ?y :p 1 } }", "changes")
    m.push("t", ":b :p 1", at_ms=1)
    m.push("s", ":a :p 1", at_ms=3)
    m.push("s", ":a :p 1", at_ms=4)
    m.finish()
    emits(q, "3 +a,b | 6 -a,b")
