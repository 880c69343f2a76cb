"""`millstream map`: rows to elements by a template, what is set aside, and templates that cannot be."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.cli.running import millstream, rows, run
from tests.readers import read_elements
from tests.suites import suite

ROOT = Path(__file__).resolve().parent.parent.parent
TEMPLATE = """
[prefixes]
"" = "http://e/"

[times]
seen = "%d.%m.%Y %H:%M:%S"

[element]
time = "seen"
graph = ":reading/{#}"
triples = '''
:sensor/{id}  a       :Sensor
:sensor/{id}  :in     :room/{room}
:sensor/{id}  :shows  "{degrees}"^^xsd:decimal
:sensor/{id}  :note   "{note}"@en
:sensor/{id}  :seen   "{seen}"^^xsd:dateTime
:sensor/{id}  :page   <{+page}>
'''
"""
HEADER = "id,seen,room,degrees,note,page\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.toml").write_text(TEMPLATE)
    return tmp_path


def elements(text: str) -> list[tuple[int, set[str]]]:
    return [(found.at_ms, {str(t) for t in found.triples}) for found in read_elements(text.encode(), format="nquads")]


def triple(local: str, predicate: str, object: str) -> str:
    return f"<http://e/{local}> <http://e/{predicate}> {object}"


TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def test_a_row_becomes_an_element_with_its_time(folder: Path) -> None:
    text = HEADER + 'a b,01.01.1970 00:00:02,"é/1",21.5,"say ""hi""",http://x/y?z=1\n'
    found = millstream("map", "-", "--template", "t.toml", stdin=text, cwd=folder)
    [(at_ms, triples)] = elements(found.stdout)
    assert at_ms == 2000
    assert triples == {
        f"<http://e/sensor/a%20b> {TYPE} <http://e/Sensor>",
        triple("sensor/a%20b", "in", "<http://e/room/%C3%A9%2F1>"),
        triple("sensor/a%20b", "shows", '"21.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        triple("sensor/a%20b", "note", '"say \\"hi\\""@en'),
        triple("sensor/a%20b", "seen", '"1970-01-01T00:00:02Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'),
        triple("sensor/a%20b", "page", "<http://x/y?z=1>"),
    }
    assert found.stderr == "done: 1 rows, 6 triples; 0 set aside\n"


def test_what_is_empty_is_left_out(folder: Path) -> None:
    text = HEADER + "1,01.01.1970 00:00:00,,,,\n"
    [(_, triples)] = elements(millstream("map", "-", "--template", "t.toml", stdin=text, cwd=folder).stdout)
    assert len(triples) == 2


def test_json_lines_keep_the_spelling_of_numbers(folder: Path) -> None:
    rows_ = [{"id": 7, "seen": "01.01.1970 00:00:01", "room": None, "degrees": 1.50, "note": "x\ny"}]
    (folder / "r.jsonl").write_text("\n".join(map(json.dumps, rows_)).replace("1.5,", "1.50,") + "\n")
    [(at_ms, triples)] = elements(millstream("map", "r.jsonl", "--template", "t.toml", cwd=folder).stdout)
    assert at_ms == 1000
    assert triple("sensor/7", "shows", '"1.50"^^<http://www.w3.org/2001/XMLSchema#decimal>') in triples
    assert triple("sensor/7", "note", '"x\\ny"@en') in triples
    assert len(triples) == 4


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("1,01.01.1970 00:00:00,r,warm,,", "column degrees: 'warm' is no xsd:decimal"),
        ("1,yesterday,r,1,,", "column seen: 'yesterday' is no time like '%d.%m.%Y %H:%M:%S'"),
        ("1,,r,1,,", "column seen: is empty, and the element's time"),
        ("1,01.01.1970 00:00:00,r", "the row has 3 cells, there are 6 columns"),
        ("1,01.01.1970 00:00:00,r,1,,no iri", "column page: 'no iri' is no IRI: it has no scheme, such as http:"),
        ("1,01.01.1970 00:00:00,r,1,,http://x/ y", "column page: 'http://x/ y' cannot stand in an IRI"),
    ],
)
def test_a_malformed_row_is_set_aside_with_its_line_and_reason(folder: Path, row: str, reason: str) -> None:
    good = "2,01.01.1970 00:00:00,r,1,,"
    text = f"{HEADER}{good}\n{row}\n{good}\n"
    (folder / "r.csv").write_text(text)
    found = millstream("map", "r.csv", "--template", "t.toml", cwd=folder)
    assert len(elements(found.stdout)) == 2
    assert found.stderr.splitlines() == [f"set aside: r.csv, line 3: {reason}", "done: 2 rows, 8 triples; 1 set aside"]
    millstream("map", "r.csv", "--template", "t.toml", "--dead-letter", "dead.jsonl", "--output", "o.nq", cwd=folder)
    letter = json.loads((folder / "dead.jsonl").read_text())
    assert (letter["source"], letter["line"], letter["reason"]) == ("r.csv", 3, reason)
    assert (folder / "o.nq").read_text() == found.stdout
    failed = millstream("map", "r.csv", "--template", "t.toml", "--strict", cwd=folder, code=1)
    assert f"error: r.csv: line 3: {reason}" in failed.stderr


@pytest.mark.parametrize(
    ("format", "cell", "at_ms"),
    [
        ("ms", "1500", 1500),
        ("s", "1.5", 1500),
        ("s", "-0.0001", -1),
        ("iso", "1970-01-01T00:00:01.5Z", 1500),
        ("iso", "1970-01-01 01:00:01.5+01:00", 1500),
        ("%H:%M:%S %d/%m/%y %z", "01:00:01 01/01/70 +0100", 1000),
    ],
)
def test_times_are_read_in_their_format(folder: Path, format: str, cell: str, at_ms: int) -> None:
    (folder / "t.toml").write_text(
        f"[times]\nt = '{format}'\n[element]\ntime = 't'\ntriples = '<http://e/x> <http://e/p> \"{{t}}\"'\n"
    )
    found = millstream("map", "-", "--template", "t.toml", stdin=f"t\n{cell}\n", cwd=folder)
    assert [at for at, _ in elements(found.stdout)] == [at_ms]


def test_ntriples_need_no_time(folder: Path) -> None:
    (folder / "t.toml").write_text("columns = ['a', 'b']\n[element]\ntriples = '_:n{a} <http://e/p> \"{b}\"'\n")
    found = millstream("map", "-", "--template", "t.toml", "--format", "ntriples", stdin="1,x\n2,y\n", cwd=folder)
    assert found.stdout == '_:n1 <http://e/p> "x" .\n_:n2 <http://e/p> "y" .\n'
    refused = millstream("map", "-", "--template", "t.toml", stdin="1,x\n", cwd=folder, code=2)
    assert "element.time is missing" in refused.stderr


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("[element", "not TOML"),
        ("[elements]\n", "elements is not known"),
        ("[element]\ntime = 't'\n", "element.triples is missing"),
        ("[element]\ntriples = '<http://e/x> <http://e/p>'\n", "a triple has three terms, this has 2"),
        (
            "[element]\ntriples = 'ex:a <http://e/p> 1'\n",
            "'ex:a' is neither an IRI in <> nor a name with one of the prefixes",
        ),
        ("[element]\ngraph = '<no>'\ntriples = '<http://e/x> a <http://e/y>'\n", "element.graph: not an IRI"),
        ("[element]\ntriples = '\"x\" <http://e/p> <http://e/o>'\n", "not a triple"),
        ("[times]\nt = 'noon'\n[element]\ntime = 't'\ntriples = '<http://e/x> a <http://e/y>'\n", "is no format of times"),
        ("columns = ['a']\n[element]\ntriples = '<http://e/{b}> a <http://e/y>'\n", "there is no column 'b'"),
        ("[element]\ntime = 'c'\ntriples = '<http://e/{b}> a <http://e/y>'\n", "there is no column 'b' in <standard input>"),
    ],
)
def test_a_template_that_cannot_be_is_one_message(folder: Path, template: str, message: str) -> None:
    (folder / "t.toml").write_text(template)
    found = millstream("map", "-", "--template", "t.toml", stdin="a\n1\n", cwd=folder, code=2)
    assert found.stderr.startswith("error: t.toml: ") or "there is no column" in found.stderr
    assert message in found.stderr


def test_missing_files_are_one_message(folder: Path) -> None:
    assert "no such file" in millstream("map", "nowhere.csv", "--template", "t.toml", cwd=folder, code=2).stderr
    assert "cannot be read" in millstream("map", "-", "--template", "nowhere.toml", cwd=folder, code=2).stderr


@pytest.mark.parametrize("cell", ["%s %(x)s", "{id}", "a\tb", "ä \U0001f600", "\\", "\x07"])
def test_any_text_of_a_cell_comes_back(folder: Path, cell: str) -> None:
    (folder / "t.toml").write_text("[element]\ntriples = '<http://e/100%25/{c}> <http://e/p> \"{c}\"'\n")
    (folder / "r.jsonl").write_text(json.dumps({"c": cell}) + "\n")
    found = millstream("map", "r.jsonl", "--template", "t.toml", "--format", "nt", cwd=folder)
    [quad] = ox.parse(input=found.stdout.encode(), format=ox.RdfFormat.N_TRIPLES)
    assert isinstance(quad.object, ox.Literal)
    assert quad.object.value == cell


def test_the_example_maps_taxi_trips_that_run_reads(tmp_path: Path) -> None:
    trips = suite("debs2015") / "sorted_data_10004.csv.gz"
    found = millstream("map", trips, "--template", ROOT / "examples" / "taxi.toml", "--output", "trips.nq", cwd=tmp_path)
    assert found.stderr == "done: 10,004 rows, 110,044 triples; 0 set aside\n"
    (tmp_path / "dear.rq").write_text(
        "PREFIX : <http://example.org/taxi/> "
        "SELECT ?trip ?fare { STREAM <trips> [NOW] { ?trip :fare ?fare } FILTER (?fare > 100) }"
    )
    answered = run("dear.rq", "--stream", "trips=trips.nq", cwd=tmp_path)
    with gzip.open(trips, "rt") as lines:
        fares = [float(line.split(",")[11]) for line in lines]
    assert len(rows(answered.stdout)) == sum(fare > 100 for fare in fares)
