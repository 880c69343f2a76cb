"""Elements over HTTP: one by one, over many connections, pipelined and in bulk; with every request on disk, and without."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from benchmarks.report import Cell, Part, Progress, Table
from benchmarks.serving import Connection, Server, connected, served, share
from benchmarks.timing import Effort

ABOUT = "Elements of one triple, pushed over HTTP on this machine; the client has a core of its own where there are two."
STREAM = "http://example.org/s"
QUERY = f"SELECT CHANGES ?x ?n WHERE {{ STREAM <{STREAM}> [RANGE 10s] {{ ?x <http://example.org/shows> ?n }} }}"
CONNECTIONS, PIPELINED, BULK = 16, 100, 1_000


@dataclass(frozen=True, slots=True)
class Size:
    requests: int
    bulks: int


SIZES: dict[Effort, Size] = {"smoke": Size(100, 2), "quick": Size(2_000, 50), "full": Size(20_000, 500)}
Way = Callable[[Server, int], Awaitable[tuple[int, list[float]]]]


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("server-pushes", ABOUT)
    progress.expect(2 * len(WAYS))
    rows: list[list[Cell]] = []
    for durable in (True, False):
        with served(durable=durable) as server:
            asyncio.run(_registered(server))
            for name, (way, is_bulk) in WAYS.items():
                progress(f"{name}, {'on disk' if durable else 'in memory'}")
                count = size.bulks if is_bulk else size.requests
                rows.append([name, "yes" if durable else "no", *asyncio.run(_measured(server, way, count))])
    columns = ("way", "on disk", "elements a second", "server's CPU us an element", "p50 ms", "p99 ms")
    notes = [f"p50 and p99 are of requests; a bulk has {BULK:,} elements, and answers are not subscribed to"]
    part.tables.append(Table("One query with a window of ten seconds", columns, rows, notes))
    return part


async def _registered(server: Server) -> None:
    async with connected(server) as connection:
        await connection.ask("POST", "/queries", json.dumps({"name": "q", "text": QUERY}).encode(), "application/json")


async def _measured(server: Server, way: Way, count: int) -> list[Cell]:
    async with connected(server) as connection:
        await way(server, min(count, 20))
        before = (await connection.ask("GET", "/queries/q"))["elements"]
        before_cpu, began = server.cpu_s, time.perf_counter()
        elements, seconds = await way(server, count)
        took, cpu = time.perf_counter() - began, server.cpu_s - before_cpu
        found = await connection.ask("GET", "/queries/q")
        assert found["elements"] == before + elements, "elements are missing"
    return [elements / took, cpu / elements * 1e6, share(seconds, 0.5) * 1e3, share(seconds, 0.99) * 1e3]


_clock = [0]


def _next_ms() -> int:
    _clock[0] += 1
    return _clock[0]


def _send(connection: Connection) -> None:
    at_ms = _next_ms()
    body = f'<http://example.org/x{at_ms % 1000}> <http://example.org/shows> "{at_ms}" .'.encode()
    connection.send("POST", f"/streams?iri={STREAM}&at_ms={at_ms}", body)


async def _answered(connection: Connection, began: float) -> float:
    found = await connection.response()
    assert found["elements"] == 1, found
    return time.perf_counter() - began


async def one_by_one(server: Server, count: int) -> tuple[int, list[float]]:
    seconds = []
    async with connected(server) as connection:
        for _ in range(count):
            began = time.perf_counter()
            _send(connection)
            seconds.append(await _answered(connection, began))
    return count, seconds


async def concurrently(server: Server, count: int) -> tuple[int, list[float]]:
    """Many connections, one request under way on each; all at one time, so that none is late."""
    seconds: list[float] = []
    at_ms = _next_ms()

    async def go(number: int) -> None:
        async with connected(server) as connection:
            for turn in range(count // CONNECTIONS + 1):
                body = f'<http://example.org/x{number}> <http://example.org/shows> "{at_ms}-{turn}" .'.encode()
                began = time.perf_counter()
                connection.send("POST", f"/streams?iri={STREAM}&at_ms={at_ms}", body)
                seconds.append(await _answered(connection, began))

    await asyncio.gather(*map(go, range(CONNECTIONS)))
    return len(seconds), seconds


async def pipelined(server: Server, count: int) -> tuple[int, list[float]]:
    """One connection, many requests under way."""
    seconds, sent = [], []
    async with connected(server) as connection:
        for number in range(count):
            sent.append(time.perf_counter())
            _send(connection)
            if number >= PIPELINED:
                seconds.append(await _answered(connection, sent[number - PIPELINED]))
        for began in sent[max(0, count - PIPELINED) :]:
            seconds.append(await _answered(connection, began))
    return count, seconds


async def in_bulk(server: Server, count: int) -> tuple[int, list[float]]:
    seconds = []
    async with connected(server) as connection:
        for _ in range(count):
            at_ms = _next_ms()
            lines = (f'<http://example.org/x{n}> <http://example.org/shows> "{at_ms}" .\n' for n in range(BULK))
            body, began = "".join(lines).encode(), time.perf_counter()
            connection.send("POST", f"/streams?iri={STREAM}&at_ms={at_ms}&element=line", body)
            found = await connection.response()
            assert found["elements"] == BULK, found
            seconds.append(time.perf_counter() - began)
    return count * BULK, seconds


WAYS: dict[str, tuple[Way, bool]] = {
    "one by one": (one_by_one, False),
    f"{CONNECTIONS} connections": (concurrently, False),
    f"{PIPELINED} pipelined": (pipelined, False),
    f"bulks of {BULK:,}": (in_bulk, True),
}
