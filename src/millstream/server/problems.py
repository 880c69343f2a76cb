"""Errors as clients see them: a status, one message, the place in what they sent; never a path or a trace."""

from __future__ import annotations

from typing import Any

from millstream.errors import (
    ChangeLimitError,
    DataError,
    MillstreamError,
    OptionError,
    PendingLimitError,
    QueryError,
    StorageError,
)


class ServerError(MillstreamError):
    """A request that is not granted; `status` is that of HTTP."""

    status = 400

    def __init__(self, message: str, *, status: int | None = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status or type(self).status
        self.headers = headers or {}


class NotFoundError(ServerError):
    """Nothing has that name."""

    status = 404


class TakenError(ServerError):
    """Something has that name already."""

    status = 409


class TooManyError(ServerError):
    """There are as many as there may be."""

    status = 429


class TooLargeError(ServerError):
    """A body, a query or a result is larger than it may be."""

    status = 413


class BusyError(ServerError):
    """The server has too much to do, or cannot do anything any more."""

    status = 503


_STATUS = (
    (QueryError, 400),
    (DataError, 400),
    (OptionError, 400),
    (PendingLimitError, 413),
    (ChangeLimitError, 413),
    (StorageError, 507),
)


def status_of(error: MillstreamError) -> int:
    """The status of HTTP that says what kind of error it is."""
    if isinstance(error, ServerError):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def described(error: MillstreamError) -> dict[str, Any]:
    """The body of a response: the message, with a place where there is one."""
    if isinstance(error, StorageError):
        return {"error": "the server cannot write its log"}
    if isinstance(error, DataError):
        found: dict[str, Any] = {"error": error.reason}
    else:
        found = {"error": str(error)}
    for name in ("line", "column"):
        if getattr(error, name, None) is not None:
            found[name] = getattr(error, name)
    return found
