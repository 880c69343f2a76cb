"""One-off queries: over the datasets as they are, in every format, and stopped when they ask too much."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.serving import Serving, serving, until

LIMITS = {
    "one_offs": 2,
    "one_off_seconds": 2,
    "one_off_rows": 500,
    "one_off_bytes": 1 << 20,
    "one_off_memory": 300 << 20,
    "query_bytes": 20_000,
}
PRODUCT = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving(LIMITS) as found:
        lines = "\n".join(f"<http://e/s{n}> <http://e/p> {n} ." for n in range(300))
        found.http.put("/datasets?default", content=lines, headers={"Content-Type": "text/turtle"})
        yield found


def ask(server: Serving, text: str, **headers: str) -> tuple[int, str]:
    found = server.http.post("/sparql", content=text, headers={"Content-Type": "application/sparql-query", **headers})
    return found.status_code, found.text


def test_a_query_sees_what_was_acknowledged_before_it(server: Serving) -> None:
    for number in range(10):
        server.update(f"INSERT DATA {{ GRAPH <http://e/g> {{ <http://e/x> <http://e/q> {number} }} }}")
        status, text = ask(server, "SELECT (MAX(?n) AS ?most) { GRAPH <http://e/g> { ?x <http://e/q> ?n } }")
        assert status == 200
        assert json.loads(text)["results"]["bindings"][0]["most"]["value"] == str(number)
    server.http.delete("/datasets", params={"graph": "http://e/g"})
    assert json.loads(ask(server, "ASK { GRAPH <http://e/g> { ?s ?p ?o } }")[1])["boolean"] is False


def test_each_way_to_change_graphs_reaches_one_off_queries() -> None:
    with serving({"one_offs": 1}) as server:
        kind = {"Content-Type": "text/turtle"}
        server.http.put("/datasets?graph=http://e/g", content="<http://e/a> <http://e/p> 1, [] .", headers=kind)
        server.http.put("/datasets?graph=http://e/g", content="<http://e/a> <http://e/p> 2 .", headers=kind)
        server.http.post("/datasets?graph=http://e/g", content="<http://e/a> <http://e/p> 3 .", headers=kind)
        trig = {"Content-Type": "application/trig"}
        quads = "<http://e/h> { <http://e/a> <http://e/p> 4 } <http://e/a> <http://e/p> 5 ."
        server.http.post("/datasets", content=quads, headers=trig)
        patch = "A <http://e/a> <http://e/p> <http://e/6> <http://e/h> .\nA _:b <http://e/p> <http://e/7> .\n"
        server.http.post("/update", content=patch, headers={"Content-Type": "application/rdf-patch"})
        server.update("DELETE DATA { GRAPH <http://e/g> { <http://e/a> <http://e/p> 3 } }")
        text = "SELECT ?g ?o { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
        found = server.http.get("/sparql", params={"query": text}, headers={"Accept": "text/csv"}).text
        assert sorted(list(csv.reader(io.StringIO(found)))[1:]) == [
            ["", "5"],
            ["", "http://e/7"],
            ["http://e/g", "2"],
            ["http://e/h", "4"],
            ["http://e/h", "http://e/6"],
        ]


@pytest.mark.parametrize("format", ["json", "xml", "csv", "tsv"])
def test_solutions_in_each_format(server: Serving, format: str) -> None:
    text = 'SELECT ?a ?b ?c ?d { VALUES (?a ?b ?c ?d) { (<http://e/x> "1,\\n<&>" "hej"@sv UNDEF) } }'
    found = server.http.get("/sparql", params={"query": text, "format": format})
    expected = {
        "json": '{"a": {"type": "uri", "value": "http://e/x"}, "b": {"type": "literal", "value": "1,\\n<&>"}, '
        '"c": {"type": "literal", "value": "hej", "xml:lang": "sv"}}',
        "xml": '<result><binding name="a"><uri>http://e/x</uri></binding>'
        '<binding name="b"><literal>1,\n&lt;&amp;&gt;</literal></binding>'
        '<binding name="c"><literal xml:lang="sv">hej</literal></binding></result>',
        "csv": 'http://e/x,"1,\n<&>",hej,\r\n',
        "tsv": '<http://e/x>\t"1,\\n<&>"\t"hej"@sv\t\n',
    }
    assert found.status_code == 200
    assert expected[format] in found.text


def test_triples_in_a_format_of_rdf(server: Serving) -> None:
    text = "CONSTRUCT { <http://e/a> <http://e/b> ?n } { <http://e/s7> <http://e/p> ?n }"
    found = ask(server, text, Accept="application/n-triples")
    assert found == (200, '<http://e/a> <http://e/b> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .\n')
    assert "http://e/s7" in ask(server, "DESCRIBE <http://e/s7>", Accept="application/rdf+xml")[1]
    assert ask(server, "ASK {}", Accept="image/png")[0] == 406


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("SELECT * { STREAM <http://e/s> [NOW] { ?s ?p ?o } }", 400, "register it"),
        ("SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }", 400, "SERVICE"),
        ("ASK { FILTER EXISTS { SERVICE SILENT <http://127.0.0.1:1/> { ?s ?p ?o } } }", 400, "SERVICE"),
        ("SELECT * {", 400, "line 1"),
        ("SELECT * { ?a ?b ?c . ?d ?e ?f }", 413, "rows"),
        (f'SELECT * {{ VALUES ?x {{ "{"x" * 9000}" }} ?a ?b ?c }}', 413, "bytes"),
        (f"SELECT * {{ VALUES ?x {{ '{'x' * 20_000}' }} }}", 413, "query"),
        (PRODUCT, 408, "more than 2 s"),
    ],
    ids=["stream", "service", "hidden service", "syntax", "rows", "bytes", "text", "time"],
)
def test_what_is_refused_or_stopped(server: Serving, text: str, status: int, said: str) -> None:
    found = ask(server, text)
    assert (found[0], said in json.loads(found[1])["error"]) == (status, True), found


def test_a_query_that_needs_too_much_memory_is_stopped_and_nothing_else() -> None:
    with serving({**LIMITS, "one_off_seconds": 60, "one_off_memory": 64 << 20}) as server:
        lines = "\n".join(f"<http://e/s{n}> <http://e/p> {n} ." for n in range(1000))
        server.http.put("/datasets?default", content=lines, headers={"Content-Type": "text/turtle"})
        status, text = ask(server, "SELECT DISTINCT ?a ?d ?g { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?g ?d")
        assert (status, "memory" in text) == (413, True), text
        assert ask(server, "ASK {}")[0] == 200


def test_the_engine_answers_while_a_one_off_query_runs(server: Serving) -> None:
    server.register("SELECT ?x WHERE { STREAM <http://e/a> [ALL] { ?x ?p ?y } }", "seen")
    ended = threading.Event()

    def slow() -> None:
        assert ask(server, PRODUCT)[0] == 408
        ended.set()

    thread = threading.Thread(target=slow)
    thread.start()
    for number in range(20):
        assert server.push('<http://e/a> <http://e/p> "1" .', number)["elements"] == 1
    assert not ended.is_set()
    thread.join()


def test_blank_nodes_are_the_same_in_all_graphs_and_after_a_restart(tmp_path: Path) -> None:
    trig = "_:x <http://e/p> 1 . <http://e/g> { _:x <http://e/q> 2 } _:h { _:x <http://e/r> 3 }"
    asked = "ASK { ?x <http://e/p> 1 GRAPH <http://e/g> { ?x <http://e/q> 2 } GRAPH ?h { ?x <http://e/r> 3 } }"
    with serving({"one_offs": 1}, state=tmp_path / "state") as server:
        server.http.post("/datasets", content=trig, headers={"Content-Type": "application/trig"})
        assert json.loads(ask(server, asked)[1])["boolean"] is True
    with serving({"one_offs": 1}, state=tmp_path / "state") as server:
        assert json.loads(ask(server, asked)[1])["boolean"] is True


def test_a_mirror_that_died_is_started_again() -> None:
    with serving({"one_offs": 1}) as server:
        server.update("INSERT DATA { <http://e/a> <http://e/p> 1 }")
        assert json.loads(ask(server, "ASK { <http://e/a> <http://e/p> 1 }")[1])["boolean"] is True
        service = server.server._uvicorn.config.app.state.service  # type: ignore[union-attr]
        service.one_offs._mirror._process.kill()
        service.one_offs._mirror._process.wait()
        until(lambda: ask(server, "ASK { <http://e/a> <http://e/p> 1 }")[0] == 200)
        assert json.loads(ask(server, "ASK { <http://e/a> <http://e/p> 1 }")[1])["boolean"] is True


def test_the_service_describes_itself(server: Serving) -> None:
    found = server.http.get("/sparql", headers={"Accept": "text/turtle"})
    assert found.headers["Content-Type"].startswith("text/turtle")
    assert "sparql-service-description#SPARQL11Query" in found.text
