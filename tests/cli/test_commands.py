"""The command itself: version, help, usage errors, interruption, start-up, and text that a pipe or terminal gets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import millstream
from millstream.cli import main as command
from millstream.cli.main import app


def run(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """The installed command, in a process of its own."""
    program = Path(sys.executable).with_name("millstream")
    return subprocess.run(
        [str(program), *arguments],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )


def test_version_is_that_of_the_package() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"millstream {millstream.__version__}\n")


def test_help_names_every_command() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    for name in ("run", "map", "explain", "demo"):
        assert name in result.stdout


@pytest.mark.parametrize("arguments", [["nonsense"], ["explain"], ["run"], ["map"], ["--nonsense"], ["demo", "too", "many"]])
def test_a_wrong_command_ends_with_code_2_and_says_where_to_look(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "--help" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_interrupted_command_ends_with_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("millstream.cli.demo.taxis.show", interrupt)
    monkeypatch.setattr(sys, "argv", ["millstream", "demo"])
    with pytest.raises(SystemExit) as ended:
        command()
    assert ended.value.code == 130


def test_the_installed_command_explains_and_exits_with_code_0() -> None:
    result = run("explain", "-", stdin="SELECT ?x { ?x <http://e/p> 1 }")
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.startswith("SELECT\n")


def test_the_installed_command_ends_with_code_2_for_a_wrong_query() -> None:
    result = run("explain", "-", stdin="SELECT ?x {")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_what_an_encoding_cannot_show_is_replaced() -> None:
    result = run("explain", "-", stdin="SELECT ?x { ?x <http://e/p> 1 }", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert result.returncode == 0
    assert "?x <http://e/p> 1" in result.stdout


def test_commands_are_imported_only_when_they_run() -> None:
    code = "import sys, millstream.cli.main as m; print(*(n for n in sys.modules if n.startswith('millstream.cli.')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert sorted(found) == ["millstream.cli.main", "millstream.cli.terminal"]


@pytest.fixture
def without_spark(tmp_path: Path) -> str:
    """A folder for PYTHONPATH that makes a process believe that pyspark is not installed."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "from importlib.machinery import PathFinder\n"
        "class Hiding:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        hidden = name.partition('.')[0] in ('pyspark', 'pandas')\n"
        "        return None if hidden else PathFinder.find_spec(name, path, target)\n"
        "sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding()\n"
    )
    return os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))


def test_without_spark_a_run_uses_the_embedded_engine_and_says_so(without_spark: str, tmp_path: Path) -> None:
    (tmp_path / "s.nt").write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    query = "SELECT ?x { STREAM <http://e/s> [NOW] { ?x ?p ?y } }"
    arguments = ["run", "-", "--stream", f"http://e/s={tmp_path / 's.nt'}", "--time", "rate:1", "--format", "csv"]
    found = run(*arguments, stdin=query, PYTHONPATH=without_spark)
    assert found.returncode == 0
    assert found.stdout.split() == ["at_ms,weight,x", "0,1,http://e/a"]
    assert "runs in one process" in found.stderr
    assert "pip install 'millstream[spark]'" in found.stderr


def test_spark_that_is_not_installed_is_asked_for_in_one_sentence(without_spark: str) -> None:
    found = run("run", "-", "--engine", "spark", stdin="ASK {}", PYTHONPATH=without_spark)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.count("\n") == 1
    assert "pyspark" in found.stderr
    assert "pip install 'millstream[spark]'" in found.stderr
