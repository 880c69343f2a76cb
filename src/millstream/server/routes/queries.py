"""/queries: registered, listed, looked at, closed; and the answer set of one as it is now."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from millstream.language.algebra import Form
from millstream.plan.passes import output_named, plan_of, query_of
from millstream.server.durable import commands as c
from millstream.server.durable.commands import Command
from millstream.server.durable.state import Registered, ServerState, checked_name
from millstream.server.http.bodies import body
from millstream.server.http.tokens import ADMIN, READ
from millstream.server.one_off import results
from millstream.server.one_off.negotiation import SHORT, SOLUTIONS, TRIPLES, TRUTHS, choose
from millstream.server.problems import ServerError
from millstream.server.routes.requests import content_type, json_response, known_parameters, parameter, service_of
from millstream.server.service import Service

_TOGETHER = 20


async def register(request: Request) -> Response:
    service = service_of(request, ADMIN)
    given = await _registration(request, service)
    text = given["text"]
    # What is wrong with it is found without holding up the engine, which finds the plan ready then.
    await asyncio.get_running_loop().run_in_executor(None, lambda: plan_of(query_of(text, None, given["output"])))
    name = await service.worker.do(Command(c.REGISTER, given))
    described = await service.worker.ask(lambda state: _described(service, state.named(name)))
    return json_response(described, 201, {"Location": f"/queries/{name}"}, indent=1)


async def _registration(request: Request, service: Service) -> dict[str, Any]:
    data = await body(request, service.limits, 2 * service.limits.query_bytes + 1024)
    try:
        if content_type(request) == "application/sparql-query":
            known_parameters(request, "name", "output")
            found: Any = {"text": data.decode(), **{key: parameter(request, key) for key in ("name", "output")}}
        else:
            known_parameters(request)
            found = json.loads(data)
    except (ValueError, RecursionError):
        raise ServerError('the body is JSON in UTF-8: {"name": NAME, "text": QUERY, "output": OUTPUT}.') from None
    if (
        not isinstance(found, dict)
        or not isinstance(found.get("text"), str)
        or not found.keys() <= {"name", "text", "output"}
    ):
        raise ServerError('the body is {"name": NAME, "text": QUERY, "output": OUTPUT}; only the text is needed.')
    if len(found["text"].encode("utf-8", "replace")) > service.limits.query_bytes:
        raise ServerError(f"the query has more than {service.limits.query_bytes} bytes.", status=413)
    name, output = found.get("name"), found.get("output")
    return {
        "name": None if name is None else checked_name(name),
        "text": found["text"],
        "output": None if output is None else output_named(output).value,
    }


async def listed(request: Request) -> Response:
    service = service_of(request, READ)
    known_parameters(request)

    names = await service.worker.ask(lambda state: list(state.queries))
    found: list[dict[str, Any]] = []
    # Some at a time, and whoever waits in between is not held up by a long list.
    for first in range(0, len(names), _TOGETHER):
        found += await service.worker.ask(partial(_some, service, names[first : first + _TOGETHER]))
    return json_response({"queries": found}, indent=1)


def _some(service: Service, names: list[str], state: ServerState) -> list[dict[str, Any]]:
    return [_described(service, state.queries[name]) for name in names if name in state.queries]


async def one(request: Request) -> Response:
    service = service_of(request, READ)
    known_parameters(request)
    name = request.path_params["name"]
    return json_response(await service.worker.ask(lambda state: _described(service, state.named(name))), indent=1)


async def close(request: Request) -> Response:
    service = service_of(request, ADMIN)
    known_parameters(request)
    await service.worker.do(Command(c.CLOSE, {"name": request.path_params["name"]}))
    return Response(status_code=204)


def _described(service: Service, registered: Registered) -> dict[str, Any]:
    query, meter = registered.query, service.measures.queries.get(registered.name)
    stats = query.stats
    return {
        "name": registered.name,
        "text": query.text,
        "form": query.query.form.value,
        "output": query.output,
        "variables": list(query.variables),
        "streams": sorted({window.stream.value for window in query.query.windows}),
        "warnings": list(query.warnings),
        "id": f"{registered.registration}.{registered.position}",
        "subscribers": service.hub.count(registered.name),
        "elements": stats["elements"],
        "kept": stats["kept"],
        "stored": stats["stored"],
        "answers": stats["answers"],
        "events_per_second": 0.0 if meter is None else round(meter.rate, 3),
        "latency_ms": {
            "p50": None if meter is None else meter.quantile_ms(0.5),
            "p99": None if meter is None else meter.quantile_ms(0.99),
        },
        "explain": query.explain(),
    }


async def operators(request: Request) -> Response:
    """What each operator of a query has done; while this is asked for, where CPU time goes."""
    service = service_of(request, READ)
    known_parameters(request)
    found = await service.watching.operators(request.path_params["name"])
    return json_response({"at_ms": int(time.time() * 1000), "operators": found})


async def answers(request: Request) -> Response:
    """The answer set now, in the format that is asked for."""
    service = service_of(request, READ)
    known_parameters(request, "format")
    name, short = request.path_params["name"], parameter(request, "format")
    if short is not None and short not in SHORT:
        raise ServerError(f"the format is one of {', '.join(SHORT)}, got {short[:40]!r}.")
    accept = SHORT[short] if short else request.headers.get("accept")

    def look(state: ServerState) -> tuple[Callable[[], bytes], dict[str, str]]:
        registered = state.named(name)
        query = registered.query
        offers = {Form.CONSTRUCT: TRIPLES, Form.ASK: TRUTHS}.get(query.query.form, SOLUTIONS)
        media_type = choose(accept, offers)
        if media_type is None:
            raise ServerError(f"none of the accepted types can be given; there are {', '.join(offers)}.", status=406)
        headers = {
            "X-Millstream-Clock": str(state.engine.clock_ms),
            "X-Millstream-Event": f"{registered.registration}.{registered.position}",
            "Content-Type": media_type,
        }
        return partial(_written, media_type, query.query.form, query.variables, query.solutions()), headers

    written, headers = await service.worker.ask(look)
    # The engine goes on while they are put into words.
    return Response(await asyncio.get_running_loop().run_in_executor(None, written), 200, headers)


def _written(media_type: str, form: Form, variables: tuple[str, ...], found: Any) -> bytes:
    match form:
        case Form.CONSTRUCT:
            return results.triples(media_type, found)
        case Form.ASK:
            return results.truth(media_type, found).encode()
    rows = ([row.get(variable) for variable in variables] for row in found)
    return "".join(results.solutions(media_type, variables, rows)).encode("utf-8", "replace")
