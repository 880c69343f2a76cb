"""Aggregates over windows, whatever enters and leaves."""

from __future__ import annotations

import pytest

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over


def test_a_count_goes_up_and_down(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  a---------)
    #       b---------)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", select="(COUNT(*) AS ?n)"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=5)
    m.finish()
    emits(q, "0 +1 | 5 -1 +2 | 10 -2 +1 | 15 -1 +0")


def test_a_group_goes_with_its_last_solution(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  a p 1-----)
    #       a p 2-----)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", select="?x (COUNT(?y) AS ?n)") + " GROUP BY ?x", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :p 2", at_ms=5)
    m.finish()
    emits(q, "0 +a,1 | 5 -a,1 +a,2 | 10 -a,2 +a,1 | 15 -a,1")


def test_a_group_that_does_not_change_is_not_emitted(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select="?x (SUM(?y) AS ?n)") + " GROUP BY ?x", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 2", at_ms=1)
    m.push("s", ":b :p 3", at_ms=2)
    emits(q, "0 +a,1 | 1 +b,2 | 2 -b,2 +b,5")


def test_having_lets_a_group_through_while_it_holds(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  a 3-------)
    #       a 4-------)   RANGE 10: the sum is above 5 from 5 to 10
    m = machine()
    q = m.register(over("RANGE 10") + " GROUP BY ?x HAVING (SUM(?y) > 5)", output="changes")
    m.push("s", ":a :p 3", at_ms=0)
    m.push("s", ":a :p 4", at_ms=5)
    m.finish()
    emits(q, "5 +a | 10 -a")


OF_TWO = {
    #  0    5    10   15
    #  1---------)
    #       4---------)   RANGE 10
    "COUNT": "0 +1 | 5 -1 +2 | 10 -2 +1 | 15 -1 +0",
    "SUM": "0 +1 | 5 -1 +5 | 10 -5 +4 | 15 -4 +0",
    "AVG": "0 +1 | 5 -1 +2.5 | 10 -2.5 +4 | 15 -4 +0",
    "MIN": "0 +1 | 10 -1 +4 | 15 -4 +_",
    "MAX": "0 +1 | 5 -1 +4 | 15 -4 +_",
    "MEDIAN": "0 +1 | 5 -1 +2.5 | 10 -2.5 +4 | 15 -4 +_",
    "SAMPLE": "0 +1 | 10 -1 +4 | 15 -4 +_",
    "GROUP_CONCAT": '0 +"1" | 5 -"1" +"1 4" | 10 -"1 4" +"4" | 15 -"4" +""',
}


@pytest.mark.parametrize("function", OF_TWO)
def test_each_aggregate_follows_what_enters_and_leaves(machine: MakeMachine, function: str) -> None:
    m = machine()
    q = m.register(over("RANGE 10", select=f"({function}(?y) AS ?n)"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 4", at_ms=5)
    m.finish()
    emits(q, OF_TWO[function])


OF_NOTHING = {
    "COUNT": "0",
    "SUM": "0",
    "AVG": "0",
    "MIN": "_",
    "MAX": "_",
    "MEDIAN": "_",
    "SAMPLE": "_",
    "GROUP_CONCAT": '""',
}


@pytest.mark.parametrize("function", OF_NOTHING)
def test_each_aggregate_has_an_answer_for_nothing(machine: MakeMachine, function: str) -> None:
    m = machine()
    q = m.register(over("ALL", select=f"({function}(?y) AS ?n)"), output="changes")
    m.push("s", ":z :other 1", at_ms=1)
    emits(q, f"1 +{OF_NOTHING[function]}")


def test_with_a_key_nothing_gives_no_group(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select="?x (AVG(?y) AS ?n)") + " GROUP BY ?x", output="rstream")
    m.push("s", ":z :other 1", at_ms=1)
    emits(q, "")


@pytest.mark.parametrize("function", ["SUM", "AVG", "MEDIAN"])
def test_an_aggregate_of_numbers_has_no_value_while_one_is_not_a_number(machine: MakeMachine, function: str) -> None:
    #  0      5    10     15
    #  2-----------)
    #         'x'---------)    RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", select=f"({function}(?y) AS ?n)"), output="changes")
    m.push("s", ":a :p 2", at_ms=0)
    m.push("s", ":a :p 'x'", at_ms=5)
    m.advance_to(14)
    emits(q, "0 +2 | 5 -2 +_")


MEDIANS = {
    "one": (":a :p 7", "7"),
    "odd": (":a :p 9 . :a :p 1 . :a :p 5", "5"),
    "even": (":a :p 9 . :a :p 1 . :a :p 5 . :a :p 3", "4"),
    "even, between": (":a :p 1 . :a :p 2", "1.5"),
    "by value, not by text": (":a :p 9 . :a :p 10 . :a :p 11", "10"),
    "of several types": (":a :p 1 . :a :p 2.5 . :a :p 3.0e0", "2.5"),
    "negative": (":a :p -3 . :a :p -1 . :a :p 4", "-1"),
    "of equal values": (":a :p 2 . :b :p 2 . :c :p 9", "2"),
    "not a number among them": (":a :p 1 . :a :p 'x' . :a :p 3", "_"),
    "an IRI among them": (":a :p 1 . :a :p :x . :a :p 3", "_"),
}


@pytest.mark.parametrize("case", MEDIANS)
def test_the_median_is_the_middle_value(machine: MakeMachine, case: str) -> None:
    data, median = MEDIANS[case]
    m = machine()
    q = m.register(over("ALL", select="(MEDIAN(?y) AS ?n)"), output="rstream")
    m.push("s", data, at_ms=1)
    emits(q, f"1 +{median}")


def test_the_median_of_distinct_values_drops_repeats(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select="(MEDIAN(DISTINCT ?y) AS ?n)"), output="rstream")
    m.push("s", ":a :p 2 . :b :p 2 . :c :p 2 . :d :p 4 . :e :p 9", at_ms=1)
    emits(q, "1 +4")


def test_group_concat_is_in_term_order_however_triples_arrive(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select="(GROUP_CONCAT(?y) AS ?n)"), output="rstream")
    m.push("s", ":a :p 10", at_ms=1)
    m.push("s", ":a :p 'b'", at_ms=2)
    m.push("s", ":a :p 9", at_ms=3)
    m.push("s", ":a :p 'a'", at_ms=4)
    emits(q, '1 +"10" | 2 +"10 b" | 3 +"9 10 b" | 4 +"9 10 a b"')


def test_group_concat_takes_a_separator_and_distinct(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select="(GROUP_CONCAT(DISTINCT ?y; SEPARATOR='+') AS ?n)"), output="rstream")
    m.push("s", ":a :p 2 . :b :p 1 . :c :p 2", at_ms=1)
    emits(q, '1 +"1+2"')


def test_sample_is_the_first_in_term_order(machine: MakeMachine) -> None:
    #  0    5    10
    #  b---------)
    #       c---------    RANGE 10
    #       4 a---9)      RANGE 5
    m = machine()
    q = m.register(
        "SELECT (SAMPLE(?y) AS ?n) { { STREAM :s [RANGE 10] { ?x :p ?y } } UNION { STREAM :t [RANGE 5] { ?x :p ?y } } }",
        output="changes",
    )
    m.push("s", ":x :p :b", at_ms=0)
    m.push("t", ":x :p :a", at_ms=4)
    m.push("s", ":x :p :c", at_ms=5)
    m.finish()
    emits(q, "0 +b | 4 -b +a | 9 -a +b | 10 -b +c | 15 -c +_")


def test_count_distinct_counts_a_value_until_its_last_triple_goes(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  a 1-------)
    #       b 1-------)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", select="(COUNT(DISTINCT ?y) AS ?n)"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=5)
    m.finish()
    emits(q, "0 +1 | 15 -1 +0")


def test_an_aggregate_counts_equal_rows_as_often_as_they_come(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("ALL", select="(SUM(?y) AS ?n)"), output="rstream")
    m.push("s", ":a :p 2 . :b :p 2", at_ms=1)
    emits(q, "1 +4")


def test_an_aggregate_joins_a_window_with_the_dataset(machine: MakeMachine) -> None:
    m = machine()
    m.load(":a :in :kitchen . :b :in :kitchen . :c :in :hall")
    q = m.register("SELECT ?r (AVG(?y) AS ?n) { STREAM :s [RANGE 10] { ?x :p ?y } ?x :in ?r } GROUP BY ?r", output="changes")
    m.push("s", ":a :p 10", at_ms=0)
    m.push("s", ":b :p 20 . :c :p 5", at_ms=2)
    m.delete(":b :in :kitchen", at_ms=3)
    emits(q, "0 +kitchen,10 | 2 -kitchen,10 +kitchen,15 +hall,5 | 3 -kitchen,15 +kitchen,10")
