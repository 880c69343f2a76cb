"""Incremental engines in Rust beside this one: what is said where they are missing, and the same answers where not."""

from __future__ import annotations

import random
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.peers import adapter, ours, programs
from benchmarks.peers.beside import OURS, Beside
from benchmarks.peers.contents import Element, summarised
from benchmarks.peers.question import Question
from benchmarks.peers_edits import _in_batches, _one_by_one
from benchmarks.report import Part, Progress
from benchmarks.workloads.edits import SHAPES, seeded_edits
from benchmarks.workloads.routes import count_by_route, routes

BATCH_MS = 7
"""For engines that answer a batch at a time."""
FAKE = Path(__file__).parent / "fake_adapter.py"
P, Q, R = (f"<http://example.org/{name}>" for name in "pqr")
QUESTIONS = {
    "chain": Question([("?a", P, "?b"), ("?b", Q, "?c")]),
    "triangle": Question([("?a", P, "?b"), ("?b", Q, "?c"), ("?c", R, "?a")]),
    "constants": Question([("?a", P, "<n:1>"), ("?a", Q, "?b"), ("<n:0>", R, "?b")]),
    "the same predicate": Question([("?a", P, "?b"), ("?b", P, "?c"), ("?c", P, "?a")]),
    "one variable twice": Question([("?a", P, "?a"), ("?a", Q, "?b")]),
}


def elements(count: int, seed: int) -> list[Element]:
    """Some at one time, some with triples that are there already."""
    draw = random.Random(seed)
    found, at_ms = [], 0
    for _ in range(count):
        at_ms += draw.choice([0, 1, 1, 3])
        triples = [(f"<n:{draw.randrange(4)}>", draw.choice([P, Q, R]), f"<n:{draw.randrange(4)}>") for _ in range(3)]
        found.append(Element(at_ms, list(dict.fromkeys(triples))))
    return found


def test_without_cargo_a_report_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(programs, "SOURCES", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found, missing = programs.commands("quick", Progress())
    assert found == {}
    assert missing == [f"{engine}: not built: there is no cargo" for engine in programs.PROGRAMS]


def test_a_program_that_does_not_build_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cargo = tmp_path / "cargo"
    cargo.write_text("#!/bin/sh\necho 'error: no such package' >&2\nexit 101\n")
    cargo.chmod(0o755)
    monkeypatch.setattr(programs, "SOURCES", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: str(cargo))
    found, missing = programs.commands("quick", Progress())
    assert found == {}
    assert missing == [f"{engine}: not built: error: no such package" for engine in programs.PROGRAMS]


def test_a_time_counts_only_with_the_same_answers() -> None:
    part = Part("part", "About it.")
    engines = {manner: [sys.executable, str(FAKE), manner] for manner in ("well", "late")}
    beside = Beside(engines, part)
    question, given = QUESTIONS["chain"], elements(40, 1)
    query = question.over(ours.STREAM, "RANGE 15ms")
    expected = ours.appeared(query, ours.as_table(given))
    kept = summarised(given, question)
    written = list(adapter.messages(query, ours.STREAM, kept))
    beside.ask("x", 100, question.variables, lambda: written, [2e-4, 4e-4, 3e-4], lambda: expected, lambda _: expected)
    mine, well, late, times = beside.row("x")
    assert beside.columns == (f"{OURS}, us", "well, us", "late, us", "ours / best")
    assert mine == pytest.approx(3.0)
    assert well is not None and late is None  # noqa: PT018
    assert times == pytest.approx(3.0 / float(well))
    assert [reason.split(":")[0] for reason in part.missing] == ["late, x"]


@pytest.fixture(scope="module")
def engines() -> dict[str, list[str]]:
    """Those that are built, or that cargo builds."""
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo")
    found, missing = programs.commands("quick", Progress())
    if not found:
        pytest.skip("; ".join(missing))
    return {name: [*command, str(BATCH_MS)] for name, command in found.items()}


@pytest.mark.long
@pytest.mark.timeout(3600)
class TestAnswers:
    """Every engine gives what this one gives, element by element or batch by batch."""

    @pytest.mark.parametrize("name", QUESTIONS)
    def test_of_joins_over_windows(self, engines: dict[str, list[str]], name: str) -> None:
        for seed in range(8):
            question, given = QUESTIONS[name], elements(60, seed)
            query = question.over(ours.STREAM, f"RANGE {5 + seed}ms")
            expected = ours.appeared(query, ours.as_table(given))
            in_batches = ours.appeared_in_batches(query, ours.as_table(given), BATCH_MS)
            for command in engines.values():
                written = adapter.messages(query, ours.STREAM, summarised(given, question))
                told = adapter.tell(command, question.variables, written, 60)
                assert told is not None
                assert told.appeared == (in_batches if told.batch_ms else expected)

    def test_of_edits(self, engines: dict[str, list[str]]) -> None:
        given = seeded_edits(400, 300)
        changes = [(True, given.base), *((insert, [text]) for insert, text in given.edits)]
        for patterns in SHAPES.values():
            question = Question(patterns)
            _, expected = _one_by_one(question, changes)
            in_batches = _in_batches(question, changes, BATCH_MS)
            for command in engines.values():
                told = adapter.tell(command, question.variables, adapter.edit_messages(question.plain(), changes), 60)
                assert told is not None
                assert told.appeared == (in_batches if told.batch_ms else expected)

    def test_of_counts(self, engines: dict[str, list[str]]) -> None:
        given, query = list(routes(300)), count_by_route(ours.STREAM, "RANGE 40ms")
        expected = ours.appeared(query, ours.as_table(given))
        assert len(expected) > 300
        in_batches = ours.appeared_in_batches(query, ours.as_table(given), BATCH_MS)
        for command in engines.values():
            told = adapter.tell(command, ("from", "to", "trips"), adapter.messages(query, ours.STREAM, given), 60)
            assert told is not None
            assert told.appeared == (in_batches if told.batch_ms else expected)

    def test_of_what_they_do_not_have(self, engines: dict[str, list[str]]) -> None:
        query = f"SELECT ?a ?p WHERE {{ STREAM <{ours.STREAM}> [RANGE 5ms] {{ ?a ?p <n:1> . }} }}"
        for command in engines.values():
            with pytest.raises(adapter.RefusedError, match="predicate"):
                adapter.tell(command, ("a", "p"), adapter.messages(query, ours.STREAM, elements(3, 1)), 60)


def test_routes_are_seeded_and_some_are_frequent() -> None:
    given = list(routes(2_000))
    assert given == list(routes(2_000))
    taken = Counter((element.triples[0][2], element.triples[1][2]) for element in given)
    assert taken.most_common(1)[0][1] > 20
