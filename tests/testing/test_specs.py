"""SPECs: what their statements mean, and where a complaint points."""

from __future__ import annotations

from pathlib import Path

import pytest

from millstream.errors import DataError
from millstream.testing import read_spec
from millstream.testing.timeline import Timeline

HEAD = """\
prefix : <http://e/>
query
    SELECT ?x ?y { STREAM :s [RANGE 10s] { ?x :p ?y } }
"""
ROWS = HEAD.count("\n")


def passes(text: str) -> Timeline:
    timeline = read_spec(text)
    outcome = timeline.run()
    assert outcome.passed, str(outcome)
    return timeline


def test_everything_in_one() -> None:
    timeline = passes("""\
# Comments stand anywhere.
@prefix : <http://e/> .
PREFIX g: <http://graphs/>
query
    # Also in a query.
    SELECT CHANGES ?x ?z WHERE {

      STREAM :s [RANGE 10s] { ?x :p ?y }
      GRAPH g:one { ?y :q ?z }
    }
dataset g:one
    :y :q "a # b" .
lateness 1s   # so much
t0 0s
output changes

at 1s push :s
    :x :p :y .   # Turtle over several lines
    :x :p :other .
at 500ms push :s  :w :p :y .
at 2s insert into g:one  :other :q 2.5 .
expect at 500ms +1 ?x=:w ?z="a # b"
expect at 1s +1 ?x=:x ?z="a # b"   # one
expect at 2s
    +1 ?x=:x ?z=2.50
at 3s delete from g:one  :y :q "a # b" .
expect at 3s
    -1 ?x=:x ?z="a # b"
    # between answers too
    -1 ?z="a # b" ?x=:w
expect nothing until 9s
finish
expect at 11s -1 ?x=:x ?z=2.5
expect late 0
""")
    assert [event.call for event in timeline.events] == ["push", "push", "insert", "delete"]
    assert timeline.lateness_ms == 1000


def test_files_are_looked_for_beside_the_spec(tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text(
        "PREFIX : <http://e/> SELECT ?x { STREAM :s [NOW] { ?x :p ?y } GRAPH :g { ?y :is ?z } ?y :is ?w }"
    )
    (tmp_path / "a file.ttl").write_text("@prefix : <http://e/> . :y :is 1 .")
    spec = tmp_path / "spec.check"
    spec.write_text(
        'query q.rq\ndataset "a file.ttl"\ndataset :g "a file.ttl"\nat 0 push :s :x :p :y .\nexpect at 0 +1 ?x=:x\n'
    )
    assert read_spec(spec).run().passed
    assert read_spec(str(spec)).run().passed


def test_times_are_durations_dates_or_milliseconds() -> None:
    times = ["0", "250", "1s", "1m30s", "PT10M", "1970-01-01T01:00:00Z", "1h0.5s"]
    text = HEAD + "".join(f"at {time} push :t\n" for time in times) + "expect nothing\n"
    assert [event.at_ms for event in passes(text).events] == [0, 250, 1000, 90_000, 600_000, 3_600_000, 3_600_500]


def test_time_passes_without_an_element() -> None:
    passes(
        HEAD + "at 1s advance\nat 1s push :s :a :p 1 .\nat 2s push :s :b :p 1 .\nexpect at 2s +1 ?x=:b ?y=1\nexpect late 1\n"
    )


def test_an_element_may_be_empty() -> None:
    passes(HEAD.replace("RANGE 10s", "EVENT") + "output changes\nat 0 push :s :a :p 1 .\nat 1s push :s\n"
           "expect at 0 +1 ?x=:a ?y=1\nexpect at 1s -1 ?x=:a ?y=1\n")  # fmt: skip


def test_the_last_query_is_looked_at() -> None:
    passes("""\
prefix : <http://e/>
query
    REGISTER STREAM :t AS CONSTRUCT { ?x :q ?y } { STREAM :s [NOW] { ?x :p ?y } }
query
    SELECT ?y { STREAM :t [NOW] { ?x :q ?y } }
at 0s push :s :a :p 1 .
expect at 0s +1 ?y=1
""")


@pytest.mark.parametrize(
    ("form", "answer", "wrong"),
    [
        ("SELECT ?x ?y", '?x=<http://e/a> ?y="1 ?x=2"', '?x=:a ?y="1 ?x=3"'),
        ("SELECT ?x ?y", "?y = '1 ?x=2' ?x = :a", "?x=:a"),
        ("CONSTRUCT { ?y :of ?x }", None, None),
        ("CONSTRUCT { ?x :of ?y }", ':a :of "1 ?x=2" .', ':a :of "2" .'),
        ("ASK", "true", "false"),
    ],
)
def test_answers_of_every_form(form: str, answer: str | None, wrong: str | None) -> None:
    text = HEAD.replace("SELECT ?x ?y", form) + 'at 0 push :s :a :p "1 ?x=2" .\n'
    if answer is None:
        passes(text + "expect nothing\n")
        return
    passes(text + f"expect at 0 +1 {answer}\n")
    assert not read_spec(text + f"expect at 0 +1 {wrong}\n").run().passed


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("  at 0 push", 1, 3, "belongs to a statement above it"),
        ("puhs :s", 1, 1, "found `puhs`, expected one of prefix, query"),
        ("prefix ex <http://e/>", 1, 8, "a prefix with a colon"),
        ("prefix ex: http://e/", 1, 12, "an IRI in angle brackets"),
        ("prefix ex:", 1, 11, "expected an IRI"),
        ("query", 1, 6, "found no query"),
        ("query\n    SELECT ?x {\n        OPTIONL { ?x ?p ?y } }", 3, 9, "did you mean OPTIONAL"),
        ("query nowhere.rq", 1, 7, "nowhere.rq: cannot be read: no such file"),
        ("at 0s push :s :a :b :c .", 1, 1, "`at` before the query"),
        (HEAD + "dataset nowhere.ttl", ROWS + 1, 9, "nowhere.ttl: no such file"),
        (HEAD + "dataset\n    :a :b", ROWS + 2, 10, "triples end with a dot"),
        (HEAD + "dataset", ROWS + 1, 8, "found no triples"),
        (HEAD + "dataset x:g\n    :a :b :c .", ROWS + 1, 9, "prefix x: has not been declared"),
        (HEAD + "lateness soon", ROWS + 1, 10, "not a duration"),
        (HEAD + "lateness 5s or so", ROWS + 1, 13, "found `or`, expected the end of the line"),
        (HEAD + "lateness 5s\n    :a", ROWS + 2, 5, "an indented line, but `lateness` takes none"),
        (HEAD + "output all", ROWS + 1, 8, "it is one of"),
        (HEAD + "at", ROWS + 1, 3, "expected a time"),
        (HEAD + "at 5", ROWS + 1, 5, "expected push, insert, delete or advance"),
        (HEAD + "at 5x advance", ROWS + 1, 4, "the unit 'x' is not known"),
        (HEAD + "at 1s psh :s", ROWS + 1, 7, "found `psh`"),
        (HEAD + "at 1s push", ROWS + 1, 11, "expected a stream"),
        (HEAD + 'at 1s push "s"', ROWS + 1, 12, "not an IRI"),
        (HEAD + "at 1s push x:s", ROWS + 1, 12, "prefix x: has not been declared"),
        (HEAD + "at 1s push :s  :a :b x:c .", ROWS + 1, 22, "prefix x: has not been declared"),
        (HEAD + "at 1s push :s  :a :b :c .\n    :d :e x:f .", ROWS + 2, 11, "prefix x: has not been declared"),
        (HEAD + "at 1s insert", ROWS + 1, 13, "found no triples"),
        (HEAD + "at 1s delete from", ROWS + 1, 18, "expected a graph"),
        (HEAD + "at 1s advance 3", ROWS + 1, 15, "expected the end of the line"),
        (HEAD + "expect", ROWS + 1, 7, "expected at, nothing or late"),
        (HEAD + "expect 5s", ROWS + 1, 8, "expected at, nothing or late"),
        (HEAD + "expect at 5s", ROWS + 1, 13, "found no answer"),
        (HEAD + "expect at 5s 1 ?x=1", ROWS + 1, 14, "found `1`, expected +1"),
        (HEAD + "expect at 5s\n    +1 ?x=1\n    ?x=2", ROWS + 3, 5, "found `?x=2`, expected +1"),
        (HEAD + "expect at 5s +0 ?x=1", ROWS + 1, 14, "expected +1"),
        (HEAD + "expect at 5s +1 x=1", ROWS + 1, 17, "found `x=1`, expected ?name=value"),
        (HEAD + "expect at 5s +1 ?z=1", ROWS + 1, 17, "no such variable; it has ?x, ?y"),
        (HEAD + "expect at 5s +1 ?x=1 ?x=2", ROWS + 1, 22, "has a value already"),
        (HEAD + "expect at 5s +1 ?x=1 ?y=e:f", ROWS + 1, 25, "prefix e: has not been declared"),
        (HEAD + "expect at 5s +1 ?x=1 2", ROWS + 1, 22, "2 is not"),
        (HEAD + "expect at 5s +1 ?x=", ROWS + 1, 20, "nothing: not one term"),
        (HEAD + "expect nothing til 5s", ROWS + 1, 16, "found `til`, expected `until`"),
        (HEAD + "expect nothing until", ROWS + 1, 21, "expected a time"),
        (HEAD + "expect at 5s +1 ?x=1\nexpect nothing until 5s", ROWS + 2, 8, "in the order of time"),
        (HEAD + "expect nothing until 5s\nexpect at 5s +1 ?x=1", ROWS + 2, 14, "expected where nothing is"),
        (HEAD + "expect late some", ROWS + 1, 13, "expected how many"),
        (HEAD + "finish now", ROWS + 1, 8, "expected the end of the line"),
        (HEAD + "finish\nat 1s push :s", ROWS + 2, 14, "input has ended"),
        (HEAD + "expect nothing\ndataset x.ttl", ROWS + 2, 1, "`dataset` stands before everything"),
    ],
)
def test_a_complaint_says_where(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(DataError) as error:
        read_spec(text + "\n")
    assert reason in error.value.reason
    assert (error.value.line, error.value.column) == (line, column)
    assert error.value.text == text.split("\n")[line - 1]


def test_a_spec_has_a_query_and_an_expectation() -> None:
    with pytest.raises(DataError, match="there is no query"):
        read_spec("# nothing\n\n")
    with pytest.raises(DataError, match="nothing is expected"):
        read_spec(HEAD + "at 0 push :s :a :p 1 .\n")
