"""Graphs matched one by one, nothing kept between them: `EVENT` windows (CGPM, figures 6 to 12).

Three parts: taxi trips of 24 triples in longer and longer streams; posts of a social network under queries of 6 to 14
patterns, with and without the summary; and single large events, where filling and matching are timed apart.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.curves import STOPPED, Curves
from benchmarks.experiments.windows import OURS
from benchmarks.limits import UNLIMITED, Limit, LimitError, within
from benchmarks.peers import ours
from benchmarks.peers.events import Matched
from benchmarks.peers.question import Question, Triple
from benchmarks.peers.spooled import Stream, Way, expect_events, match_store, time_ours
from benchmarks.peers.store import DUCKDB, OXIGRAPH, RDFLIB, REJOIN, absent, stores
from benchmarks.report import Cell, Part, Plot, Progress, Table, medians_of
from benchmarks.timing import Effort, peak_resident
from benchmarks.workloads import elements as workload
from benchmarks.workloads import snb, social, spool, taxi
from benchmarks.workloads.suites import absence

ABOUT = (
    "Event graphs matched one by one: graphs a second, queries of 6 to 14 patterns, events of 800 triples and more (CGPM)."
)
WHOLE = "millstream, no summary"
PEERS = (REJOIN, OXIGRAPH, DUCKDB, RDFLIB)
LARGE = (REJOIN, OXIGRAPH, DUCKDB)
PATTERNS = (6, 8, 10, 12, 14)
SAMPLED = 2_000
"""Events that stores are asked about, at most."""
NOTHING: Triple = ("?post", "<http://example.org/nothing>", "?nothing")
"""A pattern that no triple matches: with it all is stored and nothing is joined."""
PUBLISHED = (
    "published, CGPM: charts without numbers; events of 783 triples to 3 M, Intel Xeon E3 1246v3, 128 GB, JDK 8, "
    "means of 50 runs; says that it is about ten times Jena on taxi trips"
)


@dataclass(frozen=True, slots=True)
class Size:
    trips: Sequence[int]
    """Lengths of streams, in graphs."""
    posts: int
    large: Sequence[int]
    """Triples of single events."""
    limit_s: float
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size((50, 200), 100, (800,), 0.05, 1),
    "quick": Size((1_000, 10_000), 2_000, (800, 8_000, 80_000), 0.3, 3),
    "full": Size((1_000, 10_000, 30_000), 10_000, (800, 8_000, 80_000, 400_000), 0.5, 3),
    "huge": Size((1_000, 100_000, 1_000_000), 100_000, (800, 8_000, 80_000, 1_000_000, 3_000_000), 2.0, 1),
}
REAL: tuple[Effort, ...] = ("quick", "full")
REAL_TRIPLES = 1_000_000
"""Far more than there are."""
LIMIT = Limit(100.0, 9_000_000_000)
"""For a store and one kind of events, everything included."""
ALONE = 500_000
"""From so many triples on every competitor has a process of its own."""


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("events", ABOUT, missing=absent())
    ours.warm_up()
    real = effort in REAL and snb.at_hand()
    steps = len(taxi.PATTERNS) * len(size.trips) + len(social.PATTERNS) * len(size.large)
    progress.expect(2 + steps + (1 + real) * len(PATTERNS))
    with tempfile.TemporaryDirectory() as folder:
        by_length(size, Path(folder), part, progress)
        by_patterns(size, Path(folder), part, progress)
        by_size(size, Path(folder), part, progress)
        if real:
            by_real_patterns(size, Path(folder), part, progress)
        elif effort in REAL:
            part.missing.append(absence("the LDBC's own update stream", snb.SUITE))
    return part


def numbered(elements: Iterable[workload.Element], count: int) -> Iterator[tuple[int, str]]:
    """So many elements a millisecond after each other."""
    return ((at_ms, element.text) for at_ms, element in enumerate(islice(elements, count)))


def ask_peers(names: Sequence[str], question: Question, stream: Stream, alone: bool, size: Size) -> dict[str, Matched]:
    """Stores that are handed whole events, and S-Rev what some pattern matches, which is its way."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        expected = Path(folder, "expected")
        within(UNLIMITED, alone, expect_events, question.over(ours.STREAM, "EVENT"), stream, expected)
        for name in names:
            if name not in stores():
                continue
            try:
                found[name] = within(LIMIT, alone, match_store, name, question, stream, size.limit_s, expected)
            except LimitError as error:
                found[name] = Matched(stopped=True, wrong=str(error))
    return found


def note_wrong(part: Part, where: str, found: dict[str, Matched]) -> None:
    part.missing += [f"{name}, {where}: {one.wrong}" for name, one in found.items() if one.wrong]


def two_ways(question: Question) -> dict[str, Way]:
    query = question.over(ours.STREAM, "EVENT")
    return {OURS: Way(query), WHOLE: Way(query, {"summary": False})}


# Trips ----------------------------------------------------------------------------------------------------------------


def by_length(size: Size, folder: Path, part: Part, progress: Progress) -> None:
    progress("making trips")
    path = folder / "trips.arrow"
    most = max(size.trips)
    spool.write(path, numbered(taxi.elements(most * taxi.TRIPLES), most))
    part.data.append(f"seeded taxi trips, {most:,} graphs of {taxi.TRIPLES} triples")
    for shape, patterns in taxi.PATTERNS.items():
        rates, rows = Curves(), list[list[Cell]]()
        question = Question(patterns)
        for count in size.trips:
            progress(f"{shape}, {count:,} trips")
            alone = count * taxi.TRIPLES >= ALONE
            timed = within(UNLIMITED, alone, time_ours, two_ways(question), Stream(path, count), size.rounds)
            for way, one in timed.ways.items():
                rates.add(way, count, [count / seconds for seconds in one.each])
            asked = ask_peers(PEERS, question, Stream(path, min(count, SAMPLED)), False, size)
            for name, found in asked.items():
                rates.add(name, count, [1 / found.second if found.second else None], found.stopped)
            note_wrong(part, f"{shape}, {count:,} trips", asked)
            rows.append([count, *rates.row(count), timed.peak / 1e6 if alone else None, timed.ways[OURS].result])
        axes = ("graphs in the stream", "graphs a CPU-second")
        title = f"Taxi trips, {shape} query: graphs of {taxi.TRIPLES} triples"
        note = medians_of(size.rounds)
        part.plots.append(Plot(title, *axes, rates.series(), log_x=True, log_y=True, note=note))
        columns = ("graphs", *rates.names, "millstream's peak, MB", "answers")
        part.tables.append(Table(f"{title}; graphs a CPU-second", columns, rows, [*notes(size), PEAK]))


# Patterns -------------------------------------------------------------------------------------------------------------


def by_patterns(size: Size, folder: Path, part: Part, progress: Progress) -> None:
    progress("making posts")
    stream = Stream(folder / "posts.arrow")
    posts = (element for element in social.activities() if "/post" in element.text.split(" ", 1)[0])
    triples = spool.write(stream.path, numbered(posts, size.posts))
    part.data.append(f"seeded posts of a social network, {size.posts:,} graphs of 14 triples")
    what = f"{size.posts:,} posts of 14 triples"
    match_patterns("Posts: queries of 6 to 14 patterns", what, stream, (size.posts, triples), size, part, progress)


def by_real_patterns(size: Size, folder: Path, part: Part, progress: Progress) -> None:
    """Whatever happens in the LDBC's own network: posts with as many tags as they have, and what no query asks for."""
    stream, events = Stream(folder / "updates.arrow"), list(snb.elements(REAL_TRIPLES))
    triples = spool.write(stream.path, numbered(events, len(events)))
    part.data.append(f"the LDBC's own update stream, {len(events):,} graphs, {triples:,} triples")
    title = "The LDBC's own updates: queries of 6 to 14 patterns"
    match_patterns(title, f"{len(events):,} graphs", stream, (len(events), triples), size, part, progress)


def match_patterns(
    title: str, what: str, stream: Stream, counts: tuple[int, int], size: Size, part: Part, progress: Progress
) -> None:
    """First parts of the star query over some graphs, of which there are so many, with so many triples."""
    rates, rows = Curves(), list[list[Cell]]()
    graphs, triples = counts
    for count in PATTERNS:
        progress(f"{count} patterns")
        question = Question(social.STAR[:count])
        timed = within(UNLIMITED, triples >= ALONE, time_ours, two_ways(question), stream, size.rounds).ways
        for way, one in timed.items():
            rates.add(way, count, [graphs / seconds for seconds in one.each])
        asked = ask_peers(PEERS, question, Stream(stream.path, SAMPLED), False, size)
        for name, found in asked.items():
            rates.add(name, count, [1 / found.second if found.second else None], found.stopped)
        note_wrong(part, f"{title}, {count}", asked)
        rows.append([count, *rates.row(count), timed[OURS].result])
    note = f"{what}; {medians_of(size.rounds)}"
    part.plots.append(Plot(title, "patterns", "graphs a CPU-second", rates.series(), log_y=True, note=note))
    part.tables.append(Table(f"{title}; graphs a CPU-second", ("patterns", *rates.names, "answers"), rows, notes(size)))


# Large events ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Large:
    """CPU milliseconds of each round for one event, and what it took in memory."""

    both: list[float]
    filling: list[float]
    answers: int
    peak: int


def time_event(query: str, filling: str, stream: Stream, rounds: int) -> Large:
    """The engine with one event, after a small one: what the first of everything costs is not an event's."""
    small, seconds = next(spool.tables(numbered(social.weekly(100), 1))), dict[str, list[float]](both=[], filling=[])
    answers = 0
    for _ in range(rounds):
        for name, text in (("both", query), ("filling", filling)):
            [table] = stream.tables()
            spent, found = ours.answer_after(text, small, table)
            seconds[name].append(spent * 1e3)
            answers = found if name == "both" else answers
    return Large(seconds["both"], seconds["filling"], answers, peak_resident())


def write_week(stream: Stream, triples: int) -> int:
    """One graph as a stream; gives how many triples it has in fact."""
    return spool.write(stream.path, ((1, week.text) for week in islice(social.weekly(triples), 1)))


def by_size(size: Size, folder: Path, part: Part, progress: Progress) -> None:
    part.data.append(f"seeded weeks of a social network, one graph of {size.large[0]:,} to {size.large[-1]:,} triples")
    weeks = {triples: Stream(folder / f"week-{triples}.arrow") for triples in size.large}
    counts = {triples: within(UNLIMITED, triples >= ALONE, write_week, week, triples) for triples, week in weeks.items()}
    for shape, patterns in social.PATTERNS.items():
        question = Question(patterns)
        query = question.over(ours.STREAM, "EVENT")
        filling_only = Question([*patterns, (patterns[0][0], NOTHING[1], NOTHING[2])]).over(ours.STREAM, "EVENT")
        whole, rows = Curves(), list[list[Cell]]()
        for triples in size.large:
            progress(f"{shape}, an event of {triples:,} triples")
            stream, count, alone = weeks[triples], counts[triples], triples >= ALONE
            found = within(UNLIMITED, alone, time_event, query, filling_only, stream, size.rounds)
            both, filling = (statistics.median(some) for some in (found.both, found.filling))
            whole.add(OURS, count, found.both)
            peak = found.peak / 1e6 if alone else None
            rows.append([count, OURS, filling, max(0.0, both - filling), both, peak, found.answers])
            asked = ask_peers(LARGE, question, stream, alone, size)
            note_wrong(part, f"{shape}, {count:,} triples", asked)
            for name, one in asked.items():
                second = one.second
                whole.add(name, count, [second * 1e3 if second else None], one.stopped)
                if second:
                    costs: list[Cell] = [one.filling[0] * 1e3, one.asking[0] * 1e3, second * 1e3]
                    rows.append([count, name, *costs, None, found.answers])
                elif one.stopped:
                    rows.append([count, name, None, None, STOPPED, None, None])
        title = f"Large events, {shape} query of {len(patterns)} patterns"
        axes = ("triples in the event", "CPU ms an event")
        part.plots.append(Plot(title, *axes, whole.series(), log_x=True, log_y=True, less_is_better=True))
        columns = ("triples", "system", "filling", "matching", "both", "peak, MB", "answers")
        part.tables.append(Table(f"{title}; CPU ms", columns, rows, [*notes(size), FILLING, PEAK]))


FILLING = "filling of millstream: the same query with one more pattern that nothing matches: all is stored, nothing joined"
PEAK = f"peak: the most memory of the engine's process, where it has one of its own, from {ALONE:,} triples on"


def notes(size: Size) -> list[str]:
    return [
        "millstream takes text in tables and decodes answers; stores are handed parsed triples and made outside the clock",
        f"stores are given whole events, {REJOIN} what some pattern matches; {SAMPLED:,} events or {size.limit_s:g} CPU s",
        f"time-out: a store that needs more than {LIMIT.seconds:g} CPU s or {LIMIT.bytes / 1e9:g} GB, parsing included",
        PUBLISHED,
    ]
