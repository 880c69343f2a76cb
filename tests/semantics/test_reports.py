"""When a query has an answer set: on content change, or when windows close.

RSTREAM shows every answer set that is not empty, so these tests ask for it, or for a count, which is never empty.
"""

from __future__ import annotations

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over, over_any

COUNT = "(COUNT(*) AS ?n)"
WITH_DATASET = "SELECT ?x { STREAM :s [ALL] { ?x :p ?y } OPTIONAL { ?x :q ?z } }"

# Content change -------------------------------------------------------------------------------------------------------


def test_a_query_answers_after_each_element_of_its_streams(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=2)
    emits(q, "1 +a | 2 +a +b")


def test_a_query_answers_after_an_element_that_it_does_not_match(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":z :other 1", at_ms=2)
    emits(q, "1 +a | 2 +a")


def test_a_query_answers_after_an_element_that_brings_nothing_new(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":a :p 1", at_ms=2)
    emits(q, "1 +a | 2 +a")


def test_a_query_does_not_answer_after_elements_of_other_streams(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("t", ":b :p 1", at_ms=2)
    emits(q, "1 +a")


def test_a_query_answers_after_a_change_of_a_graph_it_reads(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(WITH_DATASET, output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.insert(":z :other 1", at_ms=2)
    m.delete(":z :other 1", at_ms=3)
    emits(q, "1 +a | 2 +a | 3 +a")


def test_a_query_does_not_answer_after_an_insert_of_what_is_there(machine: MakeMachine) -> None:
    m = machine()
    m.load(":z :other 1")
    q = m.register(WITH_DATASET, output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.insert(":z :other 1", at_ms=2)
    emits(q, "1 +a")


def test_a_query_does_not_answer_after_a_delete_of_what_is_not_there(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(WITH_DATASET, output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.delete(":z :other 1", at_ms=2)
    emits(q, "1 +a")


def test_a_partly_effective_change_is_one_change(machine: MakeMachine) -> None:
    m = machine()
    m.load(":z :other 1")
    q = m.register(WITH_DATASET, output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.insert(":z :other 1 . :z :other 2", at_ms=2)
    emits(q, "1 +a | 2 +a")


def test_a_query_does_not_answer_after_a_change_of_a_graph_it_does_not_read(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(WITH_DATASET, output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.insert(":a :q 2", at_ms=2, graph="g")
    emits(q, "1 +a")


def test_a_query_over_windows_alone_reads_no_graph(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.insert(":b :p 1", at_ms=2)
    emits(q, "1 +a")


def test_a_query_answers_after_each_expiry(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  a---------)
    #       b---------)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", select=COUNT), output="rstream")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=5)
    m.finish()
    emits(q, "0 +1 | 5 +2 | 10 +1 | 15 +0")


def test_a_query_answers_after_the_expiry_of_a_triple_it_does_not_match(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  z---------)
    #       a---------)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10"), output="rstream")
    m.push("s", ":z :other 1", at_ms=0)
    m.push("s", ":a :p 1", at_ms=5)
    m.finish()
    emits(q, "5 +a | 10 +a")


def test_a_query_does_not_answer_at_an_end_that_was_extended(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  a----a---------)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", select=COUNT), output="rstream")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :p 1", at_ms=5)
    m.finish()
    emits(q, "0 +1 | 5 +1 | 15 +0")


def test_a_query_does_not_answer_when_only_time_passes(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("RANGE 10"), output="rstream")
    m.push("s", ":a :p 1", at_ms=0)
    m.advance_to(9)
    emits(q, "0 +a")


# Window close ---------------------------------------------------------------------------------------------------------


def test_a_query_answers_at_every_instant_of_the_grid(machine: MakeMachine) -> None:
    #  5 7  10   15   20   25   30
    #  .    .    .    .    .    .
    #    a  --------------------)     RANGE 20 STEP 5
    m = machine()
    q = m.register(over("RANGE 20 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=7)
    m.finish()
    emits(q, "10 +a | 15 +a | 20 +a | 25 +a")


def test_a_query_answers_at_instants_where_its_windows_are_empty(machine: MakeMachine) -> None:
    #  5 7  10   15   20 22 25
    #  .    .    .    .     .
    #    a  -----)
    #                    b  ---   RANGE 5 STEP 5
    m = machine()
    q = m.register(over("RANGE 5 STEP 5", select=COUNT), output="rstream")
    m.push("s", ":a :p 1", at_ms=7)
    m.push("s", ":b :p 1", at_ms=22)
    m.finish()
    emits(q, "10 +1 | 15 +0 | 20 +0 | 25 +1")


def test_the_first_instant_is_the_first_at_or_after_the_first_element(machine: MakeMachine) -> None:
    #  0    5    10
    #  .    .    .
    #       z             RANGE 5 STEP 5: nothing at 0
    m = machine()
    q = m.register(over("RANGE 5 STEP 5", select=COUNT), output="rstream")
    m.push("s", ":z :other 1", at_ms=5)
    m.advance_to(10)
    emits(q, "5 +0 | 10 +0")


def test_no_instant_is_answered_before_an_element_has_come(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("RANGE 5 STEP 5", select=COUNT), output="rstream")
    m.push("t", ":a :p 1", at_ms=7)
    m.advance_to(100)
    emits(q, "")


def test_an_instant_is_answered_once_a_later_element_has_come(machine: MakeMachine) -> None:
    #  0    5 6
    #  .    .
    #       a,b           RANGE 5 STEP 5
    #         c
    m = machine()
    q = m.register(over("RANGE 5 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=5)
    emits(q, "")
    m.push("s", ":b :p 1", at_ms=5)
    emits(q, "")
    m.push("s", ":c :p 1", at_ms=6)
    emits(q, "5 +a +b")


def test_an_instant_is_answered_once_an_element_of_any_stream_has_passed_it(machine: MakeMachine) -> None:
    #  s  3 5
    #     a ]
    #  t      6
    #         z           a stream that the query does not read
    m = machine()
    q = m.register(over("RANGE 5 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.push("t", ":z :p 1", at_ms=6)
    emits(q, "5 +a")


def test_an_instant_is_answered_once_a_dataset_change_has_passed_it(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("RANGE 5 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.insert(":z :p 1", at_ms=6)
    emits(q, "5 +a")


def test_an_instant_is_answered_once_time_has_been_advanced_to_it(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("RANGE 5 STEP 5"), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.advance_to(4)
    emits(q, "")
    m.advance_to(5)
    emits(q, "5 +a")


def test_a_dataset_change_at_an_instant_belongs_to_it(machine: MakeMachine) -> None:
    #  0  3 5
    #  .    .
    #     a ]
    #       insert a q 2
    m = machine()
    q = m.register("SELECT ?x ?z { STREAM :s [RANGE 5 STEP 5] { ?x :p ?y } ?x :q ?z }", output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.insert(":a :q 2", at_ms=5)
    m.finish()
    emits(q, "5 +a,2")


def test_between_instants_a_dataset_change_gives_no_answer(machine: MakeMachine) -> None:
    #  0 1 2  5    10
    #  .      .    .
    #    a    -----)      RANGE 5 STEP 5
    #      insert a q 2
    #           6 delete a q 2
    m = machine()
    q = m.register("SELECT ?x ?z { STREAM :s [RANGE 10 STEP 5] { ?x :p ?y } ?x :q ?z }", output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.insert(":a :q 2", at_ms=2)
    emits(q, "")
    m.delete(":a :q 2", at_ms=6)
    emits(q, "5 +a,2")
    m.advance_to(10)
    emits(q, "5 +a,2 | 10 -a,2")


def test_with_several_grids_a_query_answers_at_the_instants_of_each(machine: MakeMachine) -> None:
    #  s  0 1     10       20
    #     .       .        .
    #       a     ---------)      RANGE 10 STEP 10
    #  t  0  2       15      30
    #     .          .       .
    #        b       --------)    RANGE 15 STEP 15
    #
    #  At 15 the window on s shows its content as of 10.
    m = machine()
    q = m.register(over_any(":s [RANGE 10 STEP 10]", ":t [RANGE 15 STEP 15]"), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("t", ":b :p 1", at_ms=2)
    m.finish()
    emits(q, "10 +a | 15 +a +b | 20 +b")


def test_an_instant_that_several_grids_share_is_answered_once(machine: MakeMachine) -> None:
    #  s  0   2   4   6
    #     .   .   .   .           RANGE 6 STEP 2
    #  t  0     3     6
    #     .     .     .           RANGE 6 STEP 3
    m = machine()
    q = m.register(over_any(":s [RANGE 6 STEP 2]", ":t [RANGE 6 STEP 3]", select=COUNT), output="rstream")
    m.push("s", ":a :p 1", at_ms=1)
    m.advance_to(6)
    emits(q, "2 +1 | 3 +1 | 4 +1 | 6 +1")


def test_the_first_element_of_any_window_starts_all_grids(machine: MakeMachine) -> None:
    #  s  0      10       no element
    #     .      .        RANGE 10 STEP 10
    #  t  0    6          RANGE 6 STEP 6
    #     .    .
    #      b   ]
    m = machine()
    q = m.register(over_any(":s [RANGE 10 STEP 10]", ":t [RANGE 6 STEP 6]"), output="rstream")
    m.push("t", ":b :p 1", at_ms=1)
    m.advance_to(11)
    emits(q, "6 +b | 10 +b")


# Some windows with a STEP, others without -----------------------------------------------------------------------------

MIXED = ":s [RANGE 10 STEP 5]", ":t [RANGE 10]"


def test_if_only_some_windows_step_the_query_answers_on_every_change(machine: MakeMachine) -> None:
    #  t  1 2
    #     a b
    m = machine()
    q = m.register(over_any(*MIXED), output="rstream")
    m.push("t", ":a :p 1", at_ms=1)
    m.push("t", ":b :p 1", at_ms=2)
    emits(q, "1 +a | 2 +a +b")


def test_if_only_some_windows_step_those_change_on_their_grid(machine: MakeMachine) -> None:
    #  s  3 5    10   15
    #       .    .    .
    #     a ----------)   RANGE 10 STEP 5
    #  t          11  15      21
    #             b-----------)   RANGE 10
    m = machine()
    q = m.register(over_any(*MIXED), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.push("t", ":b :p 1", at_ms=11)
    m.finish()
    emits(q, "5 +a | 11 +b | 15 -a | 21 -b")


def test_if_only_some_windows_step_an_element_of_a_stepping_one_is_a_change_too(machine: MakeMachine) -> None:
    #  t  1
    #     b---
    #  s    3  5
    #       a  ]          not seen yet, but an element of a stream the query reads
    m = machine()
    q = m.register(over_any(*MIXED), output="rstream")
    m.push("t", ":b :p 1", at_ms=1)
    m.push("s", ":a :p 1", at_ms=3)
    emits(q, "1 +b | 3 +b")


def test_if_only_some_windows_step_a_quiet_instant_gives_no_answer(machine: MakeMachine) -> None:
    #  s  3 5    10
    #     a ------...     nothing enters or leaves at 10
    m = machine()
    q = m.register(over_any(*MIXED), output="rstream")
    m.push("s", ":a :p 1", at_ms=3)
    m.advance_to(10)
    emits(q, "5 +a")
