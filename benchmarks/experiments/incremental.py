"""Matches kept up to date in large windows of event graphs: lazy and not, with filters and without (CGPM, figures 13-15).

Updates are activities of a social network, three at a time; the star query asks for eight things of every post. Windows
count triples. Stores are asked again after every update, and what the whole stream would take them is reckoned from some
places of it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import millstream as ms
from benchmarks.curves import Curves
from benchmarks.experiments.events import REAL, REAL_TRIPLES
from benchmarks.experiments.windows import OURS, timed_at
from benchmarks.limits import UNLIMITED, Limit, LimitError, within
from benchmarks.peers import adapter, ours
from benchmarks.peers.asking import Asked, Thoroughness
from benchmarks.peers.contents import Element, content, sliding
from benchmarks.peers.leading import LED, Place, lead
from benchmarks.peers.question import Comparison, Question
from benchmarks.peers.spooled import Stream, Way, ask_store, expect, time_ours
from benchmarks.peers.store import DUCKDB, OXIGRAPH, REJOIN, absent, stores
from benchmarks.report import Cell, Part, Plot, Progress, Table, medians_of
from benchmarks.timing import Effort
from benchmarks.workloads import snb, social, spool
from benchmarks.workloads.elements import grouped, one_by_one
from benchmarks.workloads.suites import absence

ABOUT = "Large windows of event graphs: lazy and not, with and without filters, background graphs (CGPM, figures 13-15)."
EAGER = "millstream, not lazy"
PEERS = (REJOIN, OXIGRAPH, DUCKDB)
STAR = Question(social.PATTERNS["star"])
MEASURED = [*social.STAR[:7], ("?post", social.v("length"), "?length")]
"""Eight patterns again, one of which has numbers."""
FILTERS: dict[str, Question] = {
    "no filter": Question(MEASURED),
    "atomic filter": Question(MEASURED, (Comparison("length", ">", 50),)),
}
COMPLEX = "complex filter"
COMPARED = "FILTER (?length < ?id)"
MINUTES = (1, 10, 60)
DAYS = (1, 7, 30)
A_DAY_MS = 24 * 3_600_000
ACTIVE = 200
"""Persons whose activities are joined with who knows whom."""
ACTIVITIES = 3
"""Of an update, 9 to 42 triples together."""


@dataclass(frozen=True, slots=True)
class Size:
    windows: Sequence[int]
    """In triples."""
    more: float
    """The stream is so many times as long as the window, which it fills first."""
    pushes: int
    """Single triples over background graphs."""
    background: int
    peers: Thoroughness
    rounds: int
    led: int = 0
    """The largest window with which engines in processes of their own are led through the stream."""


SIZES: dict[Effort, Size] = {
    "smoke": Size((2_000,), 2.0, 1_000, 5_000, Thoroughness(2, 2, 0.1), 1, 2_000),
    "quick": Size((10_000, 50_000), 1.5, 10_000, 50_000, Thoroughness(2, 4, 0.4), 3, 50_000),
    "full": Size((50_000, 200_000, 500_000), 1.2, 60_000, 500_000, Thoroughness(4, 5, 0.8), 3, 200_000),
    "huge": Size(
        (50_000, 1_000_000, 10_000_000, 30_000_000), 1.1, 200_000, 500_000, Thoroughness(1, 2, 20.0, patience_s=90), 1
    ),
}
LIMIT = Limit(60.0, 8_000_000_000)
"""For a store at one window, filling it included."""
ALONE = 100_000
"""From such windows on every competitor has a process of its own."""


def run(effort: Effort, progress: Progress) -> Part:
    size = SIZES[effort]
    part = Part("incremental", ABOUT, missing=[*absent(), *(adapter.absent() if size.led else [])])
    ours.warm_up()
    real = effort in REAL and snb.at_hand()
    progress.expect(2 * len(size.windows) + len(MINUTES) + 1 + real * len(DAYS))
    with tempfile.TemporaryDirectory() as folder:
        progress("making activities")
        path = Path(folder, "updates.arrow")
        triples = spool.write(path, updates_of(int(max(size.windows) * size.more)))
        part.data.append(f"seeded activities of a social network, {triples:,} triples")
        by_window(size, path, part, progress)
        by_filter(size, path, part, progress)
        if real:
            by_days(size, Path(folder, "snb.arrow"), part, progress)
        elif effort in REAL:
            part.missing.append(absence("the LDBC's own update stream", snb.SUITE))
    over_background(size, part, progress)
    return part


def updates_of(triples: int) -> Iterator[tuple[int, str]]:
    """Some activities each, at the time of their last triple, one a millisecond."""
    last = -1
    for update in grouped(social.elements(triples), ACTIVITIES):
        last += update.triples
        yield last, update.text


def stream_for(path: Path, window: int, size: Size) -> Stream:
    return Stream(path, int(window * size.more))


def range_of(window: int) -> str:
    return f"RANGE {window}ms"


# Windows --------------------------------------------------------------------------------------------------------------


def by_window(size: Size, path: Path, part: Part, progress: Progress) -> None:
    seconds, rows = Curves(), list[list[Cell]]()
    peers = [name for name in PEERS if name in stores()]
    for window in size.windows:
        progress(f"window of {window:,}")
        for name in set(PEERS) & set(stores()) - set(peers):
            # Who had no answer at a smaller window is not asked again.
            seconds.add(name, window, [None], stopped=True)
        stream, query = stream_for(path, window, size), STAR.over(ours.STREAM, range_of(window))
        ways = {OURS: Way(query), EAGER: Way(query, {"lazy": False})}
        found = within(UNLIMITED, window >= ALONE, time_ours, ways, stream, size.rounds)
        assert found.ways[OURS].result == found.ways[EAGER].result, "lazy evaluation changes the answers"
        for way, timed in found.ways.items():
            seconds.add(way, window, timed.each)
        asked, updates = ask_peers(peers, query, stream, window, size.peers, window >= ALONE)
        show(asked, updates, window, f"window {window:,}", seconds, part)
        peers = [name for name, one in asked.items() if one.second is not None]
        if window <= size.led:
            led = list(stream.elements(STAR))
            lead(STAR, query, led, Place(window, f"window {window:,}", lambda seconds: seconds), seconds, part)
        triples = sum(table.num_rows for table in stream.tables())
        speed, peak = triples / found.ways[OURS].seconds, found.peak / 1e6 if window >= ALONE else None
        rows.append([window, triples, *seconds.row(window), speed, peak, found.ways[OURS].result])
    title = "Posts in a window: the whole stream"
    note = f"stream of {size.more:g} times the window, updates of {ACTIVITIES} activities; stores reckoned from some places"
    axes = ("triples in the window", "CPU seconds in all")
    part.plots.append(Plot(title, *axes, seconds.series(), log_x=True, log_y=True, note=note, less_is_better=True))
    columns = ("window", "triples", *seconds.names, "millstream, triples a CPU-second", "its peak, MB", "answers")
    notes = [
        "stores are handed what some pattern matches, parsed, and asked after every update; they are timed on full windows",
        timed_at(size.peers),
        *([LED.format(f"the whole stream, with windows up to {size.led:,},")] if size.led else []),
        f"time-out: more than {LIMIT.seconds:g} CPU seconds or {LIMIT.bytes / 1e9:g} GB to be parsed, filled and asked",
        f"peak: the most memory of the engine's process, measured from windows of {ALONE:,} on, where it does nothing else",
        "published, CGPM: charts without numbers, windows of 50 K to 30 M triples; says that lazy is ahead of not lazy",
    ]
    part.tables.append(Table(f"{title}; CPU seconds", columns, rows, notes))


def ask_peers(
    peers: Sequence[str], query: str, stream: Stream, range_ms: int, effort: Thoroughness, alone: bool
) -> tuple[dict[str, Asked], int]:
    """Stores that are asked while a window slides, and how many updates they are told of."""
    found = dict[str, Asked]()
    if not peers:
        return found, 0
    with tempfile.TemporaryDirectory() as folder:
        expected = Path(folder, "expected")
        updates = within(UNLIMITED, alone, expect, STAR, query, stream, range_ms, effort, expected)
        for name in peers:
            try:
                found[name] = within(LIMIT, alone, ask_store, name, STAR, stream, range_ms, effort, expected)
            except LimitError as error:
                found[name] = Asked(stopped=True, wrong=str(error))
    return found, updates


def show(asked: dict[str, Asked], updates: int, x: float, what: str, seconds: Curves, part: Part) -> None:
    """What stores would take for all updates."""
    for name, one in asked.items():
        seconds.add(name, x, [one.second * updates if one.second else None], one.stopped)
        if one.wrong:
            part.missing.append(f"{name}, {what}: {one.wrong}")


def by_days(size: Size, path: Path, part: Part, progress: Progress) -> None:
    """The LDBC's own updates, at the times they have."""
    events = list(snb.elements(REAL_TRIPLES))
    triples = spool.write(path, ((event.at_ms - events[0].at_ms, event.text) for event in events))
    part.data.append(f"the LDBC's own update stream, {len(events):,} updates of 36 days, {triples:,} triples")
    stream, seconds, rows = Stream(path), Curves(), list[list[Cell]]()
    for days in DAYS:
        progress(f"the LDBC's own updates, {days} days")
        query = STAR.over(ours.STREAM, f"RANGE {days}d")
        found = time_ours({OURS: Way(query), EAGER: Way(query, {"lazy": False})}, stream, size.rounds).ways
        assert found[OURS].result == found[EAGER].result, "lazy evaluation changes the answers"
        for way, timed in found.items():
            seconds.add(way, days, timed.each)
        peers = [name for name in PEERS if name in stores()]
        asked, updates = ask_peers(peers, query, stream, days * A_DAY_MS, size.peers, alone=False)
        show(asked, updates, days, f"the LDBC's own updates, {days} days", seconds, part)
        rows.append([days, *seconds.row(days), found[OURS].result])
    title = "The LDBC's own updates in a window: the whole stream"
    note = f"{len(events):,} updates, {triples:,} triples; stores reckoned from some places"
    axes = ("days in the window", "CPU seconds in all")
    part.plots.append(Plot(title, *axes, seconds.series(), log_x=True, log_y=True, note=note, less_is_better=True))
    notes = [timed_at(size.peers), "the star query as above; elements are updates, one at a time"]
    part.tables.append(Table(f"{title}; CPU seconds", ("days", *seconds.names, "answers"), rows, notes))


# Filters --------------------------------------------------------------------------------------------------------------


def by_filter(size: Size, path: Path, part: Part, progress: Progress) -> None:
    seconds, rows = Curves(), list[list[Cell]]()
    for window in size.windows:
        progress(f"filters, window of {window:,}")
        stream = stream_for(path, window, size)
        queries = {name: question.over(ours.STREAM, range_of(window)) for name, question in FILTERS.items()}
        queries[COMPLEX] = queries["no filter"].replace(" } }", f" {COMPARED} }} }}")
        if window == min(size.windows):
            check_filters(queries, list(stream.elements()), window)
        ways = {name: Way(query) for name, query in queries.items()}
        found = within(UNLIMITED, window >= ALONE, time_ours, ways, stream, size.rounds).ways
        for name, timed in found.items():
            seconds.add(f"millstream, {name}", window, timed.each)
        rows.append([window, *seconds.row(window), *(timed.result for timed in found.values())])
    title = "Filters: the whole stream"
    axes = ("triples in the window", "CPU seconds in all")
    note = f"stream of {size.more:g} times the window; {medians_of(size.rounds)}"
    part.plots.append(Plot(title, *axes, seconds.series(), log_x=True, log_y=True, note=note))
    columns = ("window", *seconds.names, *(f"answers, {name}" for name in [*FILTERS, COMPLEX]))
    notes = [
        "atomic: ?length > 50, on one variable, so it is applied before anything is stored; complex: ?length < ?id",
        "published, CGPM: atomic filters make it faster, complex ones leave it as it is without any",
    ]
    part.tables.append(Table(f"{title}; CPU seconds", columns, rows, notes))


def check_filters(queries: dict[str, str], stream: Sequence[Element], window: int) -> None:
    """The same solutions as a store finds in the last window, for every filter."""
    held = content(stream, sliding(stream, window), len(stream) - 1)
    for name, query in queries.items():
        last = stream[-1].at_ms
        found = ours.solutions_after(query, ours.as_table(stream), [last])[last]
        question = FILTERS.get(name, FILTERS["no filter"])
        store = stores()[OXIGRAPH](question)
        store.insert(store.prepare(held))
        expected = store.solutions()
        if name == COMPLEX:
            length, number = question.variables.index("length"), question.variables.index("id")
            expected = type(expected)({t: n for t, n in expected.items() if _number(t[length]) < _number(t[number])})
        assert found == expected, f"{name}: {found.total()} solutions in the engine, {expected.total()} in the store"


def _number(term: str) -> int:
    return int(term.split('"')[1])


# Background -----------------------------------------------------------------------------------------------------------


def over_background(size: Size, part: Part, progress: Progress) -> None:
    """One triple a push over the streams apart, joined with who knows whom."""
    people = ["".join(graph) for graph in social.background(size.background).values()]
    pushes = list(islice(one_by_one(social.elements(size.pushes * 2, persons=ACTIVE, apart=True)), size.pushes))
    rates, rows = Curves(), list[list[Cell]]()
    for minutes in MINUTES:
        progress(f"background, {minutes} minutes")
        answers: list[int] = []
        for name, query in social.apart_queries(f"RANGE {minutes}m").items():
            engine = ms.Engine()
            for text in people:
                engine.load(text.encode(), format="nt")
            registered = engine.register(query, output="istream")
            began, push = time.process_time(), engine.push
            for stream, at_ms, text in pushes:
                push(stream, text, at_ms)
            answers.append(registered.take_table().num_rows)
            rates.add(f"millstream, {name}", minutes, [len(pushes) / (time.process_time() - began)])
        rows.append([minutes, *rates.row(minutes), *answers])
    title = "Triples over background graphs, one push each"
    axes = ("minutes of the window", "triples a CPU-second")
    note = f"{len(pushes):,} triples; about {size.background:,} at rest"
    part.plots.append(Plot(title, *axes, rates.series(), log_x=True, note=note))
    columns = ("minutes", *rates.names, *(f"answers, {name}" for name in social.apart_queries()))
    notes = ["posts: one window; tags: a window and friendships; likes: two windows and friendships (after LSBench)"]
    part.tables.append(Table(f"{title}; triples a CPU-second", columns, rows, notes))
