"""A client of `millstream serve`: register, push, ask, and subscribe as an iterator that resumes by itself.

>>> from millstream.client import Client
>>> client = Client("http://127.0.0.1:7077", token="...")                              # doctest: +SKIP
>>> client.register("SELECT ?x WHERE { STREAM <http://e/s> [RANGE 10s] { ?x ?p ?y } }", name="seen")   # doctest: +SKIP
>>> for change in client.subscribe("seen"):                                            # doctest: +SKIP
...     print(change.at_ms, change.added, change.removed)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from millstream.errors import MillstreamError
from millstream.lazy import missing

try:
    import httpx
except ModuleNotFoundError as _error:
    raise missing(__name__, _error, "server") from None

_PATIENCE_S = 60.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 2.0


class ClientError(MillstreamError):
    """What a server refused, with its status; 0 if it could not be reached."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Change:
    """A notification: what was added and removed at a time, each a solution as SPARQL's JSON results have it.

    A snapshot is all there is, and replaces what came before; `missed` says that changes before it were not seen.
    """

    id: str
    at_ms: int
    added: list[dict[str, Any]]
    removed: list[dict[str, Any]]
    sequence: int
    is_snapshot: bool = False
    missed: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """The clock of the server, in event time."""

    at_ms: int


class Client:
    """One server, by its address; the link that it printed will do, token and all."""

    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = 60.0) -> None:
        parts = urlsplit(url)
        token = token or next(iter(parse_qs(parts.query).get("token", ())), None)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._http = httpx.Client(base_url=base, headers=headers, timeout=timeout_s)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all connections."""
        self._http.close()

    def _call(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            found = self._http.request(method, path, **options)
        except httpx.HTTPError as error:
            raise ClientError(f"the server cannot be reached: {error}") from error
        return _checked(found)

    # Queries ----------------------------------------------------------------------------------------------------------

    def register(self, text: str, name: str | None = None, output: str | None = None) -> str:
        """Registers a query; gives its name."""
        given = {"text": text, "name": name, "output": output}
        found = self._call("POST", "/queries", json={key: value for key, value in given.items() if value is not None})
        return str(found.json()["name"])

    def queries(self) -> list[dict[str, Any]]:
        """All queries, with what is known of each."""
        found: list[dict[str, Any]] = self._call("GET", "/queries").json()["queries"]
        return found

    def query(self, name: str) -> dict[str, Any]:
        """One query."""
        found: dict[str, Any] = self._call("GET", f"/queries/{quote(name, safe='')}").json()
        return found

    def operators(self, name: str) -> dict[str, Any]:
        """What each operator of a query has done, and where CPU time goes while this is asked for."""
        found: dict[str, Any] = self._call("GET", f"/queries/{quote(name, safe='')}/operators").json()["operators"]
        return found

    def close_query(self, name: str) -> None:
        """Ends a query."""
        self._call("DELETE", f"/queries/{quote(name, safe='')}")

    def answers(self, name: str) -> list[dict[str, Any]]:
        """The answer set of a SELECT now."""
        accept = {"Accept": "application/sparql-results+json"}
        found = self._call("GET", f"/queries/{quote(name, safe='')}/answers", headers=accept).json()
        bindings: list[dict[str, Any]] = found["results"]["bindings"]
        return bindings

    def sparql(self, text: str) -> Any:
        """A one-off query over the datasets: solutions, or a bool for ASK."""
        accept = {"Accept": "application/sparql-results+json"}
        found = self._call("POST", "/sparql", data={"query": text}, headers=accept).json()
        return found["boolean"] if "boolean" in found else found["results"]["bindings"]

    # Data -------------------------------------------------------------------------------------------------------------

    def push(
        self,
        stream: str,
        data: str | bytes | Iterable[bytes],
        at_ms: int | None = None,
        *,
        format: str = "application/n-triples",
        time: str | None = None,
        element: str | None = None,
    ) -> dict[str, Any]:
        """Elements of a stream; gives how many were taken, late and rejected."""
        given = {"iri": stream, "at_ms": at_ms, "time": time, "element": element}
        content = data.encode() if isinstance(data, str) else data
        found: dict[str, Any] = self._call(
            "POST",
            "/streams",
            params={key: value for key, value in given.items() if value is not None},
            content=content,
            headers={"Content-Type": format},
        ).json()
        return found

    def update(self, text: str) -> None:
        """INSERT DATA and DELETE DATA."""
        self._call("POST", "/update", content=text.encode(), headers={"Content-Type": "application/sparql-update"})

    def put(self, data: str | bytes, graph: str | None = None, format: str = "text/turtle") -> None:
        """Replaces a graph, the default graph without a name."""
        params = {"default": ""} if graph is None else {"graph": graph}
        content = data.encode() if isinstance(data, str) else data
        self._call("PUT", "/datasets", params=params, content=content, headers={"Content-Type": format})

    # Subscriptions ----------------------------------------------------------------------------------------------------

    def subscribe(
        self, name: str, last_id: str | None = None, *, progress: bool = False, patience_s: float = _PATIENCE_S
    ) -> Iterator[Any]:
        """Changes of a query, beginning with a snapshot, or behind the change of an id; ends when the query is closed.

        Where the connection breaks it resumes behind the last change it gave; if for `patience_s` it cannot, that raises.
        With `progress`, also the clock as it moves.
        """
        pause: float = _FIRST_PAUSE_S
        failing_since: float | None = None
        while True:
            try:
                for event in self._events(name, last_id):
                    if event["event"] == "open":
                        pause, failing_since = _FIRST_PAUSE_S, None
                        continue
                    if event["event"] == "closed":
                        # The server may only have been stopped, to go on later.
                        self.query(name)
                        break
                    found = _event(event)
                    if isinstance(found, Change):
                        last_id = found.id
                    if progress or isinstance(found, Change):
                        yield found
            except ClientError as error:
                if error.status == 404:
                    return
                if (error.status and error.status < 500) or _is_over(failing_since, patience_s):
                    raise
            except httpx.HTTPError as error:
                if _is_over(failing_since, patience_s):
                    raise ClientError(f"the server cannot be reached: {error}") from error
            failing_since = failing_since or monotonic()
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _events(self, name: str, last_id: str | None) -> Iterator[dict[str, str]]:
        headers = {"Accept": "text/event-stream"} | ({} if last_id is None else {"Last-Event-ID": last_id})
        path = f"/queries/{quote(name, safe='')}/events"
        # The server says something every 15 seconds, if only that it is there.
        limits = httpx.Timeout(10.0, read=45.0)
        with self._http.stream("GET", path, headers=headers, timeout=limits) as response:
            if response.status_code != 200:
                response.read()
                _checked(response)
            yield {"event": "open"}
            found = {"event": "message"}
            for line in response.iter_lines():
                if not line:
                    if "data" in found:
                        yield found
                    found = {"event": "message"}
                    continue
                field, _, value = line.partition(":")
                if field:
                    found[field] = value.removeprefix(" ")


def _is_over(since: float | None, patience_s: float) -> bool:
    return since is not None and monotonic() - since > patience_s


def _event(event: dict[str, str]) -> Change | Progress:
    data = json.loads(event["data"])
    if event["event"] == "progress":
        return Progress(data["at_ms"])
    told = data["notification"]
    added, removed = (told[key]["results"]["bindings"] for key in ("addedResults", "removedResults"))
    snapshot, missed = told.get("snapshot", False), told.get("missed", False)
    return Change(event["id"], told["at_ms"], added, removed, told["sequence"], snapshot, missed)


def _checked(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    try:
        message = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        message = response.reason_phrase
    raise ClientError(str(message), response.status_code)
