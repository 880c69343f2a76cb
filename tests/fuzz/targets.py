"""What is fed with garbage, and what must hold then."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from millstream import Engine, MillstreamError
from millstream.kernels.conjunctions.time_merge import TimeMerge
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.joins.join import FOREVER, IntervalJoin
from millstream.kernels.scanning.scanner import Scanned, Scanner
from millstream.kernels.scanning.summary import Summary
from tests.engine import alone
from tests.fuzz import flows, garbage, queries, readers, sessions, states
from tests.fuzz.snapshots import damaged_values

Target = Callable[[Random], None]


def scanner(chance: Random) -> None:
    """The same statements and complaints, however the bytes are cut; what is found can be read back."""
    whole = garbage.data(chance)
    graphs = chance.random() < 0.3
    summary = None if chance.random() < 0.5 else Summary([(None, b"<http://example.org/p>", None)])
    dictionary = Dictionary()

    def scan(pieces: list[bytes]) -> tuple[list[Any], list[Any]]:
        made = Scanner(dictionary, graphs=graphs, summary=summary, scope="s")
        found: list[Scanned] = [made.feed(piece) for piece in pieces]
        found.append(made.feed(b"", True))
        rows = [row for f in found for row in zip(f.s.tolist(), f.p.tolist(), f.o.tolist(), f.index.tolist(), strict=True)]
        return rows, [error for f in found for error in f.errors]

    rows, errors = scan([whole])
    assert scan(garbage.cuts(chance, whole)) == (rows, errors)
    ids = np.array([i for row in rows for i in row[:3]], np.int64)
    assert None not in dictionary.decode(ids).to_pylist()
    at_once = Scanner(dictionary, graphs=graphs, summary=summary)
    element = at_once.whole(whole, "s")
    distinct = list(dict.fromkeys(row[:3] for row in rows))
    assert (list(map(tuple, element.triples.tolist())), at_once.errors or []) == (distinct, errors)


def join(chance: Random) -> None:
    """Columns of the right kind with any content: taken, or refused with a ValueError; the join can be used on."""
    size = chance.randrange(1, 5)
    variables = chance.randrange(1, 5)
    patterns = [(chance.randrange(variables), chance.randrange(-1, variables)) for _ in range(size)]
    lanes = [chance.randrange(-1, 3) for _ in range(size)]
    try:
        made = IntervalJoin(patterns, lanes, variables, lazy=chance.random() < 0.5, adaptive=chance.random() < 0.5)
    except ValueError:
        return
    now = change = 0
    for _ in range(chance.randrange(1, 8)):
        rows = []
        for _ in range(chance.randrange(12)):
            now += chance.choice([0, 1, 3]) if chance.random() < 0.98 else abs(garbage.number(chance)) >> 3
            change += chance.choice([0, 1])
            until = now + chance.choice([-1, 0, 1, 5, 20])
            rows.append(
                (
                    garbage.number(chance, size) if chance.random() < 0.05 else chance.randrange(size),
                    garbage.number(chance),
                    garbage.number(chance),
                    now,
                    garbage.number(chance) if chance.random() < 0.05 else until,
                    chance.choice([1, 1, 1, -1]) if chance.random() < 0.98 else garbage.number(chance),
                    change if chance.random() < 0.99 else garbage.number(chance),
                )
            )
        # Ticks lie below FOREVER: whoever feeds a join sees to that.
        if now >= FOREVER or any(not -(1 << 63) <= x < 1 << 63 for row in rows for x in row):
            return
        table = np.array(rows, np.int64).reshape(-1, 7)
        columns = [np.ascontiguousarray(table[:, i]) for i in range(7)]
        if chance.random() < 0.05 and len(table):
            columns[chance.randrange(7)] = np.zeros(len(table) + 1, np.int64)
        try:
            made.feed(*columns)
        except ValueError:
            continue
        made.take()
        if chance.random() < 0.2:
            made.expire(now)
    dumped = made.dump(now)
    again = IntervalJoin(patterns, lanes, variables)
    again.load(*dumped)
    assert sum(made.stats["entries"]) >= 0


def merge(chance: Random) -> None:
    """As for the join."""
    made = TimeMerge(width := chance.randrange(0, 3))
    now = 0
    for _ in range(chance.randrange(1, 6)):
        size = chance.randrange(6)
        columns = np.array([[chance.randrange(3) for _ in range(width)] for _ in range(size)], np.int64).reshape(size, width)
        start = [now + chance.choice([0, 0, 1, 4]) for _ in range(size)]
        until = [x + chance.choice([-1, 0, 1, 5]) if chance.random() < 0.9 else garbage.number(chance) for x in start]
        weight = [chance.choice([1, 1, -1, 0, 5]) for _ in range(size)]
        change = sorted(chance.randrange(5) for _ in range(size))
        try:
            made.push(columns, *(np.array(x, np.int64) for x in (change, [now] * size, start, until, weight)))
            now += chance.choice([0, 1, 5])
            made.drain(now)
        except ValueError:
            return


QUERIES = (
    "SELECT * WHERE { STREAM <http://e/s> [RANGE 5] { ?x <http://example.org/p> ?y } }",
    "SELECT * WHERE { STREAM <http://e/s> [RANGE 5 STEP 2] { ?x ?p ?y FILTER(?y > 3) } }",
    "SELECT * WHERE { STREAM <http://e/s> [TRIPLES 3] { ?x <http://example.org/p> ?y } ?y ?q ?z }",
    "SELECT * WHERE { STREAM <http://e/s> [SESSION 3] { ?x <http://example.org/p> ?y } ?y ?q ?z }",
    "SELECT * FROM STREAM <http://e/s> [EVENT] WHERE { ?x <http://example.org/q> ?y }",
    "SELECT * WHERE { ?x ?p ?y . ?y ?q ?z }",
)


def engine(chance: Random) -> None:
    """Any call with anything: only errors of ours come out, and the engine can be used on."""
    made = Engine(lateness_ms=chance.choice([0, 0, 2]), strict=chance.random() < 0.2)
    if chance.random() < 0.7:
        made.register(chance.choice(QUERIES), output=chance.choice([None, "changes", "rstream"]))
    for _ in range(chance.randrange(1, 8)):
        try:
            _call(made, chance)
        except MillstreamError as error:
            str(error)
    made.finish()
    for query in made.queries:
        query.solutions()
        query.take()
    made.rejected()
    assert made.stats["held"] == 0


def _call(made: Engine, chance: Random) -> None:
    stream = "http://e/s"
    at_ms: Any = chance.randrange(-2, 20) if chance.random() < 0.9 else chance.choice(garbage.ANYTHING)
    # A window that closes every other millisecond is not asked to do so for ages.
    if isinstance(at_ms, int) and abs(at_ms) > 1000:
        at_ms = str(at_ms)
    some: Any = chance.choice([garbage.text, garbage.data])(chance)
    if chance.random() < 0.2:
        some = [tuple(some.split()[:3])] if chance.random() < 0.5 else chance.choice(garbage.ANYTHING)
    anything: Any = chance.choice(garbage.ANYTHING)
    match chance.randrange(12):
        case 0 | 1:
            made.push(stream, some, at_ms=at_ms)
        case 2:
            made.push(anything, some, at_ms=at_ms)
        case 3:
            made.insert(some, at_ms=at_ms, graph=chance.choice([None, "http://e/g", anything]))
        case 4:
            made.delete(some, at_ms=at_ms)
        case 5:
            made.read(stream, garbage.data(chance), format=chance.choice(["nt", "nq", "turtle", "trig"]), time="rate:1000")
        case 6:
            whole = garbage.data(chance)
            source = gzip.compress(whole)[: chance.choice([None, 20])] if chance.random() < 0.5 else whole
            made.read(
                stream,
                source,
                format=chance.choice(["nt", "nq", "x", None]),
                time=chance.choice(["prov", "rate:0.3", "x", None]),
            )
        case 7:
            made.load(garbage.data(chance), format=chance.choice(["nt", "nq", "turtle", "jsonld", "rdfxml"]), graph=anything)
        case 8:
            made.read_changes(garbage.data(chance), format=chance.choice(["rdfpatch", "sparql", None]))
        case 9:
            made.push_table(stream, _table(chance))
        case 10:
            made.advance_to(at_ms)
        case _:
            made.register(
                anything if chance.random() < 0.5 else garbage.text(chance), output=chance.choice([None, "x", anything])
            )


def _table(chance: Random) -> Any:
    if chance.random() < 0.1:
        return chance.choice(garbage.ANYTHING)
    size = chance.randrange(5)
    columns: dict[str, Any] = {}
    for name in ("s", "p", "o"):
        cells = [
            "<http://example.org/p>" if chance.random() < 0.9 else chance.choice(["", None, "x", '"a\nb"'])
            for _ in range(size)
        ]
        columns[name] = pa.array(cells, chance.choice([pa.string(), pa.string(), pa.large_string()]))
    times = [chance.choice([1, 2, 3, (1 << 63) - 1]) if chance.random() < 0.9 else None for _ in range(size)]
    columns["at_ms"] = pa.array(times, chance.choice([pa.int64(), pa.int64(), pa.uint64(), pa.timestamp("ms")]))
    if chance.random() < 0.1:
        columns["at_ms"] = pa.array([(1 << 64) - 1] * size, pa.uint64())
    match chance.randrange(6):
        case 0:
            columns["element"] = pa.array([chance.randrange(2) for _ in range(size)])
        case 1:
            columns["element"] = pa.array([[1]] * size, pa.list_(pa.int64()))
        case 2:
            columns["element"] = pa.array([{"a": 1}] * size, pa.struct([("a", pa.int64())]))
        case 3:
            columns["element"] = pa.array([chance.choice(["a", None]) for _ in range(size)], pa.string())
        case 4:
            columns["element"] = pa.array([chance.choice([float("nan"), 1.0]) for _ in range(size)])
    return pa.table(columns)


TARGETS: dict[str, Target] = {
    "scanner": scanner,
    "join": join,
    "merge": merge,
    "flow": flows.flow,
    "engine": engine,
    "queries": queries.queries,
    "readers": readers.readers,
    "lines": readers.lines_kept,
    "mapping": readers.mapping,
    "snapshot": states.snapshot,
    "values": damaged_values,
    "checkpoint": states.checkpoint,
    "blobs": states.blobs,
    "static": states.static,
    "sessions": sessions.sessions,
    "alone": alone.check,
    "cells": sessions.cells,
}
