"""A server in a process of its own, and plain connections to it that cost little themselves."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_START = "from millstream.cli import main; main()"
_LIMITS = "[limits]\none_offs = 0\nsubscribers = 20000\nconnections = 20000\nwaiting_requests = 100000\n"


@dataclass(frozen=True, slots=True)
class Server:
    """Where it is, and which process it is."""

    port: int
    token: str
    pid: int

    @property
    def cpu_s(self) -> float:
        """The CPU time that it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def resident(self) -> int:
        """The memory that it has, in bytes."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def head(self, method: str, path: str, length: int = 0, kind: str = "application/n-triples") -> bytes:
        """The head of a request."""
        lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {self.token}"]
        lines += [f"Content-Type: {kind}", f"Content-Length: {length}"] if length else []
        return "\r\n".join([*lines, "", ""]).encode()


@contextmanager
def served(*, durable: bool) -> Iterator[Server]:
    """A server until the block ends; with a state on disk, or without."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "serve.toml").write_text(('state = "state"\n' if durable else "") + _LIMITS)
        process = subprocess.Popen(
            [sys.executable, "-c", _START, "serve", "serve.toml", "--port", "0"],
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            match = re.search(r"http://127.0.0.1:(\d+)/\?token=(\S+)", process.stderr.readline())
            assert match, "the server did not start"
            yield Server(int(match[1]), match[2], process.pid)
        finally:
            process.kill()
            process.communicate()


class Connection:
    """One connection: requests sent, responses read in order."""

    def __init__(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server = server
        self.reader = reader
        self.writer = writer

    def send(self, method: str, path: str, body: bytes = b"", kind: str = "application/n-triples") -> None:
        self.writer.write(self.server.head(method, path, len(body), kind) + body)

    async def response(self) -> Any:
        """The next response; it must be a good one."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        match = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        body = await self.reader.readexactly(int(match[1]) if match else 0)
        if not head.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(head.partition(b"\r\n")[0].decode() + " " + body.decode())
        return json.loads(body) if body else None

    async def ask(self, method: str, path: str, body: bytes = b"", kind: str = "application/n-triples") -> Any:
        self.send(method, path, body, kind)
        return await self.response()


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[Connection]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 22)
    try:
        yield Connection(server, reader, writer)
    finally:
        await closed(writer)


async def closed(writer: asyncio.StreamWriter) -> None:
    """Closes a connection, however it has ended."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


def share(values: list[float], part: float) -> float:
    """What a part of the values does not exceed."""
    found = sorted(values)
    return found[min(len(found) - 1, int(part * len(found)))]
