"""`millstream check`: reports on standard output, the rest on standard error, and the exit code that says how it went."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from millstream.cli.main import app
from tests.cli.running import millstream

PASSING = """\
prefix : <http://e/>
query
    SELECT ?x { STREAM :s [NOW] { ?x :p ?y } }
at 1s push :s :x :p :y .
expect at 1s +1 ?x=:x
"""
FAILING = PASSING.replace("?x=:x", "?x=:z")
WRONG = PASSING.replace("push", "psh")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"good.check": PASSING, "bad.check": FAILING, "wrong.check": WRONG}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def check(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["check", *arguments])


def test_a_timeline_that_passes_is_one_line(folder: Path) -> None:
    result = check("good.check")
    assert result.exit_code == 0
    assert result.stdout == "good.check: passed, 1 answer\n"
    assert result.stderr == "done: 1 passed\n"


def test_it_is_drawn_if_asked(folder: Path) -> None:
    assert "push :s :x :p :y" in check("good.check", "--show").stdout


def test_a_timeline_that_fails_is_drawn(folder: Path) -> None:
    result = check("bad.check")
    assert result.exit_code == 1
    assert (
        result.stdout
        == """\
bad.check: failed, 1 answer: 1 missing, 1 surplus
  window: :s [NOW]

  time  window  input             expected  came
  1s    ┬       push :s :x :p :y  +1 ?x=:z            < missing
  1s    │                                   +1 ?x=:x  < surplus
"""
    )
    assert result.stderr == "done: 1 failed\n"


def test_a_wrong_spec_is_told_with_its_place(folder: Path) -> None:
    result = check("wrong.check")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert (
        result.stderr
        == """\
error: wrong.check: line 4, column 7: found `psh`, expected push, insert, delete or advance
  at 1s psh :s :x :p :y .
        ^
done: 1 with errors
"""
    )


def test_several_are_all_checked_and_the_worst_tells_the_code(folder: Path) -> None:
    result = check("good.check", "bad.check")
    assert (result.exit_code, result.stderr) == (1, "done: 1 passed, 1 failed\n")
    result = check("wrong.check", "bad.check", "good.check")
    assert result.exit_code == 2
    assert result.stderr.endswith("done: 1 passed, 1 failed, 1 with errors\n")


def test_a_folder_is_all_specs_below_it(folder: Path) -> None:
    (folder / "wrong.check").unlink()
    (folder / "deep").mkdir()
    (folder / "deep" / "more.check").write_text(PASSING)
    (folder / "notes.txt").write_text("no SPEC")
    assert check(".").stderr == "done: 2 passed, 1 failed\n"
    (folder / "empty").mkdir()
    result = check("empty")
    assert result.exit_code == 2
    assert "there is no SPEC in this folder; their names end with .check" in result.stderr


def test_queries_that_are_not_run_are_errors(folder: Path) -> None:
    (folder / "describe.check").write_text("query\n    DESCRIBE <http://e/x>\nexpect nothing\n")
    result = check("describe.check")
    assert result.exit_code == 2
    assert "describe.check: line 2, column 5: DESCRIBE is not supported" in result.stderr


@pytest.mark.parametrize("arguments", [(), ("nowhere.check",), ("good.check", "--engine", "flink")])
def test_a_wrong_command_is_two(folder: Path, arguments: tuple[str, ...]) -> None:
    assert check(*arguments).exit_code == 2


def test_no_colours_in_a_pipe(folder: Path) -> None:
    found = millstream("check", "bad.check", cwd=folder, code=1)
    assert "\x1b" not in found.stdout + found.stderr
    assert "< missing" in found.stdout
