"""The W3C's tests of the SPARQL 1.1 Protocol for queries, and of the Graph Store Protocol, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

import httpx
import pyoxigraph as ox
import pytest

from tests.server.serving import Serving, serving
from tests.suites import MF, RDFS, Case, Term, cases, has_suite, path_of, suite

HT, CNT = "http://www.w3.org/2011/http#", "http://www.w3.org/2011/content#"
UT = "http://www.w3.org/2009/sparql/tests/test-update#"
PROTOCOL = "w3c/sparql/sparql11/protocol"
STORE = "w3c/sparql/sparql11/graph-store-protocol"
TABULAR = ("application/sparql-results+json", "application/sparql-results+xml", "text/csv", "text/tab-separated-values")
NOT_TAKEN = {
    "post_get_new_graph": "no names are made up for graphs: a request says which graph it is about",
    "post_get_post_get_indirect": "several files in one body (multipart/form-data) are not taken",
}
RDF_TYPES = ("text/turtle", "application/n-triples", "application/rdf+xml", "application/ld+json")


def listed(name: str, manifest: str, only_queries: bool) -> list[object]:
    if not has_suite(name):
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"suite {name} is not there"))]
    found = cases(suite(name) / manifest)
    # Updates other than of data are not taken, by any path.
    return [pytest.param(case, id=case.id) for case in found if not only_queries or "update" not in case.id]


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving({"one_offs": 2}) as found:
        yield found


def text_of(case: Case, node: Term | None, predicate: str) -> str | None:
    found = None if node is None else case.statements.value(node, predicate)
    return found.value if isinstance(found, ox.Literal) else None


def headers_of(case: Case, node: Term) -> dict[str, str]:
    found = {}
    for head in case.statements.values(node, HT + "headers"):
        for header in case.statements.members(head):
            name, value = (text_of(case, header, HT + key) for key in ("fieldName", "fieldValue"))
            if name and value:
                found[name] = value
    return found


def requested(case: Case, server: Serving, request: Term, path: str) -> httpx.Response:
    """One request of a case, sent as it stands but for the path."""
    node = case.statements.value(request, HT + "body")
    chars, encoding = (text_of(case, node, CNT + key) for key in ("chars", "characterEncoding"))
    given = text_of(case, request, HT + "absolutePath") or ""
    _, question, query = given.partition("?")
    headers = {key: value for key, value in headers_of(case, request).items() if key.lower() != "host"}
    return server.http.request(
        text_of(case, request, HT + "methodName") or "GET",
        f"{path}{question}{query}",
        content=None if chars is None else chars.encode((encoding or "utf-8").lower()),
        headers=headers,
    )


def requests_of(case: Case) -> list[Term]:
    heads = case.action_values(HT + "requests")
    return [request for head in heads for request in case.statements.members(head)]


def statuses_of(case: Case, response: Term) -> list[str]:
    return [
        term.value.rpartition("#")[2]
        for term in case.statements.values(response, MF + "expectedStatus")
        if not isinstance(term, ox.Triple)
    ]


def is_expected(status: int, names: list[str]) -> bool:
    exact = {"OK": 200, "Created": 201, "NoContent": 204, "NotFound": 404, "BadRequest": 400}
    return any(exact.get(name) == status or name == f"StatusCode{status // 100}xx" for name in names)


@pytest.mark.parametrize("case", listed(PROTOCOL, "manifest.ttl", True))
def test_protocol_of_queries(case: Case, server: Serving) -> None:
    for data in case.statements.values(case.subject, UT + "graphData"):
        file, label = case.statements.value(data, UT + "graph"), text_of(case, data, RDFS + "label")
        assert file is not None
        kind = {"Content-Type": "application/n-triples"}
        server.http.put("/datasets", params={"graph": label}, content=path_of(file).read_bytes(), headers=kind)
    for request in requests_of(case):
        found = requested(case, server, request, "/sparql/")
        response = case.statements.value(request, HT + "resp")
        assert response is not None
        assert is_expected(found.status_code, statuses_of(case, response)), (found.status_code, found.text)
        media_type = found.headers["Content-Type"].partition(";")[0]
        match text_of(case, response, MF + "expectedFormat"):
            case "boolean":
                assert media_type in TABULAR[:2]
            case "tabular":
                assert media_type in TABULAR
            case "RDF":
                assert media_type in RDF_TYPES
        expected = text_of(case, response, MF + "expectedBoolean")
        if expected is not None:
            assert found.json()["boolean"] is (expected == "true")


@pytest.mark.parametrize("case", listed(STORE, "manifest-indirect.ttl", False))
def test_graph_store_protocol(case: Case, server: Serving) -> None:
    if reason := NOT_TAKEN.get(case.id.partition("#")[2]):
        pytest.skip(reason)
    for graph in server.http.get("/datasets").json()["graphs"]:
        server.http.delete("/datasets", params={"graph": graph["graph"] or "default"})
    for request in requests_of(case):
        found = requested(case, server, request, "/datasets")
        response = case.statements.value(request, HT + "resp")
        assert response is not None
        assert is_expected(found.status_code, statuses_of(case, response)), (found.status_code, found.text)
        node = case.statements.value(response, HT + "body")
        chars = text_of(case, node, CNT + "chars")
        if chars is not None and found.request.method == "GET":
            base = unquote(str(found.request.url))
            assert canonical(found.text, base) == canonical(chars, base)


def canonical(turtle: str, base: str) -> ox.Dataset:
    found = ox.Dataset(ox.parse(turtle, format=ox.RdfFormat.TURTLE, base_iri=base))
    found.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return found
