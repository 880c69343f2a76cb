"""Datasets over HTTP: the Graph Store Protocol, updates and patches; all of a body or nothing of it."""

from __future__ import annotations

from collections.abc import Iterator

import pyoxigraph as ox
import pytest

from tests.server.serving import ROOMS, Serving, serving

GRAPH = "http://e/rooms"
TURTLE = {"Content-Type": "text/turtle"}


@pytest.fixture
def server() -> Iterator[Serving]:
    with serving() as found:
        yield found


def lines(server: Serving, graph: str | None = GRAPH) -> set[str]:
    params = {"default": ""} if graph is None else {"graph": graph}
    found = server.http.get("/datasets", params=params, headers={"Accept": "application/n-triples"})
    assert found.status_code == 200, found.text
    return set(found.text.splitlines())


def test_a_graph_is_put_read_added_to_and_deleted(server: Serving) -> None:
    at = {"graph": GRAPH}
    assert server.http.get("/datasets", params=at).status_code == 404
    assert (
        server.http.put("/datasets", params=at, content="<http://e/a> <http://e/in> 1 .", headers=TURTLE).status_code == 201
    )
    assert (
        server.http.put("/datasets", params=at, content="<http://e/a> <http://e/in> 2 .", headers=TURTLE).status_code == 204
    )
    added = server.http.post("/datasets", params=at, content="<b> <http://e/in> 3 .", headers=TURTLE)
    assert added.status_code == 204
    integer = "http://www.w3.org/2001/XMLSchema#integer"
    assert lines(server) == {
        f'<http://e/a> <http://e/in> "2"^^<{integer}> .',
        f'<http://e/b> <http://e/in> "3"^^<{integer}> .',
    }
    assert server.http.get("/datasets").json() == {"graphs": [{"graph": None, "triples": 0}, {"graph": GRAPH, "triples": 2}]}
    assert server.http.head("/datasets", params=at).status_code == 200
    assert server.http.delete("/datasets", params=at).status_code == 204
    assert server.http.delete("/datasets", params=at).status_code == 404
    assert server.http.get("/datasets", params=at).status_code == 404


def test_what_is_put_again_disturbs_no_query(server: Serving) -> None:
    server.register(ROOMS, "rooms")
    body = "<http://e/a> <http://e/in> <http://e/b> . <http://e/c> <http://e/in> <http://e/d> ."
    server.http.put("/datasets?default", content=body, headers=TURTLE)
    before = server.http.get("/queries/rooms").json()["id"]
    server.http.put("/datasets?default", content=body, headers=TURTLE)
    assert server.http.get("/queries/rooms").json()["id"] == before


@pytest.mark.parametrize(
    "media_type", ["text/turtle", "application/n-triples", "application/rdf+xml", "application/ld+json", "application/trig"]
)
def test_a_graph_is_given_in_the_format_that_is_asked_for(server: Serving, media_type: str) -> None:
    server.http.put("/datasets?default", content='<http://e/a> <http://e/in> "01"@de, 01 .', headers=TURTLE)
    found = server.http.get("/datasets?default", headers={"Accept": f"text/html, {media_type};q=0.5"})
    assert found.headers["Content-Type"].startswith(media_type)
    format = ox.RdfFormat.from_media_type(media_type)
    assert {str(quad.object) for quad in ox.parse(found.content, format=format)} == {
        '"01"@de',
        '"01"^^<http://www.w3.org/2001/XMLSchema#integer>',
    }
    assert server.http.get("/datasets?default", headers={"Accept": "image/png"}).status_code == 406


def test_a_malformed_body_changes_nothing_and_is_told_with_its_place(server: Serving) -> None:
    body = "<http://e/a> <http://e/in> 1 .\n<http://e/a> <http://e/in> oops ."
    for method in ("PUT", "POST"):
        found = server.http.request(method, "/datasets?default", content=body, headers=TURTLE)
        assert (found.status_code, found.json()["line"]) == (400, 2)
    update = "INSERT DATA { <http://e/a> <http://e/in> 1 . <http://e/a> <http://e/in> oops }"
    found = server.http.post("/update", content=update, headers={"Content-Type": "application/sparql-update"})
    assert found.status_code == 400
    assert lines(server, None) == set()


@pytest.mark.parametrize(
    ("media_type", "body", "status"),
    [
        ("application/sparql-update", "INSERT DATA { <http://e/a> <http://e/in> <http://e/b> }", 204),
        ("application/x-www-form-urlencoded", "update=INSERT%20DATA%20%7B%20%3Ca%3E%20%3Cb%3E%20%3Cc%3E%20%7D", 204),
        ("application/rdf-patch", "TX .\nA <http://e/a> <http://e/in> <http://e/b> .\nTC .\n", 204),
        ("application/sparql-update", "CLEAR ALL", 400),
        ("application/sparql-update", "DELETE WHERE { ?s ?p ?o }", 400),
        ("application/sparql-update", "LOAD <file:///etc/passwd>", 400),
        ("application/x-www-form-urlencoded", "update=CLEAR%20XYZ", 400),
        ("application/x-www-form-urlencoded", "query=ASK%20%7B%7D", 400),
        ("text/turtle", "<http://e/a> <http://e/in> <http://e/b> .", 415),
    ],
)
def test_updates(server: Serving, media_type: str, body: str, status: int) -> None:
    found = server.http.post("/update", content=body, headers={"Content-Type": media_type})
    assert found.status_code == status, found.text
    assert len(lines(server, None)) == (status == 204)


def test_formats_with_graphs_can_go_without_a_name(server: Serving) -> None:
    trig = {"Content-Type": "application/trig"}
    found = server.http.post("/datasets", content="<http://e/g> { <http://e/a> <http://e/in> 1 }", headers=trig)
    assert found.status_code == 204
    assert len(lines(server, "http://e/g")) == 1
    assert server.http.put("/datasets?default", content="", headers=trig).status_code == 415
    assert server.http.post("/datasets", content="", headers=TURTLE).status_code == 400


@pytest.mark.parametrize("query", ["", "?graph=a&default", "?graph=a&graph=b", "?grahp=a"])
def test_a_request_says_which_graph_it_is_about(server: Serving, query: str) -> None:
    assert server.http.put(f"/datasets{query}", content="", headers=TURTLE).status_code == 400
