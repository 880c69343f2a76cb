"""From a push to the event at every subscriber: many of one query, and many queries with some each, beside a plain echo."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass

from benchmarks.report import Cell, Part, Progress, Table
from benchmarks.serving import Connection, Server, closed, connected, served, share
from benchmarks.timing import Effort

ABOUT = "Server-Sent Events on this machine: from the moment a push is sent to when each subscriber has its event."
STREAM = "http://example.org/s"


@dataclass(frozen=True, slots=True)
class Size:
    queries: tuple[int, int]
    """How many queries, and subscribers of each, in the second measurement."""
    subscribers: int
    """How many of one query, in the first."""
    pushes: int


SIZES: dict[Effort, Size] = {
    "smoke": Size((3, 2), 5, 3),
    "quick": Size((100, 10), 1_000, 20),
    "full": Size((100, 10), 1_000, 200),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("server-subscribers", ABOUT)
    shapes = ((1, 1), (1, size.subscribers), size.queries)[effort == "smoke" :]
    progress.expect(1 + len(shapes))
    progress("echo")
    echo = asyncio.run(_echo(size.pushes * 10))
    rows: list[list[Cell]] = [["echo", 1, size.pushes * 10, share(echo, 0.5) * 1e3, share(echo, 0.99) * 1e3, None]]
    for queries, each in shapes:
        progress(f"{queries} queries, {each} subscribers each")
        with served(durable=True) as server:
            found, memory = asyncio.run(_measured(server, queries, each, size.pushes))
        name = f"{queries:,} {'query' if queries == 1 else 'queries'}, {each:,} each"
        rows.append([name, queries * each, len(found), share(found, 0.5) * 1e3, share(found, 0.99) * 1e3, memory])
    columns = ("what", "subscribers", "events", "p50 ms", "p99 ms", "KiB a subscriber")
    notes = [
        "each push brings one answer of every query, and is on disk before anybody hears of it",
        "echo: a line to a plain socket of an idle process on this machine and back",
        "one client process has all connections, and its work is in these times",
    ]
    part.tables.append(Table("Push to event", columns, rows, notes))
    return part


async def _measured(server: Server, queries: int, each: int, pushes: int) -> tuple[list[float], float]:
    async with connected(server) as pusher:
        for number in range(queries):
            # Each differs in a constant.
            text = f"SELECT ?x WHERE {{ STREAM <{STREAM}> [RANGE 1ms] {{ ?x <http://example.org/p{number}> ?n }} }}"
            body = json.dumps({"name": f"q{number}", "text": text}).encode()
            await pusher.ask("POST", "/queries", body, "application/json")
        await _push(pusher, queries, 0)
        before = server.resident
        subscribers = [_Subscriber(server, f"q{number}") for number in range(queries) for _ in range(each)]
        for subscriber in subscribers:
            await subscriber.begin()
        memory = (server.resident - before) / len(subscribers) / 1024
        found: list[float] = []
        for turn in range(1, pushes + 1):
            began = time.perf_counter()
            waiting = [asyncio.ensure_future(subscriber.next()) for subscriber in subscribers]
            await _push(pusher, queries, 10 * turn)
            found += [moment - began for moment in await asyncio.gather(*waiting)]
        for subscriber in subscribers:
            await subscriber.end()
    return found, memory


async def _push(pusher: Connection, queries: int, at_ms: int) -> None:
    lines = (f'<http://example.org/x> <http://example.org/p{number}> "{at_ms}" .\n' for number in range(queries))
    found = await pusher.ask("POST", f"/streams?iri={STREAM}&at_ms={at_ms}", "".join(lines).encode())
    assert found["elements"] == 1, found


class _Subscriber:
    """A connection on which events come."""

    def __init__(self, server: Server, name: str) -> None:
        self._server, self._name = server, name

    async def begin(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        self._writer.write(self._server.head("GET", f"/queries/{self._name}/events"))
        await self.next()

    async def next(self) -> float:
        """When the next notification was there."""
        while True:
            line = await self._reader.readline()
            assert line, "the server has closed"
            if line.startswith(b'data: {"notification'):
                return time.perf_counter()

    async def end(self) -> None:
        await closed(self._writer)


async def _echo(count: int) -> list[float]:
    ended = asyncio.Event()

    async def back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        await closed(writer)
        ended.set()

    server = await asyncio.start_server(back, "127.0.0.1", 0)
    found = []
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        for _ in range(count):
            began = time.perf_counter()
            writer.write(b"x" * 300 + b"\n")
            await reader.readline()
            found.append(time.perf_counter() - began)
        await closed(writer)
        await ended.wait()
    return found
