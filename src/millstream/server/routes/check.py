"""POST /check: what a text would mean as a query, or what is wrong with it and where; nothing is registered.

GET /vocabulary: the words of the language, and IRIs that occur here, for whoever completes what somebody types.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from millstream.errors import Place, QueryError
from millstream.language.functions import AGGREGATES, FUNCTIONS
from millstream.language.parser.keywords import KEYWORDS
from millstream.language.printer import Printer
from millstream.plan.explain.operators import explain_plan
from millstream.plan.explain.query import explain
from millstream.plan.passes import plan_of, query_of
from millstream.server.durable.state import ServerState
from millstream.server.http.bodies import body
from millstream.server.http.tokens import READ
from millstream.server.problems import ServerError
from millstream.server.routes.requests import json_response, known_parameters, service_of

_MOST_IRIS = 2_000


async def check(request: Request) -> Response:
    service = service_of(request, READ)
    known_parameters(request)
    try:
        text = (await body(request, service.limits, service.limits.query_bytes)).decode()
    except UnicodeDecodeError:
        raise ServerError("the body is the text of a query in UTF-8.") from None
    # The engine goes on meanwhile.
    return json_response(await asyncio.get_running_loop().run_in_executor(None, _checked, text))


def _checked(text: str) -> dict[str, Any]:
    try:
        query = query_of(text)
        plan = plan_of(query)
    except QueryError as error:
        suggestion = getattr(error, "suggestion", None)
        return {"ok": False, "error": {"message": error.message, "suggestion": suggestion, **_place(error.place)}}
    return {
        "ok": True,
        "form": query.form.value,
        "output": query.output.value,
        "variables": [variable.value for variable in query.columns],
        "streams": sorted({window.stream.value for window in query.windows}),
        "explain": f"{explain(query)}\n\n{explain_plan(plan, Printer(dict(query.prefixes)))}",
        "warnings": [
            {"message": warning.message, "suggestion": warning.legal or None, **_place(warning.place)}
            for warning in query.warnings
        ],
    }


def _place(place: Place | None) -> dict[str, int]:
    if place is None:
        return {}
    return {"line": place.line, "column": place.column, "length": max(1, place.end - place.start)}


async def vocabulary(request: Request) -> Response:
    service = service_of(request, READ)
    known_parameters(request)

    def look(state: ServerState) -> list[str]:
        store, windows = state.engine.graph_store, [w for q in state.queries.values() for w in q.query.query.windows]
        streams = sorted(state.streams.union(window.stream.value for window in windows))
        graphs = [name for name in store.sizes() if name is not None and not name.startswith("_:")]
        return list(dict.fromkeys((*streams, *graphs, *store.vocabulary(_MOST_IRIS))))[:_MOST_IRIS]

    words = {
        "keywords": sorted({word.lstrip("_") for word in KEYWORDS}),
        "functions": sorted(FUNCTIONS),
        "aggregates": sorted(AGGREGATES),
    }
    return json_response({**words, "iris": await service.worker.ask(look)})
