"""A server in a thread of the test's process, or in a process of its own, and small things to send to it."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from millstream.client import Client
from millstream.server.limits import ServerLimits
from millstream.server.serving import MillstreamServer
from millstream.server.settings import Settings

PROGRAM = str(Path(sys.executable).with_name("millstream"))
STREAM = "http://e/a"
SEEN = "PREFIX : <http://e/> SELECT CHANGES ?x ?y WHERE { STREAM :a [RANGE 1s] { ?x :p ?y } }"
ROOMS = "PREFIX : <http://e/> SELECT ?x ?y WHERE { ?x :in ?y }"
PATIENCE_S = 60.0


class Serving:
    """A server that runs, with a client of its own."""

    def __init__(self, server: MillstreamServer, thread: threading.Thread) -> None:
        self.server = server
        self._thread = thread
        self.url = f"http://127.0.0.1:{server.port}"
        self.headers = {} if server.token is None else {"Authorization": f"Bearer {server.token}"}
        self.http = httpx.Client(base_url=self.url, headers=self.headers, timeout=PATIENCE_S)

    def client(self) -> Client:
        return Client(self.server.url)

    def register(self, text: str, name: str, **options: Any) -> dict[str, Any]:
        found = self.http.post("/queries", json={"name": name, "text": text, **options})
        assert found.status_code == 201, found.text
        return dict(found.json())

    def push(self, text: str, at_ms: int | None = None, stream: str = STREAM, **options: str) -> dict[str, Any]:
        params = {"iri": stream, **({} if at_ms is None else {"at_ms": str(at_ms)}), **options}
        found = self.http.post("/streams", params=params, content=text, headers={"Content-Type": "application/n-triples"})
        assert found.status_code == 200, found.text
        return dict(found.json())

    def update(self, text: str) -> None:
        found = self.http.post("/update", content=text, headers={"Content-Type": "application/sparql-update"})
        assert found.status_code == 204, found.text

    def stop(self) -> None:
        self.http.close()
        self.server.stop()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


@contextlib.contextmanager
def serving(limits: dict[str, int] | None = None, **settings: Any) -> Iterator[Serving]:
    """A server on a port that was free, until the block ends."""
    # Without one-off queries no second process is started.
    chosen = ServerLimits(**{"one_offs": 0, **(limits or {})})
    options = {"port": 0, "progress_ms": 50, **settings}
    server = MillstreamServer(Settings(limits=chosen, **options))
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(ready.set,), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE_S)
    found = Serving(server, thread)
    try:
        yield found
    finally:
        found.stop()


class Process:
    """`millstream serve` as people start it."""

    def __init__(self, *arguments: str | Path, cwd: Path, port: int = 0) -> None:
        command = [PROGRAM, "serve", "--port", str(port), *map(str, arguments)]
        self.process = subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE, env=os.environ, text=True)
        self.said: list[str] = []
        self.url = self._link()

    def _link(self) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if match := re.match(r"serving: (\S+)", line):
                self._reader = threading.Thread(target=self._read, daemon=True)
                self._reader.start()
                return match[1]
        self.process.wait(PATIENCE_S)
        self.process.stderr.close()
        raise AssertionError("".join(self.said))

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.said.extend(self.process.stderr)

    def kill(self) -> None:
        self.process.kill()
        self._ended()

    def stop(self) -> int:
        self.process.terminate()
        return self._ended()

    def _ended(self) -> int:
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


def free_port() -> int:
    """A port that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def triple(subject: str, value: object) -> str:
    return f'<http://e/{subject}> <http://e/p> "{value}" .'


def values(bindings: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Rows of SPARQL's JSON results as plain values, in order."""
    return sorted(tuple(cell["value"].removeprefix("http://e/") for cell in row.values()) for row in bindings)


def until(true: Callable[[], Any]) -> Any:
    """Waits for something to become true."""
    ends = time.monotonic() + PATIENCE_S
    while not (found := true()):
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.01)
    return found
