"""Other engines as processes: what goes over the pipes, and what is said of one that does not keep to it."""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import catalogue, report, running
from benchmarks.curves import Curves
from benchmarks.experiments import linked_data
from benchmarks.peers import adapter, ours, pathway_adapter
from benchmarks.peers.contents import Element, sliding
from benchmarks.peers.leading import Place, lead, per_second
from benchmarks.peers.pathway_adapter import Heard, Step
from benchmarks.peers.question import Comparison, Question
from benchmarks.report import Part

FAKE, MIRROR = (Path(__file__).parent / f"{kind}_adapter.py" for kind in ("fake", "mirror"))
P, Q = "<http://example.org/p>", "<http://example.org/q>"
QUESTION = Question([("?a", P, "?b"), ("?b", Q, "?c")])
QUERY = QUESTION.over(ours.STREAM, "RANGE 15ms")


def elements() -> Iterator[Element]:
    for k in range(40):
        yield Element(k, [(f"<n:{k % 5}>", (P, Q)[k % 2], f"<n:{k * 3 % 5}>"), (f"<n:{k % 3}>", Q, f'"{k} \\"x\\""')])


def tell(manner: str, limit_s: float = 60) -> adapter.Told | None:
    command = [sys.executable, str(FAKE), manner]
    return adapter.tell(command, QUESTION.variables, adapter.messages(QUERY, ours.STREAM, elements()), limit_s)


def test_an_adapter_hears_the_stream_and_its_answers_are_compared() -> None:
    told = tell("well")
    assert told is not None
    assert told.appeared == ours.appeared(QUERY, ours.as_table(list(elements())))
    assert told.appeared.total() > 20
    assert told.seconds > 0


def test_an_adapter_with_other_answers_is_not_taken_for_ours() -> None:
    told = tell("late")
    assert told is not None
    assert told.appeared != ours.appeared(QUERY, ours.as_table(list(elements())))


def test_answers_of_batches_have_the_number_of_their_batch() -> None:
    lines = ["ready ?a", "batch 10", "answer 9 +1 <n:1>", "answer 10 +1 <n:1>", "answer 19 -1 <n:1>", "took 5"]
    told = adapter.heard(lines, ("a",))
    assert told.batch_ms == 10
    assert told.appeared == Counter({(0, ("<n:1>",)): 1, (1, ("<n:1>",)): 1})


def test_what_comes_and_goes_within_a_batch_is_not_seen_at_its_end() -> None:
    #  0    5    10   15
    #  x----)              within the first
    #       y------)       over its end
    changes = [(0, 1, "x"), (5, -1, "x"), (5, 1, "y"), (12, -1, "y")]
    assert ours.netted(changes, 10) == Counter({(0, ("y",)): 1})
    assert ours.netted(changes, 1) == Counter({(0, ("x",)): 1, (5, ("y",)): 1})


def test_an_adapter_that_ends_says_why() -> None:
    with pytest.raises(adapter.AdapterError, match=r"ended with code 1: no such jar"):
        tell("broken")


def test_what_an_error_says_is_found_among_other_complaints() -> None:
    complaints = "Traceback:\n  File x\nValueError: no such column\nlog.py:3: UserWarning: unused\n  warn("
    assert adapter._reason(complaints) == "ValueError: no such column"
    assert adapter._reason("Exception in thread main\njava.lang.IllegalStateException: closed\n\tat A.b\n").endswith(
        ": closed"
    )
    assert adapter._reason("") == "no message"


def test_an_adapter_that_is_not_there_is_told() -> None:
    with pytest.raises(adapter.AdapterError, match="cannot be run: No such file"):
        adapter.tell(["./no-such-program"], [], ["end\n"], 60)


def test_the_version_of_pathway_is_that_of_its_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(adapter.PATHWAY_PYTHON, "./no-such-python")
    assert adapter.pathway_version() is None
    monkeypatch.setenv(adapter.PATHWAY_PYTHON, "/bin/echo")
    assert "version('pathway')" in (adapter.pathway_version() or "")


def test_an_adapter_that_never_says_how_long_it_took_is_refused() -> None:
    with pytest.raises(adapter.AdapterError, match="without ready and took"):
        tell("mute")


def test_an_adapter_that_takes_too_long_is_stopped() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert adapter.tell(command, QUESTION.variables, ["end\n"], 0.3) is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("hello", "not a message"),
        ("answer 3 +1 <a>", "an answer before ready"),
        ("ready ?a ?b\nanswer 3 +1 <a>", "index"),
        ("ready ?b", "not in list"),
        ("ready ?a ?b\ntook long", "invalid literal"),
    ],
)
def test_what_is_not_in_the_protocol_is_told_with_its_line(line: str, reason: str) -> None:
    with pytest.raises(adapter.AdapterError, match=rf"line {line.count(chr(10)) + 1} of an adapter.*{reason}"):
        adapter.heard(line.splitlines(), ["a", "b"])


def test_adapters_are_named_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(adapter.VARIABLE, "CQELS = java -jar 'my cqels.jar'; other=./run")
    monkeypatch.setenv(adapter.PATHWAY_PYTHON, "/opt/python")
    found = adapter.adapters()
    assert found["CQELS"] == ["java", "-jar", "my cqels.jar"]
    assert found["other"] == ["./run"]
    assert found[adapter.PATHWAY][0] == "/opt/python"
    monkeypatch.setenv(adapter.VARIABLE, "CQELS")
    with pytest.raises(adapter.AdapterError, match="not NAME=command"):
        adapter.adapters()


def test_every_adapter_is_led_and_what_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = "; ".join(f"{manner}={sys.executable} {FAKE} {manner}" for manner in ("well", "late", "broken"))
    monkeypatch.setenv(adapter.VARIABLE, commands)
    monkeypatch.delenv(adapter.PATHWAY_PYTHON, raising=False)
    curves, part = Curves(), Part("part", "About it.")
    lead(QUESTION, QUERY, list(elements()), Place(40, "window 40", per_second(80)), curves, part)
    assert (curves.at("well", 40) or 0) > 0
    assert curves.at("late", 40) is None
    told = " ".join(part.missing)
    assert re.search(r"late, window 40: other answers, (\d+) too many, \1 missing", told)
    assert "broken, window 40: " in told


@pytest.mark.parametrize("name", ["windows", "break-even", "sliding", "incremental", "dynamic"])
@pytest.mark.slow
def test_an_experiment_takes_adapters_in(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(adapter.VARIABLE, f"refuses={sys.executable} {FAKE} refuse; well={sys.executable} {FAKE} well")
    monkeypatch.delenv(adapter.PATHWAY_PYTHON, raising=False)
    part = running.run_one(catalogue.benchmarks()[name], "smoke", report.Progress())
    assert any(line.startswith("refuses, ") and "does not take this query: none at all" in line for line in part.missing)
    assert not [line for line in part.missing if line.startswith("well")]
    tables = [table for table in part.tables if "well" in table.columns]
    assert tables
    for table in tables:
        shown = [row[list(table.columns).index("well")] for row in table.rows]
        assert any(isinstance(value, float) and value > 0 for value in shown)


def test_what_is_written_of_graphs_and_streams_is_enough_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(adapter.VARIABLE, f"refuses={sys.executable} {FAKE} refuse; mirror={sys.executable} {MIRROR}")
    monkeypatch.delenv(adapter.PATHWAY_PYTHON, raising=False)
    part = Part("part", "About it.")
    linked_data.lead_engines(linked_data.SIZES["smoke"], part)
    assert [line.split(":")[0] for line in part.missing] == [f"refuses, {name}" for name in linked_data.QUERIES]
    [table] = part.tables
    assert table.columns == ("query", "millstream", "mirror")
    assert all(isinstance(value, float) and value > 0 for row in table.rows for value in row[1:])


QUERIES = {
    "sliding": "RANGE 7ms",
    "tumbling": "RANGE 1ms SLIDE 7ms",
}


def test_the_adapter_of_pathway_reads_what_is_written_to_it() -> None:
    some = list(elements())[:3]
    heard = pathway_adapter.read(io.StringIO("".join(adapter.messages(QUERY, ours.STREAM, some))))
    assert heard == Heard(QUERY, some, [])
    edits = [(True, ["<a:a> <p:p> <b:b> .\n", "<a:a> <p:p> <b:c> .\n"]), (False, ["<a:a> <p:p> <b:b> .\n"])]
    heard = pathway_adapter.read(io.StringIO("".join(adapter.edit_messages(QUESTION.plain(), edits))))
    b, c = ("<a:a>", "<p:p>", "<b:b>"), ("<a:a>", "<p:p>", "<b:c>")
    assert heard == Heard(QUESTION.plain(), [], [Step(0, [b, c], []), Step(1, [], [b])])


@pytest.mark.parametrize("window", QUERIES.values(), ids=QUERIES)
def test_the_adapter_of_pathway_understands_the_queries_of_the_benchmarks(window: str) -> None:
    question = Question([("?a", P, "?b"), ("?a", Q, '"x y"@en')], [Comparison("b", ">", 10.0)])
    assert pathway_adapter.understood(Heard(question.over(ours.STREAM, window), [], []))[0] == question
    assert pathway_adapter.understood(Heard(question.plain(), [], []))[0] == question


def test_the_adapter_of_pathway_refuses_what_it_has_no_joins_for() -> None:
    apart = Question([("?a", P, "?b"), ("?c", Q, "?d")])
    for query in ("ASK { <a:a> <p:p> <b:b> . }", apart.plain()):
        with pytest.raises(pathway_adapter.Refused):
            pathway_adapter.understood(Heard(query, [], []))


def test_what_left_the_window_and_comes_back_with_the_next_element_enters_again() -> None:
    #  0   2   4   6
    #  x---)               RANGE 3
    #          x---)       the same triple
    triple = ("<a:a>", P, "<b:b>")
    some = [Element(0, [triple]), Element(4, [triple])]
    steps = list(pathway_adapter.steps_of(some, sliding(some, 3)))
    assert steps == [Step(0, [triple], []), Step(4, [], [triple]), Step(4, [triple], [])]


def moving(count: int) -> list[Element]:
    return [Element(k, [(f"<n:{k % 50}>", (P, Q)[k % 2], f"<n:{k * 7 % 47}>")]) for k in range(count)]


@pytest.mark.skipif(
    adapter.PATHWAY not in adapter.adapters(),
    reason=f"Pathway is not installed: pip install 'millstream[bench-pathway]' or set {adapter.PATHWAY_PYTHON}",
)
@pytest.mark.parametrize("window", ["RANGE 33ms", "RANGE 1ms SLIDE 33ms"])
def test_pathway_gives_our_answers(window: str) -> None:
    command, some = adapter.adapters()[adapter.PATHWAY], moving(300)
    # A name that Pathway has for something else.
    question = Question([("?id", P, "?b"), ("?b", Q, "?c")])
    query = question.over(ours.STREAM, window)
    told = adapter.tell(command, question.variables, adapter.messages(query, ours.STREAM, some), 120)
    assert told is not None
    assert told.appeared == ours.appeared(query, ours.as_table(some))
    assert told.appeared != Counter()
