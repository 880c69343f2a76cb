"""What is emitted of the answer sets: ISTREAM, DSTREAM, RSTREAM, CHANGES, their defaults, and ASK."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over, row_text

# One timeline, four outputs -------------------------------------------------------------------------------------------

TWO_TRIPLES = {
    #  0    5    10   15
    #  a---------)
    #       b---------)   RANGE 10
    "istream": "0 +a | 5 +b",
    "dstream": "10 +a | 15 +b",
    "rstream": "0 +a | 5 +a +b | 10 +b",
    "changes": "0 +a | 5 +b | 10 -a | 15 -b",
}


@pytest.mark.parametrize("output", TWO_TRIPLES)
def test_each_output_emits_its_part_of_the_changes(machine: MakeMachine, output: str) -> None:
    m = machine()
    q = m.register(over("RANGE 10"), output=output)
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=5)
    m.finish()
    emits(q, TWO_TRIPLES[output])


TWO_EQUAL_ROWS = {
    #  0    5    10   15
    #  a p 1-----)
    #       a p 2-----)   RANGE 10
    "istream": "0 +a | 5 +a",
    "dstream": "10 +a | 15 +a",
    "rstream": "0 +a | 5 +a +a | 10 +a",
    "changes": "0 +a | 5 +a | 10 -a | 15 -a",
}


@pytest.mark.parametrize("output", TWO_EQUAL_ROWS)
def test_differences_of_answer_sets_are_those_of_multisets(machine: MakeMachine, output: str) -> None:
    m = machine()
    q = m.register(over("RANGE 10"), output=output)
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :p 2", at_ms=5)
    m.finish()
    emits(q, TWO_EQUAL_ROWS[output])


ON_A_GRID = {
    #  0 1  5 6  10   15
    #  .    .    .    .
    #    a  ----------)
    #         b  --------...   RANGE 10 STEP 5
    "istream": "5 +a | 10 +b",
    "dstream": "15 +a",
    "rstream": "5 +a | 10 +a +b | 15 +b",
    "changes": "5 +a | 10 +b | 15 -a",
}


@pytest.mark.parametrize("output", ON_A_GRID)
def test_each_output_works_when_windows_close(machine: MakeMachine, output: str) -> None:
    m = machine()
    q = m.register(over("RANGE 10 STEP 5"), output=output)
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":b :p 1", at_ms=6)
    m.advance_to(15)
    emits(q, ON_A_GRID[output])


def test_a_row_that_another_triple_gives_on_is_not_emitted_again(machine: MakeMachine) -> None:
    #  1     2
    #  a p 1-)
    #        a p 2---     TRIPLES 1: the row is a before and after
    m = machine()
    q = m.register(over("TRIPLES 1"), output="changes")
    m.push("s", ":a :p 1", at_ms=1)
    m.push("s", ":a :p 2", at_ms=2)
    emits(q, "1 +a")


def test_an_answer_carries_the_time_of_the_change_not_of_its_triples(machine: MakeMachine) -> None:
    #  0     7
    #  a p 1-----
    #        a q 2---
    m = machine()
    q = m.register(over("RANGE 10", "?x :p ?y . ?x :q ?z"))
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :q 2", at_ms=7)
    emits(q, "7 +a")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("window", ["RANGE 7", "RANGE 6 SLIDE 4", "RANGE 6 STEP 4", "TRIPLES 3", "EVENT", "SESSION 3"])
def test_the_weights_of_changes_add_up_to_the_answer_set(machine: MakeMachine, window: str, seed: int) -> None:
    chance = random.Random(seed)
    m = machine()
    m.load(":a :knows :b . :b :knows :c")
    q = m.register(f"SELECT ?x ?z {{ STREAM :s [{window}] {{ ?x :p ?y }} OPTIONAL {{ ?x :knows ?z }} }}", output="changes")
    at_ms = 0
    for _ in range(25):
        at_ms += chance.choice((0, 0, 1, 3, 8))
        edge = f":{chance.choice('abc')} :knows :{chance.choice('abc')}"
        match chance.randrange(4):
            case 0:
                m.insert(edge, at_ms=at_ms)
            case 1:
                m.delete(edge, at_ms=at_ms)
            case _:
                m.push("s", f":{chance.choice('abc')} :p {chance.randrange(2)}", at_ms=at_ms)
        total: Counter[str] = Counter()
        for _, weight, row in q.emitted():
            total[row_text(row)] += weight
            assert total[row_text(row)] >= 0
        assert +total == q.answer_set()


# Defaults -------------------------------------------------------------------------------------------------------------


def run_two_triples(machine: MakeMachine, text: str, output: str | None = None) -> str:
    """Which output a query has, told from what it emits of the timeline drawn first."""
    m = machine()
    q = m.register(text, output=output)
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=5)
    m.finish()
    found = []
    for name, expected in TWO_TRIPLES.items():
        try:
            emits(q, expected)
        except AssertionError:
            continue
        found.append(name)
    (only,) = found
    return only


DIALECTS = {
    "cqels": ("SELECT ?x { STREAM :s [RANGE 10] { ?x :p ?y } }", "istream"),
    "cqels, window first": ("SELECT ?x { STREAM [RANGE 10] :s { ?x :p ?y } }", "istream"),
    "c-sparql": ("SELECT ?x FROM STREAM :s [RANGE 10] { ?x :p ?y }", "rstream"),
    "c-sparql, registered": ("REGISTER QUERY q AS SELECT ?x FROM STREAM :s [RANGE 10] { ?x :p ?y }", "rstream"),
    "rsp-ql": ("SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE PT0.01S] { WINDOW :w { ?x :p ?y } }", "rstream"),
    "rsp-ql, unnamed": ("SELECT ?x FROM WINDOW ON :s [RANGE 10] { ?x :p ?y }", "rstream"),
    "rsp-ql, istream": (
        "REGISTER ISTREAM :out AS SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE 10] { WINDOW :w { ?x :p ?y } }",
        "istream",
    ),
    "rsp-ql, dstream": (
        "REGISTER DSTREAM :out AS SELECT ?x FROM NAMED WINDOW :w ON STREAM :s [RANGE 10] { WINDOW :w { ?x :p ?y } }",
        "dstream",
    ),
    "rsp-ql, rstream": (
        "REGISTER RSTREAM :out AS SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE 10] { WINDOW :w { ?x :p ?y } }",
        "rstream",
    ),
    "select, rstream": ("SELECT RSTREAM ?x { STREAM :s [RANGE 10] { ?x :p ?y } }", "rstream"),
    "select, changes": ("SELECT CHANGES ?x { STREAM :s [RANGE 10] { ?x :p ?y } }", "changes"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_clauses_of_a_query_choose_its_output(machine: MakeMachine, dialect: str) -> None:
    text, output = DIALECTS[dialect]
    assert run_two_triples(machine, text) == output


@pytest.mark.parametrize("output", TWO_TRIPLES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_caller_chooses_the_output_over_the_text(machine: MakeMachine, dialect: str, output: str) -> None:
    text, _ = DIALECTS[dialect]
    assert run_two_triples(machine, text, output) == output


def test_without_a_stream_clause_a_query_gives_changes(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x { ?x :p ?y }")
    m.insert(":a :p 1", at_ms=1)
    m.delete(":a :p 1", at_ms=2)
    emits(q, "1 +a | 2 -a")


def test_the_caller_may_ask_for_another_output_over_datasets(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x { ?x :p ?y }", output="rstream")
    m.insert(":a :p 1", at_ms=1)
    m.insert(":b :p 1", at_ms=2)
    emits(q, "1 +a | 2 +a +b")


# ASK ------------------------------------------------------------------------------------------------------------------


def test_ask_tells_when_its_truth_changes(machine: MakeMachine) -> None:
    #  1     3         13
    #  z
    #        a---------)  RANGE 10
    m = machine()
    q = m.register("ASK { STREAM :s [RANGE 10] { ?x :p ?y } }", output="changes")
    m.push("s", ":z :other 1", at_ms=1)
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "1 +false | 3 -false +true | 13 -true +false")


def test_the_first_answer_of_ask_is_a_change(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("ASK { STREAM :s [RANGE 10] { ?x :p ?y } }")
    m.push("s", ":a :p 1", at_ms=3)
    emits(q, "3 +true")


def test_ask_does_not_repeat_itself_in_istream(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("ASK { STREAM :s [RANGE 10] { ?x :p ?y } }", output="istream")
    m.push("s", ":a :p 1", at_ms=3)
    m.push("s", ":b :p 1", at_ms=4)
    m.finish()
    emits(q, "3 +true | 14 +false")


def test_ask_answers_at_every_instant_in_rstream(machine: MakeMachine) -> None:
    #  0 3  5    10   15
    #  .    .    .    .
    #    a  -----)        RANGE 5 STEP 5
    m = machine()
    q = m.register("ASK FROM STREAM :s [RANGE 5 STEP 5] { ?x :p ?y }")
    m.push("s", ":a :p 1", at_ms=3)
    m.advance_to(15)
    emits(q, "5 +true | 10 +false | 15 +false")


def test_ask_over_datasets_answers_at_registration(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("ASK { ?x :p ?y }")
    m.insert(":a :p 1", at_ms=4)
    m.insert(":b :p 1", at_ms=5)
    m.delete(":a :p 1 . :b :p 1", at_ms=6)
    emits(q, "0 +false | 4 -false +true | 6 -true +false")
