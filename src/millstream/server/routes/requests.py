"""What routes have in common: the service of a request, its parameters, and responses in JSON."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from millstream.engine.options import checked_time, named_iri
from millstream.server.problems import ServerError
from millstream.server.service import Service


def service_of(request: Request, right: str | None = None) -> Service:
    """The service, if the request's token has a right."""
    service: Service = request.app.state.service
    if right is not None:
        service.allow(request, right)
    return service


def json_response(
    value: Any, status: int = 200, headers: dict[str, str] | None = None, *, indent: int | None = None
) -> Response:
    text = json.dumps(value, ensure_ascii=False, indent=indent) + "\n"
    return Response(text.encode("utf-8", "replace"), status, headers, "application/json")


def parameter(request: Request, name: str) -> str | None:
    """A parameter that may be given once."""
    found = request.query_params.getlist(name)
    if len(found) > 1:
        raise ServerError(f"the parameter {name!r} is given {len(found)} times; once is enough.")
    return found[0] if found else None


def known_parameters(request: Request, *names: str) -> None:
    """Refuses what nobody would read, mostly a name that is misspelt."""
    for name in request.query_params:
        if name not in (*names, "token"):
            raise ServerError(f"the parameter {name[:100]!r} is not known; there are {', '.join(names) or 'none'}.")


def iri_parameter(request: Request) -> str:
    """The parameter `iri`, which must be there."""
    found = parameter(request, "iri")
    if not found:
        raise ServerError("the parameter 'iri' is missing: an IRI.")
    return named_iri(found, "iri")


def time_parameter(request: Request) -> int | None:
    """The parameter `at_ms`, in milliseconds."""
    found = parameter(request, "at_ms")
    if found is None:
        return None
    if not found.lstrip("-").isascii() or not found.lstrip("-").isdigit() or len(found) > 20:
        raise ServerError(f"the parameter 'at_ms' is a whole number of milliseconds, got {found[:40]!r}.")
    return checked_time(int(found))


def content_type(request: Request) -> str:
    """The media type of a body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
