"""The DEBS 2015 grand challenge: both queries over taxi trips, apart and together, with windows of 30 to 240 minutes.

Trips are elements of ten triples. The peer recomputes: after a trip pyoxigraph evaluates the query over what its windows
hold, in a form it does well: without NOT EXISTS. It is asked for a few trips only, and must give our answers.
"""

from __future__ import annotations

import gc
import re
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox

import millstream as ms
from benchmarks.recomputing import answer_set
from benchmarks.report import Cell, Part, Plot, Progress, Series, Table, at_least
from benchmarks.timing import Effort
from benchmarks.workloads.patterns import XSD
from benchmarks.workloads.suites import absence
from benchmarks.workloads.trips import (
    PER_MINUTE,
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
from millstream.windows.kinds import Range
from tests.reference import Reference

ABOUT = "Taxi trips of ten triples each, an element at a drop-off; the queries of the DEBS 2015 grand challenge as SPARQL."
BOTH = "both together"
RUNS = {name: (name,) for name in QUERIES} | {BOTH: tuple(QUERIES)}
IN_BATCHES = {"frequent routes": 400_000, "profitable areas": 150_000}
ONE_BY_ONE = {"frequent routes": 20_000, "profitable areas": 10_000}
TIMES_RECOMPUTING = 100
RECOMPUTED_MINUTES = 60
"""Beyond such windows the store takes minutes for one answer to the second query."""
RECOMPUTING_S = 3.0
"""No more trips are asked about once that took so long."""
PUBLISHED: list[list[Cell]] = [
    ["CQELS", 0.022, 0.068, "0.023, 0.075", 65.77, 69.02, 76.64],
    ["recomputing", 5.0, 194.0, "174, 220", 5_000.0, 22_000.0, 28_000.0],
]
PUBLISHED_ON = "published in 2015 for the first 20 days of the data, on a dual-core Xeon at 2.50 GHz with 8 GB"
_NOT_EXISTS = re.compile(r"FILTER NOT EXISTS \{(.*?)FILTER \(\?pickup > \?dropoff\) \}", re.DOTALL)
_SINCE_LAST_PICKUP = r"{ SELECT ?taxi (MAX(?pickup) AS ?last) WHERE {\1} GROUP BY ?taxi } FILTER (?dropoff >= ?last)"


@dataclass(frozen=True, slots=True)
class Size:
    more: int
    """Trips after the longest window is full; those before fill it."""
    single: int
    """How many of them come one by one."""
    batch: int
    minutes: Sequence[int]
    asked: int
    """After how many trips the store is asked."""

    def trips(self, minutes: int) -> int:
        return (minutes * PER_MINUTE if self.more >= PER_MINUTE * 30 else self.more) + self.more


SIZES: dict[Effort, Size] = {
    "smoke": Size(200, 50, 100, (30,), 2),
    "quick": Size(15_000, 2_000, 5_000, (30, 60), 3),
    "full": Size(30_000, 6_000, 5_000, (30, 60, 120, 240), 3),
}


@dataclass(frozen=True, slots=True)
class Found:
    """Trips a CPU-second, and the CPU seconds of single ones."""

    trips: int
    total_s: float
    in_batches: float
    one_by_one: float
    delay_s: npt.NDArray[np.float64]
    changes: int
    recomputing_s: float | None


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("challenge", ABOUT)
    part.data.append("seeded taxi trips")
    sources = ["seeded"]
    if effort == "smoke":
        part.missing.append("real trips, in the smallest run")
    elif real_path().exists():
        sources.append("real")
        part.data.append(
            f"the challenge's own trips of 1 January 2013, {len(real_trips(real_path())):,} of them over and over"
        )
    else:
        part.missing.append(absence("real trips", "debs2015"))
    cases = [
        (run, source, minutes)
        for run in RUNS
        for source in sources
        for minutes in (size.minutes if source == "seeded" else size.minutes[:1])
    ]
    progress.expect(len(cases))
    rows: list[list[Cell]] = []
    totals: list[list[Cell]] = []
    curves: dict[str, list[tuple[int, float]]] = {}
    for name, source, minutes in cases:
        progress(f"{name}, {source} trips, {minutes} minutes")
        found = measure(RUNS[name], source, minutes, size)
        median, high, most = np.percentile(found.delay_s, (50, 99, 100)) * 1e6
        again = found.recomputing_s
        times = again * found.one_by_one if again else None
        delays: list[Cell] = [median, high, most, found.one_by_one]
        rows.append([name, source, minutes, *delays, again * 1000 if again else None, times])
        whole = found.trips * again if again else None
        totals.append([name, source, minutes, found.trips, found.total_s, found.in_batches, found.changes, whole])
        if source == "seeded":
            curves.setdefault(name, []).append((minutes, float(median)))
            if again:
                curves.setdefault(f"{name}, recomputed", []).append((minutes, again * 1e6))
        if minutes == size.minutes[0] and name in IN_BATCHES:
            label = f"{name}, {source} trips"
            part.targets += [
                at_least(f"{label}, in batches, a CPU-second", IN_BATCHES[name], found.in_batches),
                at_least(f"{label}, one by one, a CPU-second", ONE_BY_ONE[name], found.one_by_one),
                at_least(f"{label}, one by one, times recomputing", TIMES_RECOMPUTING, times or 0.0),
            ]
    what = ("query", "trips", "window min")
    columns = (*what, "median us", "99 % us", "longest us", "one by one/CPU-s", "recomputing ms", "times")
    notes = [
        "the delay of a trip is the CPU time of one push, in which all that the trip changes is emitted; windows full",
        f"recomputing: pyoxigraph over what the windows hold, the median after up to {size.asked} trips; answers compared",
        "the second query has a shorter window of half the length beside the one given",
    ]
    part.tables.append(Table("delay of a trip", columns, rows, notes))
    columns_of_totals = (*what, "number of trips", "total s", "in batches/CPU-s", "changes", "recomputing s")
    notes = [
        f"total: CPU seconds for all trips, in batches of {size.batch:,} by push_table, answers taken after each",
        "recomputing: what asking the store after every trip would take at the speed above",
    ]
    part.tables.append(Table("total time", columns_of_totals, totals, notes))
    published = ("engine", "Q1 delay ms", "Q2 delay ms", "together", "Q1 total s", "Q2 total s", "together s")
    part.tables.append(Table("published", published, PUBLISHED, [f"{PUBLISHED_ON}; mean delay, wall time"]))
    if len(size.minutes) > 1:
        series = [Series(name, *zip(*points, strict=True)) for name, points in curves.items()]
        part.plots.append(
            Plot("Delay of a trip as windows grow", "window, minutes", "median CPU time of a trip, us", series, log_y=True)
        )
    return part


def measure(names: Sequence[str], source: str, minutes: int, size: Size) -> Found:
    """Some queries in one engine over trips of one kind."""
    count = size.trips(minutes)
    trips = seeded_trips(count) if source == "seeded" else repeated(real_trips(real_path()), count)
    texts = [with_windows(QUERIES[name], minutes) for name in names]
    total_s, in_batches, changes = _in_batches(texts, trips, size)
    asked = size.asked if minutes <= RECOMPUTED_MINUTES else 0
    one_by_one, delay_s, recomputing_s = _one_by_one(texts, trips, size, asked)
    return Found(count, total_s, in_batches, one_by_one, delay_s, changes, recomputing_s)


def _in_batches(texts: list[str], trips: list[Trip], size: Size) -> tuple[float, float, int]:
    engine = ms.Engine()
    queries = [engine.register(text, output="changes") for text in texts]
    total_s, speeds, changes = 0.0, [], 0
    for first in range(0, len(trips), size.batch):
        some = trips[first : first + size.batch]
        table = as_table(some, first)
        gc.collect()
        began = time.process_time()
        engine.push_table(STREAM, table)
        seconds = time.process_time() - began
        if first >= len(trips) - size.more:
            speeds.append(len(some) / seconds)
        changes += sum(query.take_table().num_rows for query in queries)
        total_s += time.process_time() - began
    return total_s, float(np.median(speeds)), changes


def _one_by_one(
    texts: list[str], trips: list[Trip], size: Size, asked: int
) -> tuple[float, npt.NDArray[np.float64], float | None]:
    """Every second hundred as a whole, the others with a clock around each; then the store is asked after the last ones."""
    engine = ms.Engine()
    queries = [engine.register(text, output="changes") for text in texts]
    before = len(trips) - size.single
    engine.push_table(STREAM, as_table(trips[:before]))
    for query in queries:
        query.take_table()
    elements = [(as_text(n, trips[n]), trips[n].dropoff_ms) for n in range(before, len(trips))]
    speeds, delays, push = [], [], engine.push
    last = len(elements) - asked
    for first in range(0, last, 100):
        some = elements[first : min(first + 100, last)]
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
        for query in queries:
            query.take_table()
    speed = float(np.median(speeds or [len(delays) / sum(delays)]))
    return speed, np.array(delays), _ask_again(engine, queries, texts, trips, before + last) if asked else None


def _ask_again(
    engine: ms.Engine, queries: list[ms.ContinuousQuery], texts: list[str], trips: list[Trip], first: int
) -> float:
    """CPU seconds that stores take to evaluate the queries after the last trips, as long as there is time."""
    stores = [_Store(text, trips, first) for text in texts]
    asked: list[float] = []
    for place in range(first, len(trips)):
        engine.push(STREAM, as_text(place, trips[place]), trips[place].dropoff_ms)
        if sum(asked) > RECOMPUTING_S:
            break
        found = [store.ask(place) for store in stores]
        for query, (wanted, _) in zip(queries, found, strict=True):
            assert _by_value(answer_set(query)) == _by_value(wanted), f"after trip {place} the store has other answers"
        asked.append(sum(seconds for _, seconds in found))
    return float(np.median(asked))


class _Store:
    """A query in a form that pyoxigraph does well, over a store that is kept at what the windows hold."""

    def __init__(self, text: str, trips: list[Trip], first: int) -> None:
        self._query = Reference().register(_NOT_EXISTS.sub(_SINCE_LAST_PICKUP, text))
        self._ranges = {graph: _range_ms(window) for window, graph in self._query.plain.window_graphs.items()}
        self._times = [trip.dropoff_ms for trip in trips]
        self._store = ox.Store()
        oldest = bisect_right(self._times, self._times[first] - max(self._ranges.values()))
        text = "".join(as_text(number, trips[number]) for number in range(oldest, len(trips)))
        triples = [quad.triple for quad in ox.parse(text, format=ox.RdfFormat.N_TRIPLES)]
        self._trips = {number: triples[(number - oldest) * 10 :][:10] for number in range(oldest, len(trips))}
        self._held = dict.fromkeys(self._ranges, range(oldest, oldest))

    def ask(self, place: int) -> tuple[Counter[Any], float]:
        """The answers right after a trip, and the CPU seconds that evaluating the query takes."""
        for graph, range_ms in self._ranges.items():
            before, now = self._held[graph], range(bisect_right(self._times, self._times[place] - range_ms), place + 1)
            for number in before[: max(0, now.start - before.start)]:
                for triple in self._trips[number]:
                    self._store.remove(_quad(triple, graph))
            new = range(max(before.stop, now.start), now.stop)
            self._store.extend(_quad(triple, graph) for number in new for triple in self._trips[number])
            self._held[graph] = now
        began = time.process_time()
        found = self._query.evaluate_in(self._store)
        return found, time.process_time() - began


def _range_ms(window: Any) -> int:
    assert isinstance(window.window, Range), f"the challenge has no windows like {window.window}"
    return window.window.range_ms


def _quad(triple: ox.Triple, graph: Any) -> ox.Quad:
    return ox.Quad(triple.subject, triple.predicate, triple.object, graph)


def _by_value(answers: Counter[Any]) -> Counter[Any]:
    """Numbers by their value: the store spells some differently, and divides with 18 digits."""
    values: Counter[Any] = Counter()
    for row, count in answers.items():
        values[tuple(_value(term) for term in row)] += count
    return values


def _value(term: Any) -> Any:
    if isinstance(term, ox.Literal) and term.datatype.value in (XSD + "decimal", XSD + "integer"):
        return round(Decimal(term.value), 12)
    return term
