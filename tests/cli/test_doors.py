"""`millstream demo --engine embedded`: what it tells is what the reference evaluator says of the same happenings."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from millstream.cli.demo import doors
from millstream.cli.main import app
from tests.reference import Reference


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(" ")]


def test_the_demo_tells_every_happening_and_each_answer_at_its_time() -> None:
    result = CliRunner().invoke(app, ["demo", "--engine", "embedded"])
    assert result.exit_code == 0
    told = lines(result.stdout.partition("What happens")[2])
    assert told[:8] == [
        "  before  there is a door from the lobby to the hall",
        "          there is a door from the hall to the lab",
        "          there is a door from the hall to the kitchen",
        "     0 s  Ann is seen in the lobby",
        "     2 s  Ben is seen in the hall",
        "            + Ann in the lobby is next door to Ben in the hall",
        "     4 s  Cleo is seen in the lab",
        "            + Ben in the hall is next door to Cleo in the lab",
    ]
    for happening in doors.EVENTS:
        assert any(line.endswith(happening.said) for line in told)


def test_the_demo_tells_the_same_answers_as_recomputing_them() -> None:
    reference = Reference()
    for room, next_room in doors.DOORS:
        reference.insert(doors.triple_of(room, "doorTo", next_room), at_ms=0)
    query = reference.register(doors.QUERY)
    for happening in doors.EVENTS:
        happening.happen(reference)  # type: ignore[arg-type]  # it takes the same calls
    reference.finish()
    expected = [
        (change.at_ms, weight, tuple(term.value.removeprefix(doors.OFFICE) for term in row))
        for change in query.changes
        for row, weight in change.rows.items()
    ]
    told: list[tuple[int, int, tuple[str, ...]]] = []
    at_ms = 0
    for line in lines(CliRunner().invoke(app, ["demo", "--engine", "embedded"]).stdout.partition("What happens")[2]):
        if " s  " in line[:10]:
            at_ms = int(float(line.split()[0]) * 1000)
        sign, *words = line.split()
        if sign in "+-":
            told.append((at_ms, 1 if sign == "+" else -1, (words[0], words[3], words[8], words[11])))
    assert sorted(told) == sorted(expected)


def test_the_demo_is_the_same_every_time_and_plain_in_a_pipe() -> None:
    first, second = (CliRunner().invoke(app, ["demo", "--engine", "embedded"]).stdout for _ in range(2))
    assert first == second
    assert "\x1b" not in first


def test_the_demo_fits_a_terminal_of_80_columns() -> None:
    assert max(len(line) for line in CliRunner().invoke(app, ["demo", "--engine", "embedded"]).stdout.splitlines()) <= 80


def test_the_demo_pauses_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(doors, "sleep", pauses.append)  # this module's alone: other threads sleep as well
    CliRunner().invoke(app, ["demo", "--engine", "embedded"])
    assert pauses == []
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = CliRunner().invoke(app, ["demo", "--engine", "embedded"]).stdout
    assert "\x1b[" in coloured
    assert len(pauses) == len(doors.EVENTS) + 1
