"""From the bytes of N-Triples to decoded answers, beside the prototypes and beside asking a store again at every event.

One triple an element, a thousand a second, a window of 100,000 ms. Before any time counts, the number of answers that hold
after each event must be the same in the engine and in the prototype, over the whole stream, and in pyoxigraph over a
stretch of it.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox

import millstream as ms
from benchmarks import yardstick
from benchmarks.report import Cell, Part, Progress, Table, at_least
from benchmarks.timing import Effort, take_turns
from benchmarks.workloads import QUERIES, STREAM, Encoded, Patterns, cqels, encoded, plain, universities

ABOUT = "N-Triples bytes to decoded answers through `engine.read`, one triple an event; M triples a CPU-second."
BATCH = 16_384
TARGETS = {"Q5": 3.0, "Q6": 3.0}
TARGET = 2.0
TIMES_A_STORE = 1000.0


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    window: int
    rounds: int
    stretch_s: float
    """CPU seconds that the store gets for each query."""


SIZES: dict[Effort, Size] = {
    "smoke": Size(15_000, 5_000, 1, 0.01),
    "quick": Size(250_000, 100_000, 2, 0.1),
    "full": Size(1_500_000, 100_000, 5, 3.0),
}


def run(effort: Effort, progress: Progress) -> Part:
    size = SIZES[effort]
    part = Part("answers", ABOUT)
    prototypes = yardstick.build(effort, progress)
    if not prototypes:
        part.missing.append(f"columns of the prototypes: {yardstick.ABSENT}")
    progress("making universities")
    stream = encoded(islice(universities(12), size.triples))
    quads = first_quads(stream, 2 * size.window)
    rows: list[list[Cell]] = []
    for name, patterns in QUERIES.items():
        progress(f"{name}, checking answers")
        held = by_engine(stream, patterns, size.window)
        if prototypes:
            np.testing.assert_array_equal(held, by_prototype(stream, patterns, size.window))
        events, seconds = by_store(quads, patterns, size.window, size.stretch_s, held)
        progress(f"{name}, timing")
        runs: dict[str, Callable[[], int]] = {"engine": lambda p=patterns: answer(stream, p, size.window)}  # type: ignore[misc]
        if prototypes:
            runs["parse"] = lambda: parse(stream)
            runs["join"] = lambda p=patterns: join(stream, p, size.window)  # type: ignore[misc]
        found = take_turns(runs, size.rounds)
        speed = {run: len(stream) / timed.seconds / 1e6 for run, timed in found.items()}
        both = len(stream) / (found["parse"].seconds + found["join"].seconds) / 1e6 if prototypes else None
        rows.append(
            [
                name,
                speed["engine"],
                speed.get("parse"),
                speed["engine"] / speed["parse"] if prototypes else None,
                both,
                speed["engine"] / both if both else None,
                events / seconds,
                events,
                speed["engine"] * 1e6 / (events / seconds),
                found["engine"].result,
                int(held.max()),
            ]
        )
        part.targets.append(at_least(f"{name}, bytes to answers", TARGETS.get(name, TARGET), speed["engine"], " M/CPU-s"))
    columns = (
        "query",
        "engine",
        "prototype's parser",
        "ratio",
        "its parser + join",
        "ratio",
        "store, events/CPU-s",
        "events",
        "times the store",
        "answers",
        "most at once",
    )
    notes = [
        "the prototype's parser does not validate; its join takes ids and decodes nothing",
        "store: pyoxigraph in memory, kept at the window's content, parsed triples given, queried after each event",
        "its speed is that of the events shown beside it, once the window was full, taken to hold for the rest",
    ]
    part.tables.append(Table(f"{len(stream):,} triples, window {size.window:,}", columns, rows, notes))
    for row in rows:
        times = float(row[8] or 0)
        part.targets.append(at_least(f"{row[0]}, over asking the store at every event", TIMES_A_STORE, times, " times"))
    return part


def answer(stream: Encoded, patterns: Patterns, window: int, output: str = "istream") -> int:
    """How many answers the engine gives, all of them decoded."""
    engine = ms.Engine()
    query = engine.register(cqels(patterns, window), output=output)
    engine.read(STREAM, stream.text, format="nt", time="rate:1000")
    return int(query.take_table().num_rows)


def parse(stream: Encoded) -> int:
    """The prototype's parser and dictionary alone."""
    out = np.empty((len(stream), 3), np.int64)
    return int(yardstick.kernel().Dict().parse(np.frombuffer(stream.text, np.uint8), out))


def join(stream: Encoded, patterns: Patterns, window: int) -> int:
    """The prototype's join alone, over encoded triples."""
    return sum(len(rows) for rows in _joined(stream, patterns, window, keep=False))


def _joined(stream: Encoded, patterns: Patterns, window: int, *, keep: bool) -> list[npt.NDArray[np.int64]]:
    prototype = yardstick.join(patterns, stream.ids)
    at, ones, rows = np.arange(len(stream)), np.ones(len(stream), np.int64), []
    for k in range(0, len(stream), BATCH):
        b = slice(k, k + BATCH)
        prototype.feed(*(column[b] for column in stream.columns), at[b], at[b] + window, ones[b])
        if keep:
            rows.append(prototype.rows())
    return rows


def by_engine(stream: Encoded, patterns: Patterns, window: int) -> npt.NDArray[np.int64]:
    """How many answers hold after each event."""
    engine = ms.Engine()
    query = engine.register(cqels(patterns, window), output="changes")
    engine.read(STREAM, stream.text, format="nt", time="rate:1000")
    table = query.take_table()
    return _held(len(stream), table["at_ms"].to_numpy(), table["weight"].to_numpy())


def by_prototype(stream: Encoded, patterns: Patterns, window: int) -> npt.NDArray[np.int64]:
    """The same from the intervals the prototype writes: one ends where the next of the same match begins."""
    rows = np.concatenate(_joined(stream, patterns, window, keep=True))
    start, end, weight = rows[:, -3], rows[:, -2], rows[:, -1]
    return _held(len(stream), np.concatenate([start, end]), np.concatenate([weight, -weight]))


def _held(events: int, at: npt.NDArray[np.int64], weight: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    change = np.zeros(events, np.int64)
    inside = at < events
    np.add.at(change, at[inside], weight[inside])
    return np.cumsum(change)


def first_quads(stream: Encoded, count: int) -> list[ox.Quad]:
    head = b"".join(islice(io.BytesIO(stream.text), count))
    parsed = ox.parse(io.BytesIO(head), format=ox.RdfFormat.N_TRIPLES)
    return [ox.Quad(t.subject, t.predicate, t.object) for t in parsed]


def by_store(
    quads: list[ox.Quad], patterns: Patterns, window: int, budget_s: float, held: npt.NDArray[np.int64]
) -> tuple[int, float]:
    """Events and CPU seconds of a store that is asked again at every event, its answers counted against `held`."""
    store, query = ox.Store(), plain(patterns)
    latest = {quad: at for at, quad in enumerate(quads[:window])}
    store.bulk_extend(latest)
    seconds, events = 0.0, 0
    for at in range(window, len(quads)):
        quad, gone = quads[at], quads[at - window]
        latest[quad] = at
        leaves = latest[gone] == at - window
        began = time.process_time()
        if leaves:
            store.remove(gone)
        store.add(quad)
        answers = len(list(store.query(query)))  # type: ignore[arg-type]
        seconds += time.process_time() - began
        assert answers == held[at], f"after event {at}: {answers} in the store, {held[at]} in the engine"
        if leaves:
            del latest[gone]
        events += 1
        if seconds > budget_s and events >= 10:
            break
    return events, seconds
