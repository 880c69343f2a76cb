"""What `millstream run` writes: every format, read back by something else, one query or several, files or a terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pyoxigraph as ox
import pytest

from tests.cli.running import PROGRAM, element, run, summary
from tests.suites import suite

QUERY = """
PREFIX : <http://e/>
SELECT CHANGES ?x ?v WHERE { STREAM :s [RANGE 1s] { ?x :v ?v } }
"""
LITERALS = ['"a\\tb\\"c\\n,"@en', '"7"^^<http://www.w3.org/2001/XMLSchema#integer>', "<http://e/o>", "_:b"]
TERMS = [ox.Literal('a\tb"c\n,', language="en"), ox.Literal(7), ox.NamedNode("http://e/o")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.rq").write_text(QUERY)
    (tmp_path / "s.nt").write_text("".join(f"<http://e/x> <http://e/v> {term} .\n" for term in LITERALS))
    return tmp_path


def answers(folder: Path, format: str, *more: str) -> str:
    arguments = ("q.rq", "--stream", "http://e/s=s.nt", "--time", "rate:1", "--format", format, *more)
    found = run(*arguments, cwd=folder)
    assert summary(found.stderr).startswith("done: 4 elements, 4 triples; 8 answers; 0 late; 0 set aside")
    return found.stdout


def test_csv_has_values_alone(folder: Path) -> None:
    found = list(csv.reader(io.StringIO(answers(folder, "csv"), newline="")))
    assert found[0] == ["at_ms", "weight", "x", "v"]
    assert found[1] == ["0", "1", "http://e/x", 'a\tb"c\n,']
    assert found[2] == ["1000", "-1", "http://e/x", 'a\tb"c\n,']
    assert found[3] == ["1000", "1", "http://e/x", "7"]
    assert len(found) == 9


def test_csv_lines_end_as_rfc_4180_has_it(folder: Path) -> None:
    answers(folder, "csv", "--output", "out.csv")
    assert (folder / "out.csv").read_bytes().startswith(b"at_ms,weight,x,v\r\n0,1,http://e/x,")


@pytest.mark.parametrize(("format", "kind"), [("tsv", ox.QueryResultsFormat.TSV), ("json", ox.QueryResultsFormat.JSON)])
def test_tsv_and_json_are_read_by_another_implementation(folder: Path, format: str, kind: ox.QueryResultsFormat) -> None:
    found = ox.parse_query_results(answers(folder, format).encode(), format=kind)
    assert isinstance(found, ox.QuerySolutions)
    assert [variable.value for variable in found.variables] == ["at_ms", "weight", "x", "v"]
    solutions = list(found)
    assert [int(s["at_ms"].value) for s in solutions] == [0, 1000, 1000, 2000, 2000, 3000, 3000, 4000]
    assert [int(s["weight"].value) for s in solutions] == [1, -1, 1, -1, 1, -1, 1, -1]
    assert [s["v"] for s in solutions if s["weight"] == ox.Literal(1)][:3] == TERMS


def test_json_is_a_document_also_without_answers(folder: Path) -> None:
    (folder / "s.nt").write_text("")
    found = run("q.rq", "--stream", "http://e/s=s.nt", "--time", "rate:1", "--format", "json", cwd=folder).stdout
    assert json.loads(found) == {"head": {"vars": ["at_ms", "weight", "x", "v"]}, "results": {"bindings": []}}


def test_ndjson_has_an_object_a_line(folder: Path) -> None:
    first, *rest = map(json.loads, answers(folder, "ndjson").splitlines())
    literal = {"type": "literal", "value": 'a\tb"c\n,', "xml:lang": "en"}
    assert first == {"at_ms": 0, "weight": 1, "bindings": {"x": {"type": "uri", "value": "http://e/x"}, "v": literal}}
    assert len(rest) == 7


def test_parquet_has_terms_in_n_triples_syntax(folder: Path) -> None:
    answers(folder, "parquet", "--output", "out.parquet")
    table = pq.read_table(folder / "out.parquet")
    assert table.column_names == ["at_ms", "weight", "x", "v"]
    assert table.column("at_ms").to_pylist() == [0, 1000, 1000, 2000, 2000, 3000, 3000, 4000]
    assert table.column("v").to_pylist()[2] == LITERALS[1]


def test_a_table_is_aligned_with_names_shortened(folder: Path) -> None:
    lines = answers(folder, "table").splitlines()
    assert lines[0] == "at       x   v"
    assert lines[3] == "1 s  +1  :x  7"
    assert lines[5] == "2 s  +1  :x  :o"


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "ndjson", "jsonl", "parquet", "txt"])
def test_the_name_of_the_output_tells_the_format(folder: Path, ending: str) -> None:
    (folder / "s.nt").write_text("<http://e/x> <http://e/v> <http://e/y> .\n")  # no blank node, whose label changes
    run("q.rq", "--stream", "http://e/s=s.nt", "--time", "rate:1", "--output", f"new/out.{ending}", cwd=folder)
    named = {"jsonl": "ndjson", "txt": "table"}.get(ending, ending)
    run("q.rq", "--stream", "http://e/s=s.nt", "--time", "rate:1", "--output", "told", "--format", named, cwd=folder)
    assert (folder / "new" / f"out.{ending}").read_bytes() == (folder / "told").read_bytes()


# Several queries -----------------------------------------------------------------------------------------------------


@pytest.fixture
def two(folder: Path) -> Path:
    (folder / "r.rq").write_text("SELECT ?who WHERE { STREAM <http://e/s> [NOW] { ?who <http://e/v> ?v } }")
    return folder


TWO = ("q.rq", "r.rq", "--stream", "http://e/s=s.nt", "--time", "rate:1")


def test_several_queries_get_a_file_each_in_a_folder(two: Path) -> None:
    found = run(*TWO, "--output", "answers/", cwd=two)
    assert sorted(path.name for path in (two / "answers").iterdir()) == ["q.csv", "r.csv"]
    assert (two / "answers" / "r.csv").read_text().splitlines()[:2] == ["at_ms,weight,who", "0,1,http://e/x"]
    assert "12 answers (q 8, r 4)" in summary(found.stderr)


def test_queries_of_one_name_get_files_of_their_own(two: Path) -> None:
    (two / "more").mkdir()
    (two / "more" / "q.rq").write_text(QUERY)
    run("q.rq", "more/q.rq", "--stream", "http://e/s=s.nt", "--time", "rate:1", "--output", "answers/", cwd=two)
    assert (two / "answers" / "q.csv").read_text() == (two / "answers" / "q-2.csv").read_text()


def test_several_queries_do_not_fit_one_file(two: Path) -> None:
    assert "2 queries need a file each" in run(*TWO, "--output", "answers.csv", cwd=two, code=2).stderr


def test_rows_on_standard_output_say_which_query_in_order_of_time(two: Path) -> None:
    found = list(csv.DictReader(io.StringIO(run(*TWO, cwd=two).stdout)))
    assert list(found[0]) == ["query", "at_ms", "weight", "x", "v", "who"]
    assert [int(row["at_ms"]) for row in found] == sorted(int(row["at_ms"]) for row in found)
    assert [row["who"] for row in found if row["query"] == "r"] == ["http://e/x"] * 4
    assert [row["x"] for row in found if row["query"] == "r"] == [""] * 4
    lines = [json.loads(line) for line in run(*TWO, "--format", "ndjson", cwd=two).stdout.splitlines()]
    assert {line["query"] for line in lines} == {"q", "r"}
    assert json.loads(run(*TWO, "--format", "json", cwd=two).stdout)["head"]["vars"][0] == "query"
    assert run(*TWO, "--format", "table", cwd=two).stdout.splitlines()[0].split() == ["query", "at", "x", "v", "who"]


# On a terminal -------------------------------------------------------------------------------------------------------


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """What a terminal gets of both outputs."""
    ours, theirs = pty.openpty()
    command = [PROGRAM, "run", "--engine", "embedded", *arguments]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write((folder / "s.nq").read_bytes())
    process.stdin.flush()
    found = b""
    while b"s  " not in found or b"late" not in found:  # the line that shows progress comes while it waits
        found += os.read(ours, 65536)
    process.stdin.close()
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        found += piece
    os.close(ours)
    assert process.wait(timeout=30) == 0
    return found.decode()


def test_a_terminal_gets_a_table_and_a_line_that_is_drawn_over(folder: Path) -> None:
    (folder / "s.nq").write_text(element("1", 1_700_000_000_000, "x v y") + element("2", 1_700_000_000_500, "x v z"))
    text = on_a_terminal(folder, "q.rq", "--stream", "http://e/s=-")
    assert "elements/s  at 2023-11-14 22:13:20" in text
    assert "\r\x1b[2K" in text
    assert "2023-11-14 22:13:20.000  +1  :x  :y" in text
    assert "done: " in text.splitlines()[-1]


def test_csrbench_answers_as_many_rows_as_the_engine(tmp_path: Path) -> None:
    data = suite("csrbench") / "data"
    result = "http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#result"
    (tmp_path / "q.rq").write_text(f"SELECT ?s ?o WHERE {{ STREAM <http://e/s> [RANGE 10s] {{ ?s <{result}> ?o }} }}")
    found = run(
        "q.rq", "--stream", f"http://e/s={data}", "--time", "rate:1", "--element", "file", "--output", "o.csv", cwd=tmp_path
    )
    assert summary(found.stderr).startswith("done: 34 elements, 15,188 triples")


def test_what_a_query_constructs_is_a_stream_again_as_n_quads(folder: Path) -> None:
    construct = "CONSTRUCT { ?x <http://e/has> ?v } { STREAM <http://e/s> [RANGE 1s] { ?x <http://e/v> ?v } }"
    (folder / "q.rq").write_text(construct)
    (folder / "s.nt").write_text("<http://e/x> <http://e/v> 7 .\n".replace("7", LITERALS[1]))
    given = ("q.rq", "--stream", "http://e/s=s.nt", "--time", "rate:1")
    quads = list(ox.parse(run(*given, "--format", "nquads", cwd=folder).stdout.encode(), format=ox.RdfFormat.N_QUADS))
    assert [str(q.triple) for q in quads if q.predicate.value == "http://e/has"] == [
        f"<http://e/x> <http://e/has> {LITERALS[1]}"
    ]
    table = run(*given, "--format", "csv", cwd=folder).stdout
    assert table.splitlines() == ["at_ms,weight,subject,predicate,object", "0,1,http://e/x,http://e/has,7"]


def test_what_a_query_asks_is_a_boolean_in_all_formats(folder: Path) -> None:
    (folder / "q.rq").write_text("ASK { STREAM <http://e/s> [RANGE 1s] { ?x <http://e/v> ?v } }")
    given = ("q.rq", "--stream", "http://e/s=s.nt", "--time", "rate:1")
    assert run(*given, "--format", "csv", cwd=folder).stdout.splitlines() == [
        "at_ms,weight,boolean", "0,1,true", "1000,1,false", "1000,1,true", "2000,1,false", "2000,1,true",
        "3000,1,false", "3000,1,true", "4000,1,false",
    ]  # fmt: skip
    lines = [json.loads(line) for line in run(*given, "--format", "ndjson", cwd=folder).stdout.splitlines()]
    assert [line["bindings"]["boolean"]["value"] for line in lines[:2]] == ["true", "false"]
