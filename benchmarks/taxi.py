"""The two queries of the DEBS 2015 grand challenge over taxi trips: in batches, one by one, and with longer windows.

Trips are elements of ten triples. The peer recomputes: after a trip pyoxigraph evaluates the query over what its windows
hold. It is asked for a few trips only, and for the second query in a form it does well, without NOT EXISTS.
"""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox

import millstream as ms
from benchmarks.report import Cell, Part, Progress, Table, at_least
from benchmarks.timing import Effort, apart
from benchmarks.workloads.trips import (
    QUERIES,
    STREAM,
    Trip,
    as_table,
    as_text,
    real_path,
    real_trips,
    repeated,
    seeded_trips,
    with_windows,
)
from tests.reference import ELEMENT, Reference

ABOUT = "Taxi trips of ten triples each, an element at a drop-off; the queries of the DEBS 2015 grand challenge as SPARQL."
IN_BATCHES = {"frequent routes": 200_000, "profitable areas": 60_000}
ONE_BY_ONE = {"frequent routes": 20_000, "profitable areas": 10_000}
TIMES_RECOMPUTING = 100
MINUTES = (30, 60, 120, 240)
_NOT_EXISTS = re.compile(r"FILTER NOT EXISTS \{(.*?)FILTER \(\?pickup > \?dropoff\) \}", re.DOTALL)
_SINCE_LAST_PICKUP = r"{ SELECT ?taxi (MAX(?pickup) AS ?last) WHERE {\1} GROUP BY ?taxi } FILTER (?dropoff >= ?last)"


@dataclass(frozen=True, slots=True)
class Size:
    trips: int
    """Half of them fill the windows before anything is timed."""
    single: int
    """How many of them come one by one."""
    batch: int
    minutes: Sequence[int]


SIZES: dict[Effort, Size] = {
    "smoke": Size(400, 50, 100, (30,)),
    "quick": Size(30_000, 4_000, 5_000, (30,)),
    "full": Size(160_000, 20_000, 5_000, MINUTES),
}


@dataclass(frozen=True, slots=True)
class Found:
    """Trips a CPU-second, and the CPU seconds of single ones."""

    in_batches: float
    one_by_one: float
    delay_s: npt.NDArray[np.float64]
    changes: int
    recomputing: float


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("taxi", ABOUT)
    sources = ["seeded"]
    if real_path().exists():
        sources.append("real")
    else:
        part.missing.append(f"real trips: there is no {real_path()}; MILLSTREAM_SUITES names the folder of suites")
    rows: list[list[Cell]] = []
    for name in QUERIES:
        for source in sources:
            for minutes in size.minutes if source == "seeded" else size.minutes[:1]:
                progress(f"{name}, {source} trips, {minutes} minutes")
                found = apart(effort, measure, name, source, minutes, size)
                median, high, most = np.percentile(found.delay_s, (50, 99, 100)) * 1e6
                speeds: list[Cell] = [found.in_batches, found.one_by_one, found.recomputing]
                rows.append([name, source, minutes, *speeds, median, high, most, found.changes])
                if minutes == size.minutes[0]:
                    label = f"{name}, {source} trips"
                    part.targets += [
                        at_least(f"{label}, in batches, a CPU-second", IN_BATCHES[name], found.in_batches),
                        at_least(f"{label}, one by one, a CPU-second", ONE_BY_ONE[name], found.one_by_one),
                        at_least(
                            f"{label}, one by one, times recomputing",
                            TIMES_RECOMPUTING,
                            found.one_by_one / found.recomputing,
                        ),
                    ]
    columns = ("query", "trips", "window min", "in batches/CPU-s", "one by one/CPU-s", "recomputing/CPU-s")
    delays = ("median us", "99 % us", "longest us", "changes")
    notes = [
        f"batches of {size.batch:,} trips by push_table; one by one by push, as text; windows full",
        "the delay is the CPU time of one push, in which all that the trip changes is emitted",
        "the second query has a shorter window of half the length beside the one given",
    ]
    part.tables = [Table("trips", (*columns, *delays), rows, notes)]
    return part


def measure(name: str, source: str, minutes: int, size: Size) -> Found:
    """One query over trips of one kind, in a process of its own."""
    trips = seeded_trips(size.trips) if source == "seeded" else repeated(real_trips(real_path()), size.trips)
    text = with_windows(QUERIES[name], minutes)
    in_batches, changes = _in_batches(text, trips, size)
    one_by_one, delay_s = _one_by_one(text, trips, size)
    return Found(in_batches, one_by_one, delay_s, changes, _recomputing(text, trips, minutes))


def _in_batches(text: str, trips: list[Trip], size: Size) -> tuple[float, int]:
    engine = ms.Engine()
    query = engine.register(text, output="changes")
    speeds, changes = [], 0
    for first in range(0, len(trips), size.batch):
        some = trips[first : first + size.batch]
        table = as_table(some, first)
        gc.collect()
        began = time.process_time()
        engine.push_table(STREAM, table)
        seconds = time.process_time() - began
        if first >= len(trips) // 2:
            speeds.append(len(some) / seconds)
        changes += query.take_table().num_rows
    return float(np.median(speeds)), changes


def _one_by_one(text: str, trips: list[Trip], size: Size) -> tuple[float, npt.NDArray[np.float64]]:
    """Every second hundred as a whole, the others with a clock around each."""
    engine = ms.Engine()
    query = engine.register(text, output="changes")
    before = len(trips) - size.single
    engine.push_table(STREAM, as_table(trips[:before]))
    query.take_table()
    elements = [(as_text(n, trips[n]), trips[n].dropoff_ms) for n in range(before, len(trips))]
    speeds, delays, push = [], [], engine.push
    for first in range(0, len(elements), 100):
        some = elements[first : first + 100]
        if first // 100 % 2:
            began = time.process_time()
            for element, at_ms in some:
                push(STREAM, element, at_ms)
            speeds.append(len(some) / (time.process_time() - began))
        else:
            for element, at_ms in some:
                began = time.thread_time()
                push(STREAM, element, at_ms)
                delays.append(time.thread_time() - began)
        query.take_table()
    return float(np.median(speeds or [len(delays) / sum(delays)])), np.array(delays)


def _recomputing(text: str, trips: list[Trip], minutes: int) -> float:
    """How many trips a CPU-second pyoxigraph takes that evaluates the query over the windows' content after each."""
    query = Reference().register(_NOT_EXISTS.sub(_SINCE_LAST_PICKUP, text))
    now = trips[-1].dropoff_ms
    for number, trip in enumerate(trips):
        if trip.dropoff_ms > now - minutes * 60_000:
            element = tuple(q.triple for q in ox.parse(as_text(number, trip), format=ox.RdfFormat.N_TRIPLES))
            for window in query.windows.values():
                window.arrive(element, trip.dropoff_ms)
    store = ox.Store()
    for graph, triples in query.contents((now, ELEMENT)):
        store.extend(ox.Quad(t.subject, t.predicate, t.object, graph) for t in triples)
    began = time.process_time()
    query.evaluate_in(store)
    return 1 / (time.process_time() - began)
