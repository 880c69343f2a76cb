"""POST /streams: elements of a stream, one or many, in any format that can be read; long bodies are taken piece by piece.

GET /streams: what came by each of them since the server started, and what was set aside.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from millstream.errors import OptionError
from millstream.rdf.formats import Format, named_format
from millstream.rdf.grouping import check_element_option
from millstream.rdf.inputs import is_compressed
from millstream.rdf.times import now_ms
from millstream.rdf.timing import TimeKind, parse_time_option
from millstream.server.durable import commands as c
from millstream.server.durable.commands import Command
from millstream.server.durable.state import MOST_REASONS, ServerState
from millstream.server.http.bodies import body, pieces
from millstream.server.http.tokens import READ, WRITE
from millstream.server.measures import StreamMeter
from millstream.server.problems import ServerError, TooLargeError
from millstream.server.routes.requests import (
    iri_parameter,
    json_response,
    known_parameters,
    parameter,
    service_of,
    time_parameter,
)
from millstream.server.service import Service

_PIECE = 1 << 20
_TIMED = (Format.N_QUADS, Format.TRIG, Format.JSON_LD, Format.JSON_LINES)
_BY_LINE = (Format.N_TRIPLES, Format.N_QUADS)


async def push(request: Request) -> Response:
    service = service_of(request, WRITE)
    known_parameters(request, "iri", "at_ms", "time", "element")
    options = _options(request)
    if options.pop("by_line"):
        taken = await _piece_by_piece(request, service, options)
    else:
        taken = await _take(service, options, await body(request, service.limits))
    nothing = not taken["elements"] and not taken["late"] and taken["rejected"]
    if nothing:
        taken = {"error": "nothing of the body could be read", **taken}
    return json_response(taken, 400 if nothing else 200)


async def listed(request: Request) -> Response:
    service = service_of(request, READ)
    known_parameters(request)

    def look(state: ServerState) -> tuple[int, dict[str, list[str]]]:
        readers: dict[str, list[str]] = {iri: [] for iri in sorted(state.streams)}
        for registered in state.queries.values():
            for iri in sorted({window.stream.value for window in registered.query.query.windows}):
                readers.setdefault(iri, []).append(registered.name)
        return state.begun_with[0], readers

    lateness_ms, readers = await service.worker.ask(look)
    counted = service.measures.streams
    nothing = StreamMeter()
    found = [
        {"iri": iri, "queries": readers.get(iri, []), **counted.get(iri, nothing).described()}
        for iri in sorted({*readers, *counted})
    ]
    return json_response({"watermark_ms": service.hub.clock_ms, "lateness_ms": lateness_ms, "streams": found}, indent=1)


def _options(request: Request) -> dict[str, Any]:
    """How a body is to be read: what an element is, and when it happened."""
    try:
        choice = named_format(request.headers.get("content-type", "application/n-triples"))
    except OptionError:
        raise ServerError(
            "this content type is not a format of elements; use application/n-quads, application/trig, text/turtle, "
            "application/n-triples, application/ld+json, application/x-ndjson or another that docs/data.md lists.",
            status=415,
        ) from None
    iri, at_ms = iri_parameter(request), time_parameter(request)
    asked, element = parameter(request, "time"), parameter(request, "element")
    check_element_option(element)
    if at_ms is not None and asked is not None:
        raise ServerError("give at_ms or time, not both.")
    if asked is not None and parse_time_option(asked).kind is TimeKind.RATE:
        raise ServerError("a rate would begin anew with every request; use at_ms, arrival, prov or predicate:IRI.")
    is_document = not choice.format.is_table and choice.format is not Format.JSON_LINES and not choice.messages
    if at_ms is None and asked is None and choice.format not in _TIMED and not choice.format.is_table:
        asked = "arrival"
    if element is None and is_document and (at_ms is not None or asked == "arrival"):
        # A body that says nothing of its time is one element.
        element = "file"
    is_line = element == "line" and choice.format in _BY_LINE
    is_line = (is_line and not choice.messages) or (choice.format is Format.JSON_LINES and element in (None, "line"))
    return {
        "iri": iri,
        "format": request.headers.get("content-type", "application/n-triples"),
        "time": "arrival" if at_ms is not None else asked,
        "element": element,
        "clock_ms": at_ms,
        "by_line": is_line,
    }


async def _take(service: Service, options: dict[str, Any], data: bytes) -> dict[str, Any]:
    if options["clock_ms"] is None:
        options = {**options, "clock_ms": now_ms()}
    found: dict[str, Any] = await service.worker.do(Command(c.PUSH, options, data))
    return found


async def _piece_by_piece(request: Request, service: Service, options: dict[str, Any]) -> dict[str, Any]:
    """A body whose lines are elements is taken as it comes, cut between lines, however long it is."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        return await _take(service, options, await body(request, service.limits))
    total: dict[str, Any] = {"elements": 0, "late": 0, "rejected": 0, "reasons": []}
    together = min(_PIECE, service.limits.body_bytes // 2)
    waiting, size, begun = [], 0, False
    async for piece in pieces(request, service.limits):
        if not begun and is_compressed(piece):
            raise ServerError("say Content-Encoding: gzip for a body that is compressed.", status=415)
        begun = True
        waiting.append(piece)
        size += len(piece)
        if size >= together and b"\n" in piece:
            data = b"".join(waiting)
            whole, _, rest = data.rpartition(b"\n")
            _add(total, await _take(service, options, whole + b"\n"))
            waiting, size = [rest], len(rest)
        elif size > service.limits.body_bytes:
            raise TooLargeError(f"a line has more than {service.limits.body_bytes} bytes.", headers={"Connection": "close"})
    if size or not begun:
        _add(total, await _take(service, options, b"".join(waiting)))
    return total


def _add(total: dict[str, Any], more: dict[str, Any]) -> None:
    for name in ("elements", "late", "rejected"):
        total[name] += more[name]
    total["reasons"] = (total["reasons"] + more["reasons"])[:MOST_REASONS]
