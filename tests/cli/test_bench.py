"""`millstream bench` as it is typed; what it measures is in tests/test_benchmarks.py."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from millstream.cli import bench
from millstream.cli.main import app


def test_the_list_names_groups_and_what_belongs_to_them() -> None:
    result = CliRunner().invoke(app, ["bench", "--list"])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("papers: ")
    assert any(line.startswith("  hubs") for line in lines[lines.index(next(x for x in lines if x.startswith("engine"))) :])


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    result = CliRunner().invoke(app, ["bench", "nothing"])
    assert result.exit_code == 2
    assert "there is no benchmark nothing; there are papers, engine, incremental-peers, spark, " in result.stderr


def test_a_folder_of_suites_that_is_not_there_is_refused() -> None:
    result = CliRunner().invoke(app, ["bench", "hubs", "--suites", "/nowhere"])
    assert result.exit_code == 2
    assert "--suites /nowhere: there is no such folder" in result.stderr


def test_without_a_clone_it_says_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench.millstream, "__file__", str(tmp_path / "lib" / "site-packages" / "millstream" / "__init__.py"))
    result = CliRunner().invoke(app, ["bench"])
    assert result.exit_code == 2
    assert "run this from a clone of millstream" in result.stderr
