"""`millstream map --suggest`: what columns are taken for, and that templates, queries and commands it writes work."""

from __future__ import annotations

import csv
import io
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from millstream.cli.main import app
from millstream.cli.suggestion import Suggestion, suggest
from millstream.language import parse_query
from millstream.rdf.element import Rejections
from millstream.rdf.inputs import ByteStream, memory
from millstream.rdf.mapping.templates import read_template

BIKES = """\
Counter,Date,Bikes In,Temp °C,Note
North Bridge,02.03.2026 06:00,55,2.6,quiet
River Path,02.03.2026 06:00,23,7.2,
North Bridge,02.03.2026 06:15,42,3.8,a long note that nobody else has
River Path,02.03.2026 06:30,40,3,"rain, and wind"
"""


def suggested(text: str, *, name: str = "rows.csv", lines: bool = False) -> Suggestion:
    return suggest(ByteStream(memory(text.encode("utf-8", "surrogatepass")), Rejections(name, None)), name, lines=lines)


def kinds(text: str) -> dict[str, str]:
    return {column.name: column.kind for column in suggested(text).columns}


def query_of(text: str) -> str:
    """The query in the comments of a template."""
    told = text[text.index("# Then") :].splitlines()
    return "\n".join(line.removeprefix("#   ") for line in told if line.startswith("#   ") and "millstream" not in line)


def test_columns_are_taken_for_what_their_cells_are() -> None:
    assert kinds(BIKES) == {"Counter": "name", "Date": "time", "Bikes In": "integer", "Temp °C": "decimal", "Note": "text"}
    assert kinds("a,b,c,d\nhttp://e/x,true,1e5,x\nhttp://e/y,false,2,y\n") == {
        "a": "iri",
        "b": "boolean",
        "c": "double",
        "d": "text",
    }


@pytest.mark.parametrize(
    ("cell", "format"),
    [
        ("2026-03-02T06:00:00Z", "iso"),
        ("2026-03-02 06:00:00", "iso"),
        ("2026-03-02", "%Y-%m-%d"),
        ("31.12.2026 06:00", "%d.%m.%Y %H:%M"),
        ("31/12/2026 06:00:01", "%d/%m/%Y %H:%M:%S"),
        ("12/31/2026 06:00", "%m/%d/%Y %H:%M"),
        ("12/31/2026 06:00 PM", "%m/%d/%Y %I:%M %p"),
        ("1772430000", "s"),
        ("1772430000123", "ms"),
    ],
)
def test_times_are_found_in_their_formats(cell: str, format: str) -> None:
    found = suggested(f"name,date\nx,{cell}\nx,{cell}\n")
    assert found.time is not None
    assert (found.time.name, found.time.format) == ("date", format)


def test_a_few_bad_cells_do_not_make_text_of_numbers() -> None:
    found = suggested("name,n\nx,1\ny,2\nz,3\nx,warm\n")
    assert found.columns[1].kind == "integer"
    assert "# 1 of the first 4 rows have no integer there, and are set aside:\n" in found.text


def test_a_number_is_a_time_only_where_its_name_says_so() -> None:
    assert kinds("id,n\nx,1772430000\n")["n"] == "integer"


def test_delimiters_and_missing_headers_are_noticed() -> None:
    found = tomllib.loads(suggested("a;b\nx;1,5\ny;2,5\n").text)
    assert found["delimiter"] == ";"
    found = tomllib.loads(suggested("x,1\ny,2\n").text)
    assert found["columns"] == ["column1", "column2"]


def test_json_lines_are_looked_into() -> None:
    text = '{"sensor": "s1", "at": "2026-01-05T09:00:00Z", "v": {"t": 2.5}}\n' * 2
    assert {c.name: c.kind for c in suggested(text, lines=True).columns} == {
        "sensor": "name",
        "at": "time",
        "v.t": "decimal",
    }


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_without_a_row_there_is_nothing_to_suggest(text: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(text)
    result = CliRunner().invoke(app, ["map", str(tmp_path / "rows.csv"), "--suggest"])
    assert result.exit_code == 2
    assert "there is no row to make a template of" in result.stderr


@pytest.mark.parametrize("text", [BIKES, "a;b\nx;1\ny;2\n", BIKES.replace("02.03.2026 06:15", "02.03.2026 05:00")])
def test_what_is_suggested_runs_as_it_is_written(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(text)
    result = CliRunner().invoke(app, ["map", "rows.csv", "--suggest", "--output", "rows.toml"])
    assert result.exit_code == 0, result.stderr
    template = Path("rows.toml").read_text()
    Path("rows.rq").write_text(query_of(template))
    for command in re.findall(r"^#   millstream (.*?)(?:   #.*)?$", template, re.MULTILINE):
        result = CliRunner().invoke(app, shlex.split(command))
        assert result.exit_code == 0, result.stderr
        assert "0 set aside" in result.stderr
    assert " 0 late" in result.stderr
    assert " 0 answers" not in result.stderr


def test_without_a_template_the_way_to_one_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["map", "rows.csv"])
    assert result.exit_code == 2
    assert "`millstream map rows.csv --suggest` writes one to begin with" in result.stderr
    assert CliRunner().invoke(app, ["map", "rows.csv", "--suggest", "--template", "x.toml"]).exit_code == 2


def test_mistakes_of_beginners_are_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(BIKES)
    Path("q.rq").write_text("SELECT ?x { STREAM <http://e/s> [RANGE 1s] { ?x ?y ?z } }")
    result = CliRunner().invoke(app, ["run", "q.rq", "--engine", "embedded", "--stream", "http://e/s=rows.csv"])
    assert "`millstream map` makes a stream of other rows" in result.stderr
    Path("t.toml").write_text("[element]\ntime = 'Date'\ntriples = '<x:{#}> <x:p> \"{Counter}\"'\n")
    result = CliRunner().invoke(app, ["map", "rows.csv", "--template", "t.toml"])
    assert "'02.03.2026 06:00' is no time of ISO 8601; a column with another format has it in [times]" in result.stderr
    Path("rows.csv").write_text(BIKES.replace(",", ";"))
    result = CliRunner().invoke(app, ["map", "rows.csv", "--template", "t.toml"])
    assert "its cells seem to be separated by ';': set delimiter" in result.stderr


cells = st.one_of(
    st.text(max_size=8),
    st.integers(-5, 10**10).map(str),
    st.decimals(-5, 5, places=1).map(str),
    st.sampled_from(["true", "2026-01-05T09:00:00Z", "5.1.2026", "http://e/x", "{x}", "'''", '"', "", " "]),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=6), st.sampled_from([",", ";", "\t"]))
def test_any_rows_give_a_template_that_can_be_read_and_a_query(rows: list[list[str]], delimiter: str) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerows(rows)
    try:
        found = suggested(text.getvalue())
    except Exception as error:
        assert "no row to make" in str(error) or "no column has a name" in str(error)  # noqa: PT017
        return
    read_template(found.text)
    assert parse_query(query_of(found.text)).warnings == ()
