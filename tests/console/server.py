"""`millstream serve` in a process of its own, and what tests do to it behind the back of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.server.serving import PATIENCE_S, STREAM, Process

SEEN = "PREFIX : <http://e/> SELECT CHANGES ?x ?y WHERE { STREAM :a [RANGE 1s] { ?x :p ?y } }"


class ConsoleServer:
    """A server, at the same port after a restart."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._folder, self._arguments = folder, arguments
        self._process = Process(*arguments, cwd=folder)
        self.link = self._process.url
        address = httpx.URL(self.link)
        self.url = f"http://{address.host}:{address.port}"
        self.token = address.params["token"]
        self.http = httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {self.token}"}, timeout=PATIENCE_S)

    def register(self, text: str, name: str) -> None:
        found = self.http.post("/queries", json={"name": name, "text": text})
        assert found.status_code == 201, found.text

    def push(self, lines: str, at_ms: int | None = None, stream: str = STREAM, **options: str) -> dict[str, Any]:
        params = {"iri": stream, **({} if at_ms is None else {"at_ms": str(at_ms)}), **options}
        found = self.http.post("/streams", params=params, content=lines, headers={"Content-Type": "application/n-triples"})
        assert found.status_code == 200, found.text
        return dict(found.json())

    def kill(self) -> None:
        self._process.kill()

    def start_again(self) -> None:
        self._process = Process(*self._arguments, cwd=self._folder, port=httpx.URL(self.url).port or 0)

    def stop(self) -> None:
        self.http.close()
        self._process.stop()
