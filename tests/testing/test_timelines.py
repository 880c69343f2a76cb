"""Timelines in Python: what passes, how each kind of wrong expectation fails, and what it then looks like."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

import pytest

from millstream.engine import Engine
from millstream.errors import DataError, OptionError, QuerySyntaxError
from millstream.testing import Timeline, check, read_spec

PREFIXES = {"": "http://example.org/"}
HOT = """
SELECT CHANGES ?room ?degrees WHERE {
  STREAM :readings [RANGE 10s] { ?sensor :shows ?degrees }
  ?sensor :in ?room
  FILTER (?degrees > 30)
}"""


def hot(**options: Any) -> Timeline:
    """Two readings, of which the second is hot."""
    #  0s   4s        14s
    #  21---35---------)        RANGE 10s
    timeline = Timeline(HOT, prefixes=PREFIXES, **options).dataset(":s1 :in :lab .")
    return timeline.push("0s", ":readings", ":s1 :shows 21 .").push("4s", ":readings", ":s1 :shows 35 .")


def expected() -> Timeline:
    return hot().expect("4s", +1, room=":lab", degrees=35).expect("14s", -1, room=":lab", degrees=35)


def failure(timeline: Timeline) -> str:
    with pytest.raises(AssertionError) as error:
        timeline.check()
    return str(error.value)


def test_exactly_what_is_expected_passes() -> None:
    expected().finish().check()


def test_without_an_end_time_passes_to_the_last_time_that_is_named() -> None:
    expected().check()
    hot().expect("4s", +1, room=":lab", degrees=35).expect_nothing(until="13999ms").check()


class TestWrongExpectations:
    def test_an_answer_that_does_not_come_is_missing(self) -> None:
        outcome = expected().expect("5s", +1, room=":hall", degrees=35).finish().run()
        assert (outcome.passed, outcome.missing, outcome.surplus) == (False, 1, 0)

    def test_an_answer_that_nobody_expects_is_surplus(self) -> None:
        outcome = hot().expect("4s", +1, room=":lab", degrees=35).finish().run()
        assert (outcome.passed, outcome.missing, outcome.surplus) == (False, 0, 1)

    def test_another_time_is_told(self) -> None:
        drawn = failure(hot().expect("4s", +1, room=":lab", degrees=35).expect("13s", -1, room=":lab", degrees=35).finish())
        assert "missing: it came at 14s" in drawn
        assert "surplus: expected at 13s" in drawn

    @pytest.mark.parametrize("degrees", [36, 35.0, '"35"', "35.0"])
    def test_another_value_or_datatype_is_another_answer(self, degrees: object) -> None:
        outcome = hot().expect("4s", +1, room=":lab", degrees=degrees).run()
        assert (outcome.missing, outcome.surplus) == (1, 1)

    def test_an_unbound_variable_is_not_a_bound_one(self) -> None:
        outcome = hot().expect("4s", +1, room=":lab").run()
        assert (outcome.missing, outcome.surplus) == (1, 1)

    def test_taken_back_is_not_given(self) -> None:
        outcome = hot().expect("4s", -1, room=":lab", degrees=35).run()
        assert (outcome.missing, outcome.surplus) == (1, 1)

    def test_how_often_counts(self) -> None:
        twice = Timeline("SELECT ?x { STREAM :s [RANGE 1s] { ?y :p ?x } }", prefixes=PREFIXES)
        twice.push(0, ":s", ":a :p 1 . :b :p 1 .")
        outcome = twice.expect(0, +1, x=1).run()
        assert (outcome.missing, outcome.surplus) == (0, 1)
        twice.expect(0, +1, x=1).check()

    def test_nothing_is_nothing(self) -> None:
        assert hot().expect_nothing().run().surplus == 1
        hot().expect("4s", +1, room=":lab", degrees=35).expect_nothing("13s").check()
        outcome = hot().expect("4s", +1, room=":lab", degrees=35).expect_nothing("14s").run()
        assert outcome.surplus == 1

    def test_late_input_is_expected_or_wrong(self) -> None:
        late = hot().expect("4s", +1, room=":lab", degrees=35).push("3s", ":readings", ":s1 :shows 40 .")
        assert "1 came too late, expected 0" in failure(late)
        assert "push :readings :s1 :shows 40 (late)" in failure(late)
        late.expect_late(1).check()
        in_time = hot(lateness="2s").push("3s", ":readings", ":s1 :shows 40 .").finish()
        for at, weight, degrees in (("3s", 1, 40), ("4s", 1, 35), ("13s", -1, 40), ("14s", -1, 35)):
            in_time.expect(at, weight, room=":lab", degrees=degrees)
        in_time.check()
        assert "0 came too late, expected 1" in failure(in_time.expect_late(1))

    def test_answers_that_depend_on_cuts_are_a_bug_here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Engine, "push_many", lambda *_: None)
        assert "depend on how input is cut" in failure(expected())


def test_a_failure_is_drawn() -> None:
    timeline = hot(name="hot rooms").insert("5s", ":s2 :in :hall .").push("6s", ":readings", ":s2 :shows 31 .")
    timeline.expect("4s", +1, room=":lab", degrees=35).expect("6s", +1, room=":hall", degrees=32).finish()
    timeline.expect("14s", -1, room=":lab", degrees=35)
    assert (
        str(timeline.run())
        == """\
hot rooms: failed, 4 answers: 1 missing, 2 surplus
  window: :readings [RANGE 10s]

  time  window  input                         expected                    came
  0s    ┬       push :readings :s1 :shows 21
  4s    │ ┬     push :readings :s1 :shows 35  +1 ?room=:lab ?degrees=35   +1 ?room=:lab ?degrees=35
  5s    │ │     insert :s2 :in :hall
  6s    │ │ ┬   push :readings :s2 :shows 31  +1 ?room=:hall ?degrees=32                              < missing
  6s    │ │ │                                                             +1 ?room=:hall ?degrees=31  < surplus
  10s   ┴ │ │
  14s     ┴ │                                 -1 ?room=:lab ?degrees=35   -1 ?room=:lab ?degrees=35
  16s       ┴                                                             -1 ?room=:hall ?degrees=31  < surplus"""
    )


def test_windows_of_a_grid_are_drawn_from_where_they_show_an_element() -> None:
    timeline = Timeline(
        "SELECT ?x ?z { STREAM :a [RANGE 4s STEP 2s] { ?x :p ?y } STREAM :b [ELEMENTS 2] { ?y :q ?z } }", prefixes=PREFIXES
    )
    timeline.push("1s", ":a", ":x :p :y .").push("3s", ":b", ":y :q :z .").finish().expect_nothing()
    assert (
        str(timeline.run())
        == """\
timeline: failed, 1 answer: 1 surplus
  window 1: :a [RANGE 4s STEP 2s]
  window 2: :b [ELEMENTS 2]  (not drawn: time alone does not end it)

  time  window  input             expected  came
  1s            push :a :x :p :y
  2s    ┬
  3s    │       push :b :y :q :z            +1 ?x=:x ?z=:z  < surplus
  6s    ┴"""
    )


def test_of_a_long_timeline_what_is_around_the_failures_is_drawn() -> None:
    timeline = Timeline("SELECT ?x { STREAM :s [NOW] { :a :p ?x } }", prefixes=PREFIXES)
    for second in range(200):
        timeline.push(f"{second}s", ":s", f":a :p {second} .").expect(f"{second}s", x=second if second != 120 else 0)
    lines = str(timeline.run()).splitlines()
    assert len(lines) < 30
    assert sum("..." in line for line in lines) == 2
    assert any("?x=120" in line for line in lines)


class TestForms:
    def test_construct_expects_triples(self) -> None:
        timeline = Timeline("CONSTRUCT { ?x :hot true } { STREAM :s [RANGE 1s] { ?x :is ?y } }", prefixes=PREFIXES)
        timeline.push(0, ":s", ":a :is 1 . :b :is 2 .").expect(0, +1, ":a :hot true . :b :hot true .").check()
        assert timeline.expect(0, +1, ":c :hot true .").run().missing == 1

    def test_ask_expects_a_boolean(self) -> None:
        timeline = Timeline("ASK { STREAM :s [RANGE 1s] { ?x :is 1 } }", prefixes=PREFIXES, output="changes")
        timeline.push(0, ":s", ":a :is 1 .").expect(0, +1, True).expect("1s", -1, True).expect("1s", +1, False).check()

    def test_an_answer_of_another_form_is_refused(self) -> None:
        ask = Timeline("ASK { ?x ?p 1 }")
        with pytest.raises(DataError, match="the query is ASK: an answer is true or false"):
            ask.expect(0, +1, x=1)
        with pytest.raises(DataError, match="the query is SELECT"):
            hot().expect(0, +1, True)

    def test_any_blank_node_is_any_other(self) -> None:
        timeline = Timeline("CONSTRUCT { [] :of ?x } { STREAM :s [RANGE 1s] { ?x :is ?y } }", prefixes=PREFIXES)
        timeline.push(0, ":s", ":a :is 1 .").expect(0, +1, "_:any :of :a .").check()

    def test_numbers_are_compared_by_value(self) -> None:
        timeline = Timeline("SELECT (AVG(?y) AS ?avg) { STREAM :s [RANGE 1s] { ?x :is ?y } }", prefixes=PREFIXES)
        timeline.push(0, ":s", ":a :is 30 . :b :is 31 .").expect(0, +1, avg="30.50").check()

    def test_queries_may_read_what_others_construct(self) -> None:
        hot_rooms = (
            "REGISTER STREAM :hot AS CONSTRUCT { ?r :hot ?d } { STREAM :readings [NOW] { ?r :shows ?d } FILTER (?d > 30) }"
        )
        count = "SELECT (COUNT(*) AS ?n) { STREAM :hot [RANGE 10s] { ?r :hot ?d } }"
        timeline = Timeline(hot_rooms, count, prefixes=PREFIXES)
        timeline.push(0, ":readings", ":a :shows 35 .").push("1s", ":readings", ":b :shows 20 . :c :shows 36 .")
        timeline.expect(0, n=1).expect("1s", n=2).check()


class TestGivenThings:
    def test_triples_and_values_may_be_python_objects(self) -> None:
        timeline = Timeline(HOT, prefixes=PREFIXES).dataset([("<http://example.org/s1>", "<http://example.org/in>", "lab")])
        timeline.push(0, "http://example.org/readings", [("<http://example.org/s1>", "<http://example.org/shows>", 35)])
        timeline.expect(0, room='"lab"', degrees=35).check()

    def test_queries_and_datasets_may_be_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("hot.rq").write_text("PREFIX : <http://example.org/>" + HOT)
        Path("rooms.ttl").write_text("@prefix : <http://example.org/> . :s1 :in :lab .")
        # The prefixes of the query are those of the timeline.
        timeline = Timeline("hot.rq").dataset(tmp_path / "rooms.ttl").push(0, ":readings", ":s1 :shows 35 .")
        timeline.expect(0, room=":lab", degrees=35).check()
        with pytest.raises(DataError, match=r"nowhere.rq: cannot be read"):
            Timeline("nowhere.rq")

    def test_a_wrong_query_is_placed_in_its_own_text(self) -> None:
        with pytest.raises(QuerySyntaxError) as error:
            Timeline("SELECT ?x {\n  OPTIONL { ?x ?q ?z } }", prefixes=PREFIXES)
        assert (error.value.line, error.value.column, error.value.suggestion) == (2, 3, "did you mean OPTIONAL?")
        assert error.value.source_line == "  OPTIONL { ?x ?q ?z } }"

    @pytest.mark.parametrize(
        ("call", "reason"),
        [
            (lambda: hot().push("5x", ":readings"), "the unit 'x' is not known"),
            (lambda: hot().push("", ":readings"), "not a duration"),
            (lambda: hot().push(0, "nothing:readings"), "prefix nothing: has not been declared"),
            (lambda: hot().push(0, '"text"'), "not an IRI"),
            (lambda: hot().push(0, ":readings", ":s1 :shows"), "line 1"),
            (lambda: hot().expect(0, rom=1), r"\?rom: the query has no such variable; it has \?room, \?degrees"),
            (lambda: hot().expect(0, room="1, 2"), "not one term"),
            (lambda: hot().expect(0, 0, room=1), "at least once"),
            (lambda: hot().finish().push(0, ":readings"), "input has ended"),
            (lambda: hot().expect("5s", room=1).expect_nothing("4s"), "in the order of time"),
            (lambda: hot().expect_nothing("9s").expect("4s", room=1), "expected where nothing is"),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, call: Any, reason: str) -> None:
        with pytest.raises(DataError, match=reason):
            call()

    @pytest.mark.parametrize(
        "call",
        [
            lambda: hot(lateness="-1s"),
            lambda: hot(output="everything"),
            lambda: hot().run("flink"),
            lambda: Timeline().expect(0),
        ],
    )
    def test_options_that_there_are_not_are_refused(self, call: Any) -> None:
        with pytest.raises(OptionError):
            call()


class TestInUnittest(unittest.TestCase):
    def test_a_spec_is_checked(self) -> None:
        spec = """\
prefix : <http://e/>
query
    SELECT ?x { STREAM :s [NOW] { ?x :p :y } }
at 1s push :s :x :p :y .
expect at 1s +1 ?x=:x
"""
        check(spec)
        with pytest.raises(AssertionError, match="1 missing"):
            check(spec + "expect at 2s +1 ?x=:x")
        assert len(read_spec(spec).events) == 1


def test_the_failure_that_the_documentation_shows_is_the_one_of_its_spec() -> None:
    page = (Path(__file__).parents[2] / "docs" / "testing.md").read_text("utf-8")
    spec = page.partition("```check\n")[2].partition("```")[0]
    timeline = read_spec(spec.replace("at 6s +1 ?room=:hall ?degrees=31", "at 6s +1 ?room=:hall ?degrees=32"))
    timeline.name = "hot.check"
    assert f"```text\n{timeline.run()}\n```" in page
