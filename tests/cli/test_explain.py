"""`millstream explain`: the tree on standard output, everything else on standard error."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from millstream.cli.main import app

QUERY = "SELECT ?x WHERE { STREAM <http://e/s> [RANGE 10s] { ?x <http://e/p> ?y } FILTER (?y > 1) }"


def explain(text: str | bytes, tmp_path: Path) -> Result:
    file = tmp_path / "query.rq"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return CliRunner().invoke(app, ["explain", str(file)])


def test_a_query_is_drawn_as_a_tree(tmp_path: Path) -> None:
    result = explain(QUERY, tmp_path)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.startswith(
        "SELECT\n"
        "emits what appears after every change (ISTREAM)\n"
        "\n"
        "reads\n"
        "  stream <http://e/s> [RANGE 10s]\n"
        "\n"
        "select ?x\n"
        "└─ filter ?y > 1\n"
        "   └─ match in window <http://e/s> [RANGE 10s]\n"
        "      └─ ?x <http://e/p> ?y\n"
        "\n"
        "runs as\n"
    )


def test_a_dash_reads_standard_input(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["explain", "-"], input=QUERY)
    assert result.stdout == explain(QUERY, tmp_path).stdout


def test_brackets_and_long_lines_are_printed_as_they_are(tmp_path: Path) -> None:
    iri = "<http://e/" + "long/" * 60 + ">"
    result = explain(f'SELECT ?x {{ ?x {iri} "[bold]:smile:" }}', tmp_path)
    assert f'?x {iri} "[bold]:smile:"' in result.stdout


def test_a_wrong_query_is_one_message_with_a_caret_below_the_place(tmp_path: Path) -> None:
    result = explain("SELECT ?x {\n  ?x <http://e/p> ?y .\n  OPTIONL { ?x ?q ?z }\n}", tmp_path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == (
        f"error: {tmp_path / 'query.rq'}: line 3, column 3: found `OPTIONL`; did you mean OPTIONAL?\n"
        "    OPTIONL { ?x ?q ?z }\n"
        "    ^\n"
    )


def test_a_caret_stands_right_behind_tabs(tmp_path: Path) -> None:
    error = explain("SELECT ?x {\n\t?x\t?p ?y .\n\t?x\tnonsense ?y\n}", tmp_path).stderr
    line, caret = error.splitlines()[1:]
    assert line[len(caret) - 1 :].startswith("nonsense")


def test_a_query_that_is_not_run_yet_is_explained_and_said_so(tmp_path: Path) -> None:
    result = explain("DESCRIBE <http://e/x>", tmp_path)
    assert result.exit_code == 0
    assert "describe <http://e/x>" in result.stdout
    assert "runs as" not in result.stdout
    assert result.stderr.startswith("not run yet: ")
    assert "DESCRIBE is not supported" in result.stderr


def test_warnings_go_to_standard_error_with_the_legal_form(tmp_path: Path) -> None:
    result = explain(QUERY.replace("10s", "10 seconds"), tmp_path)
    assert result.exit_code == 0
    assert "warning" not in result.stdout
    assert result.stderr == (
        "warning: line 1, column 46: `10 seconds` is not a duration of these languages. Write: RANGE 10s\n"
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [("nowhere.rq", "no such file or directory"), (".", "is a directory"), ("a\0b", "null byte")],
)
def test_a_file_that_cannot_be_read_is_one_message(path: str, reason: str) -> None:
    result = CliRunner().invoke(app, ["explain", path])
    assert result.exit_code == 2
    assert f"error: {path}: cannot be read" in result.stderr
    assert reason in result.stderr


def test_a_file_that_is_not_text_is_one_message(tmp_path: Path) -> None:
    result = explain(b"SELECT \xff", tmp_path)
    assert result.exit_code == 2
    assert "not UTF-8 text: the byte at offset 7 cannot be read" in result.stderr


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing"])
def test_an_empty_file_is_no_query(text: str, tmp_path: Path) -> None:
    result = explain(text, tmp_path)
    assert result.exit_code == 2
    assert "found the end of the query" in result.stderr


def test_cells_show_how_spark_would_cut_the_work(tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text(QUERY)
    result = CliRunner().invoke(app, ["explain", str(tmp_path / "q.rq"), "--cells", "8"])
    assert result.exit_code == 0
    assert result.stdout.startswith(explain(QUERY, tmp_path).stdout.rstrip("\n"))
    assert "\n\non Spark\n" in result.stdout
    assert CliRunner().invoke(app, ["explain", str(tmp_path / "q.rq"), "--cells", "0"]).exit_code == 2
