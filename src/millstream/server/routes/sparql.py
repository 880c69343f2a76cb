"""/sparql: the SPARQL 1.1 Protocol for queries over the datasets as they are now, and the service description."""

from __future__ import annotations

from urllib.parse import parse_qsl

from pyoxigraph import RdfFormat, parse
from starlette.requests import Request
from starlette.responses import Response

from millstream.errors import MillstreamError
from millstream.server.http.bodies import body
from millstream.server.http.tokens import READ
from millstream.server.one_off import results
from millstream.server.one_off.negotiation import SHORT, TRIPLES, choose
from millstream.server.problems import ServerError, status_of
from millstream.server.routes.requests import content_type, service_of
from millstream.server.service import Service

_QUERY, _FORM = "application/sparql-query", "application/x-www-form-urlencoded"
_KNOWN = ("query", "default-graph-uri", "named-graph-uri", "format")

_DESCRIPTION = """
@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
@prefix formats: <http://www.w3.org/ns/formats/> .
<> a sd:Service ;
  sd:endpoint <> ;
  sd:supportedLanguage sd:SPARQL11Query ;
  sd:resultFormat formats:SPARQL_Results_JSON, formats:SPARQL_Results_XML, formats:SPARQL_Results_CSV,
    formats:SPARQL_Results_TSV, formats:Turtle, formats:N-Triples, formats:RDF_XML, formats:JSON-LD ;
  sd:defaultDataset [ a sd:Dataset ; sd:defaultGraph [ a sd:Graph ] ] .
"""


async def ask(request: Request) -> Response:
    service = service_of(request, READ)
    if request.method == "GET" and not request.query_params.keys() - {"token"}:
        return _described(request)
    given = _parameters(list(request.query_params.multi_items()))
    if request.method == "POST":
        given += await _posted(request, service)
    queries = [value for name, value in given if name == "query"]
    if len(queries) != 1:
        raise ServerError(f"a request has one query, this one has {len(queries)}.")
    if len(queries[0].encode("utf-8", "replace")) > service.limits.query_bytes:
        raise ServerError(f"the query has more than {service.limits.query_bytes} bytes.", status=413)
    formats = [value for name, value in given if name == "format"]
    if formats and formats[-1] not in SHORT:
        raise ServerError(f"the format is one of {', '.join(SHORT)}, got {formats[-1][:40]!r}.")
    asked = {
        "query": queries[0],
        "accept": SHORT[formats[-1]] if formats else request.headers.get("accept"),
        "base": str(request.url.replace(query="")),
        "default_graphs": [value for name, value in given if name == "default-graph-uri"],
        "named_graphs": [value for name, value in given if name == "named-graph-uri"],
    }
    await service.ensure_mirror()
    try:
        found = await service.one_offs.ask(asked)
    except MillstreamError as error:
        service.measures.one_offs.labels(str(status_of(error))).inc()
        raise
    service.measures.one_offs.labels("200").inc()
    return Response(found.content, headers={"Content-Type": found.media_type, "Vary": "Accept"})


async def _posted(request: Request, service: Service) -> list[tuple[str, str]]:
    kind, data = content_type(request), await body(request, service.limits, 4 * service.limits.query_bytes)
    if kind not in (_QUERY, _FORM):
        raise ServerError(f"a query is posted as {_QUERY} or as a form, {_FORM}.", status=415)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ServerError("the body is not UTF-8 text.") from None
    if kind == _QUERY:
        return [("query", text)]
    try:
        return _parameters(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=1000))
    except ValueError:
        raise ServerError("the form cannot be read.") from None


def _parameters(given: list[tuple[str, str]]) -> list[tuple[str, str]]:
    for name, _ in given:
        if name not in (*_KNOWN, "token"):
            raise ServerError(f"the parameter {name[:100]!r} is not known; there are {', '.join(_KNOWN)}.")
    return given


def _described(request: Request) -> Response:
    media_type = choose(request.headers.get("accept"), TRIPLES) or "text/turtle"
    base = str(request.url.replace(query=""))
    found = parse(_DESCRIPTION, format=RdfFormat.TURTLE, base_iri=base)
    content = results.triples(media_type, (quad.triple for quad in found))
    return Response(content, headers={"Content-Type": media_type, "Vary": "Accept"})
