"""/metrics, /health and /openapi.json: for those who operate a server."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

from millstream.server.http.openapi import described
from millstream.server.http.tokens import READ
from millstream.server.routes.requests import json_response, service_of


async def metrics(request: Request) -> Response:
    service = service_of(request, READ)
    measures, worker = service.measures, service.worker
    measures.subscribers.set(len(service.hub))
    measures.waiting.set(worker.waiting)
    measures.clock.set(service.hub.clock_ms)
    if worker.failure is None:
        measures.registered.set(await worker.ask(lambda state: len(state.queries)))
    return Response(measures.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})


async def health(request: Request) -> Response:
    """Whether commands are taken; needs no token."""
    worker = service_of(request).worker
    if worker.failure is None:
        await worker.ask(lambda state: None)
        return json_response({"status": "ok"})
    return json_response({"status": "failed"}, 503)


async def openapi(request: Request) -> Response:
    """What paths there are; needs no token, since it tells nothing of this server."""
    return json_response(described(), indent=1)
