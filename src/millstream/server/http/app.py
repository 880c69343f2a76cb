"""The server as an ASGI application: paths, errors in one shape, CORS only where it is asked for."""

from __future__ import annotations

import logging
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from millstream.errors import MillstreamError
from millstream.server.problems import ServerError, described, status_of
from millstream.server.routes import check, datasets, events, operations, page, queries, sparql, streams
from millstream.server.routes.requests import json_response
from millstream.server.service import Service

LOG = logging.getLogger("millstream.server")
_SAFE = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]


def application(service: Service, origins: tuple[str, ...] = ()) -> Starlette:
    """All paths; `origins` are those whose pages may call them from a browser."""
    middleware = [Middleware(_Counted, service=service)]
    if origins:
        methods, headers = ["GET", "POST", "PUT", "DELETE"], ["Authorization", "Content-Type", "Last-Event-ID"]
        middleware.append(
            Middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=methods, allow_headers=headers)
        )
    handlers: dict[Any, Any] = {MillstreamError: _refused, HTTPException: _unknown, Exception: _failed}
    app = Starlette(routes=_routes(), middleware=middleware, exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.state.service = service
    return app


def _routes() -> list[Route]:
    # They are tried in order: the one that most requests are for comes first.
    return [
        Route("/streams", streams.push, methods=["POST"]),
        Route("/streams", streams.listed, methods=["GET"]),
        Route("/sparql", sparql.ask, methods=["GET", "POST"]),
        Route("/sparql/", sparql.ask, methods=["GET", "POST"]),
        Route("/queries", queries.listed, methods=["GET"]),
        Route("/queries", queries.register, methods=["POST"]),
        Route("/queries/{name}", queries.one, methods=["GET"]),
        Route("/queries/{name}", queries.close, methods=["DELETE"]),
        Route("/queries/{name}/answers", queries.answers, methods=["GET"]),
        Route("/queries/{name}/operators", queries.operators, methods=["GET"]),
        Route("/queries/{name}/events", events.subscribe, methods=["GET"]),
        Route("/datasets", datasets.get, methods=["GET"]),
        Route("/datasets", datasets.put, methods=["PUT"]),
        Route("/datasets", datasets.post, methods=["POST"]),
        Route("/datasets", datasets.delete, methods=["DELETE"]),
        Route("/update", datasets.update, methods=["POST"]),
        Route("/check", check.check, methods=["POST"]),
        Route("/vocabulary", check.vocabulary, methods=["GET"]),
        Route("/", page.index, methods=["GET"]),
        Route("/page/{file}", page.file, methods=["GET"]),
        Route("/metrics", operations.metrics, methods=["GET"]),
        Route("/health", operations.health, methods=["GET"]),
        Route("/openapi.json", operations.openapi, methods=["GET"]),
    ]


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, MillstreamError)
    headers = error.headers if isinstance(error, ServerError) else None
    return json_response(described(error), status_of(error), headers)


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = {404: "there is nothing at this path", 405: "this path does not take this method"}
    return json_response({"error": said.get(error.status_code, "refused")}, error.status_code, dict(error.headers or {}))


async def _failed(request: Request, error: Exception) -> Response:
    LOG.error("a request failed", exc_info=error)
    return json_response({"error": "internal error"}, 500)


class _Counted:
    """Counts responses by status, adds headers that every one has, and refuses large heads."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._count = service.measures.requests
        self._most = service.limits.header_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count.labels(str(message["status"])).inc()
                message = {**message, "headers": [*message.get("headers", ()), *_SAFE]}
            await send(message)

        if scope["type"] == "http" and _head_size(scope) > self._most:
            # A head that comes in one piece is not bounded by the protocol's own limit.
            await json_response({"error": f"the head has more than {self._most} bytes"}, 431)(scope, receive, counted)
            return
        await self._app(scope, receive, counted)


def _head_size(scope: Scope) -> int:
    size = len(scope["raw_path"]) + len(scope["query_string"])
    return size + sum(len(name) + len(value) for name, value in scope["headers"])
