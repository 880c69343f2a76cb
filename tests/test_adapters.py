"""Other engines as processes: what goes over the pipes, and what is said of one that does not keep to it."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.experiments import sliding
from benchmarks.peers import adapter, ours, pathway_adapter
from benchmarks.peers.contents import Element
from benchmarks.peers.question import Comparison, Question
from benchmarks.report import Part

FAKE = Path(__file__).parent / "fake_adapter.py"
P, Q = "<http://example.org/p>", "<http://example.org/q>"
QUESTION = Question([("?a", P, "?b"), ("?b", Q, "?c")])
QUERY = QUESTION.over(ours.STREAM, "RANGE 15ms")


def elements() -> Iterator[Element]:
    for k in range(40):
        yield Element(k, [(f"<n:{k % 5}>", (P, Q)[k % 2], f"<n:{k * 3 % 5}>"), (f"<n:{k % 3}>", Q, f'"{k} \\"x\\""')])


def tell(manner: str, limit_s: float = 60) -> adapter.Told | None:
    command = [sys.executable, str(FAKE), manner]
    return adapter.tell(command, QUERY, QUESTION.variables, ours.STREAM, elements(), limit_s)


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


def test_an_adapter_that_ends_says_why() -> None:
    with pytest.raises(adapter.AdapterError, match=r"ended with code 1: no such jar"):
        tell("broken")


def test_an_adapter_that_never_says_how_long_it_took_is_refused() -> None:
    with pytest.raises(adapter.AdapterError, match="without ready and took"):
        tell("mute")


def test_an_adapter_that_takes_too_long_is_stopped() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert adapter.tell(command, QUERY, QUESTION.variables, ours.STREAM, elements(), 0.3) is None


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


def test_an_experiment_leads_every_adapter_and_tells_of_those_that_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = "; ".join(f"{manner}={sys.executable} {FAKE} {manner}" for manner in ("well", "late", "broken"))
    monkeypatch.setenv(adapter.VARIABLE, commands)
    monkeypatch.delenv(adapter.PATHWAY_PYTHON, raising=False)
    question = sliding.QUESTIONS["Q1, not selective"]
    rates, part = sliding.Curves(), Part("part", "About it.")
    sliding.lead_engines(question, question.over(ours.STREAM, "RANGE 40ms"), sliding.observations(400), 40, rates, part)
    assert (rates.at("well", 40) or 0) > 0
    assert rates.at("late", 40) is None
    told = " ".join(part.missing)
    assert "late, window 40: other answers, 20 too many, 20 missing" in told
    assert "broken, window 40: " in told


def test_the_adapter_of_pathway_reads_what_is_written_to_it() -> None:
    some = list(elements())[:3]
    written = "".join(adapter.messages(QUERY, ours.STREAM, some))
    query, found = pathway_adapter.read(io.StringIO(written))
    assert (query, found) == (QUERY, some)
    question = Question([("?a", P, "?b"), ("?a", Q, '"x y"@en')], [Comparison("b", ">", 10.0)])
    assert pathway_adapter.question_of(question.over(ours.STREAM, "RANGE 7ms")) == (question, 7)


@pytest.mark.skipif(
    adapter.PATHWAY not in adapter.adapters(),
    reason=f"Pathway is not installed: pip install 'millstream[bench-pathway]' or set {adapter.PATHWAY_PYTHON}",
)
def test_pathway_gives_our_answers() -> None:
    command = adapter.adapters()[adapter.PATHWAY]
    some = [Element(k, [(f"<n:{k % 50}>", (P, Q)[k % 2], f"<n:{k * 7 % 47}>")]) for k in range(300)]
    query = QUESTION.over(ours.STREAM, "RANGE 33ms")
    told = adapter.tell(command, query, QUESTION.variables, ours.STREAM, some, 120)
    assert told is not None
    assert told.appeared == ours.appeared(query, ours.as_table(some))
    assert told.appeared != Counter()
