"""/datasets, the SPARQL 1.1 Graph Store Protocol, and /update: INSERT DATA, DELETE DATA and RDF Patch."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs

from pyoxigraph import RdfFormat, parse
from starlette.requests import Request
from starlette.responses import Response

from millstream.engine.options import named_iri
from millstream.errors import OptionError
from millstream.ingest import chunks_of, quads_of
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.rdf.formats import Format, named_format
from millstream.server.durable import commands as c
from millstream.server.durable.commands import Command
from millstream.server.durable.state import ServerState, dataset_want
from millstream.server.http.bodies import body
from millstream.server.http.tokens import READ, WRITE
from millstream.server.one_off import results
from millstream.server.one_off.negotiation import TRIPLES, choose
from millstream.server.problems import NotFoundError, ServerError
from millstream.server.routes.requests import content_type, json_response, known_parameters, parameter, service_of
from millstream.server.service import Service

_UPDATE, _FORM, _PATCH = "application/sparql-update", "application/x-www-form-urlencoded", "application/rdf-patch"
_PATCHES = (_PATCH, "text/rdf-patch", "application/x-rdf-patch")


def _graph(request: Request, *, all_graphs: bool = False) -> str | None:
    """The graph that a request is about; None is the default graph."""
    known_parameters(request, "graph", "default")
    graph, default = parameter(request, "graph"), parameter(request, "default")
    if (graph is None) == (default is None) and not (all_graphs and graph is None):
        raise ServerError("say which graph: ?default, or ?graph=IRI.")
    return None if graph is None or graph == "default" else named_iri(graph, "graph")


async def get(request: Request) -> Response:
    service = service_of(request, READ)
    if not request.query_params.keys() - {"token"}:
        return json_response({"graphs": await service.worker.ask(_listed)})
    graph = _graph(request)
    media_type = choose(request.headers.get("accept"), TRIPLES)
    if media_type is None:
        raise ServerError(f"none of the accepted types can be given; there are {', '.join(TRIPLES)}.", status=406)

    def look(state: ServerState) -> bytes:
        if graph not in state.engine.graph_store.sizes():
            raise NotFoundError(f"there is no graph <{graph}>.")
        return b"".join(state.engine.graph_store.statements(graph))

    lines = await service.worker.ask(look)
    if media_type in ("application/n-triples", "text/plain"):
        return Response(lines, media_type=media_type)

    def written() -> bytes:
        return results.triples(media_type, (quad.triple for quad in parse(lines, format=RdfFormat.N_TRIPLES, lenient=True)))

    content = await asyncio.get_running_loop().run_in_executor(None, written)
    # Turtle is UTF-8 whatever is said; many clients expect it to be said.
    kind = f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
    return Response(content, headers={"Content-Type": kind})


def _listed(state: ServerState) -> list[dict[str, object]]:
    return [{"graph": name, "triples": size} for name, size in state.engine.graph_store.sizes().items()]


async def put(request: Request) -> Response:
    return await _written(service_of(request, WRITE), request, c.PUT, _graph(request))


async def post(request: Request) -> Response:
    return await _written(service_of(request, WRITE), request, c.POST, _graph(request, all_graphs=True))


async def _written(service: Service, request: Request, op: str, graph: str | None) -> Response:
    try:
        choice = named_format(request.headers.get("content-type", ""))
    except OptionError:
        raise ServerError(f"this content type is not a format of RDF; use {', '.join(TRIPLES)}.", status=415) from None
    names_graphs = choice.format.has_graphs and choice.format is not Format.JSON_LD
    if op == c.PUT and names_graphs:
        raise ServerError("PUT replaces one graph; use a format without graphs, such as text/turtle.", status=415)
    if op == c.POST and not names_graphs and not request.query_params.keys() & {"graph", "default"}:
        raise ServerError("say which graph: ?default, or ?graph=IRI; only a format with graphs can go without.")
    options = {"graph": graph, "format": choice.format.value, "base": graph or str(request.url.replace(query=""))}
    command = Command(op, options, await body(request, service.limits))
    await _validated(command)
    found = await service.worker.do(command)
    created = found["created"] and graph is not None
    return Response(status_code=201 if created else 204)


async def delete(request: Request) -> Response:
    service = service_of(request, WRITE)
    await service.worker.do(Command(c.DROP, {"graph": _graph(request)}))
    return Response(status_code=204)


async def update(request: Request) -> Response:
    service = service_of(request, WRITE)
    known_parameters(request)
    kind, data = content_type(request), await body(request, service.limits)
    if kind == _FORM:
        try:
            given = parse_qs(data.decode(), strict_parsing=True, max_num_fields=10)
        except ValueError:
            given = {}
        if given.keys() - {"update"} or len(given.get("update", ())) != 1:
            raise ServerError("the form has one field, update.")
        data = given["update"][0].encode()
    elif kind not in (_UPDATE, *_PATCHES):
        raise ServerError(f"an update is {_UPDATE} or {_PATCH}.", status=415)
    base = str(request.url.replace(query=""))
    options = {"format": "rdfpatch" if kind in _PATCHES else "sparql", "base": base}
    command = Command(c.UPDATE, options, data)
    await _validated(command)
    await service.worker.do(command)
    return Response(status_code=204)


async def _validated(command: Command) -> None:
    """Raises what is wrong with a body before any of it is taken."""

    def read() -> None:
        want, dictionary = dataset_want(command, "c"), Dictionary()
        for chunk in (chunks_of if command.op == c.UPDATE else quads_of)(command.body, want):
            columns = chunk.encode(dictionary, None)
            if columns.fault is not None:
                raise columns.fault

    await asyncio.get_running_loop().run_in_executor(None, read)
