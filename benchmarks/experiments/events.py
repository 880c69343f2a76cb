"""Graphs matched one by one, nothing kept between them: `EVENT` windows (CGPM, figures 6 to 12).

Three parts: taxi trips of 24 triples in longer and longer streams; posts of a social network under queries of 6 to 14
patterns, with and without the summary; and single large events, where filling and matching are timed apart.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from benchmarks.curves import Curves
from benchmarks.experiments.windows import OURS
from benchmarks.peers import ours
from benchmarks.peers.contents import Element, summarised
from benchmarks.peers.events import Matched, match_events
from benchmarks.peers.question import Question, Triple
from benchmarks.peers.store import DUCKDB, OXIGRAPH, RDFLIB, REJOIN, Solutions, absent, stores
from benchmarks.report import Cell, Part, Plot, Progress, Table
from benchmarks.timing import Effort, take_turns_by_their_own_clock
from benchmarks.workloads import elements as workload
from benchmarks.workloads import social, taxi

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
    "huge": Size((1_000, 100_000, 1_000_000), 100_000, (800, 8_000, 80_000, 1_000_000, 3_000_000), 5.0, 3),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("events", ABOUT, missing=absent())
    ours.warm_up()
    progress.expect(len(taxi.PATTERNS) * len(size.trips) + len(PATTERNS) + len(social.PATTERNS) * len(size.large))
    by_length(size, part, progress)
    by_patterns(size, part, progress)
    by_size(size, part, progress)
    return part


def graphs(elements: Iterator[workload.Element], count: int) -> list[Element]:
    """So many elements with their terms apart, a millisecond after each other."""
    return [Element(at_ms, triples_of(element.text)) for at_ms, element in enumerate(islice(elements, count))]


def triples_of(text: str) -> list[Triple]:
    parts = (line[:-2].split(" ", 2) for line in text.splitlines())
    return [(s, p, o) for s, p, o in parts]


def solutions_of(query: str, events: Sequence[Element]) -> dict[int, Solutions]:
    """What the engine answers for each event, by its time."""
    found: defaultdict[int, Solutions] = defaultdict(Solutions)
    for (at_ms, terms), count in ours.appeared(query, ours.as_table(events)).items():
        found[at_ms][terms] += count
    return found


def ask_peers(names: Sequence[str], question: Question, events: Sequence[Element], limit_s: float) -> dict[str, Matched]:
    """Stores that are handed whole events, and those of S-Rev what some pattern matches, which is its way."""
    expected, makes = solutions_of(question.over(ours.STREAM, "EVENT"), events), stores()
    kept = summarised(events, question)
    return {
        name: match_events(makes[name], question, kept if name == REJOIN else events, expected, limit_s)
        for name in names
        if name in makes
    }


def note_wrong(part: Part, where: str, found: dict[str, Matched]) -> None:
    part.missing += [f"{name}, {where}: other answers, {one.wrong}" for name, one in found.items() if one.wrong]


# Trips ----------------------------------------------------------------------------------------------------------------


def by_length(size: Size, part: Part, progress: Progress) -> None:
    longest = graphs(taxi.elements(max(size.trips) * taxi.TRIPLES), max(size.trips))
    for shape, patterns in taxi.PATTERNS.items():
        rates, rows = Curves(), list[list[Cell]]()
        question = Question(patterns)
        query = question.over(ours.STREAM, "EVENT")
        for count in size.trips:
            progress(f"{shape}, {count:,} trips")
            events = longest[:count]
            table = ours.as_table(events)
            runs = {
                OURS: partial(ours.answer, query, table),
                WHOLE: partial(ours.answer, query, table, {"summary": False}),
            }
            timed = take_turns_by_their_own_clock(runs, size.rounds)
            for way, one in timed.items():
                rates.add(way, count, [count / seconds for seconds in one.each])
            asked = ask_peers(PEERS, question, events[:SAMPLED], size.limit_s)
            for name, found in asked.items():
                rates.add(name, count, [1 / found.second if found.second else None], found.stopped)
            note_wrong(part, f"{shape}, {count:,} trips", asked)
            rows.append([count, *rates.row(count), timed[OURS].result])
        axes = ("graphs in the stream", "graphs a CPU-second")
        title = f"Taxi trips, {shape} query: graphs of {taxi.TRIPLES} triples"
        note = f"medians of {size.rounds}, least to most"
        part.plots.append(Plot(title, *axes, rates.series(), log_x=True, log_y=True, note=note))
        part.tables.append(Table(f"{title}; graphs a CPU-second", ("graphs", *rates.names, "answers"), rows, notes(size)))


# Patterns -------------------------------------------------------------------------------------------------------------


def by_patterns(size: Size, part: Part, progress: Progress) -> None:
    posts = (element for element in social.activities() if "/post" in element.text.split(" ", 1)[0])
    events = graphs(posts, size.posts)
    table = ours.as_table(events)
    rates, rows = Curves(), list[list[Cell]]()
    for count in PATTERNS:
        progress(f"{count} patterns")
        question = Question(social.STAR[:count])
        query = question.over(ours.STREAM, "EVENT")
        runs = {OURS: partial(ours.answer, query, table), WHOLE: partial(ours.answer, query, table, {"summary": False})}
        timed = take_turns_by_their_own_clock(runs, size.rounds)
        for way, one in timed.items():
            rates.add(way, count, [len(events) / seconds for seconds in one.each])
        asked = ask_peers(PEERS, question, events[:SAMPLED], size.limit_s)
        for name, found in asked.items():
            rates.add(name, count, [1 / found.second if found.second else None], found.stopped)
        note_wrong(part, f"{count} patterns", asked)
        rows.append([count, *rates.row(count), timed[OURS].result])
    title = "Posts: queries of 6 to 14 patterns"
    note = f"{len(events):,} posts of 14 triples; medians of {size.rounds}, least to most"
    part.plots.append(Plot(title, "patterns", "graphs a CPU-second", rates.series(), log_y=True, note=note))
    part.tables.append(Table(f"{title}; graphs a CPU-second", ("patterns", *rates.names, "answers"), rows, notes(size)))


# Large events ---------------------------------------------------------------------------------------------------------


def by_size(size: Size, part: Part, progress: Progress) -> None:
    for shape, patterns in social.PATTERNS.items():
        question = Question(patterns)
        query = question.over(ours.STREAM, "EVENT")
        filling_only = Question([*patterns, (patterns[0][0], NOTHING[1], NOTHING[2])]).over(ours.STREAM, "EVENT")
        whole, rows = Curves(), list[list[Cell]]()
        for triples in size.large:
            progress(f"{shape}, an event of {triples:,} triples")
            # The first is small: what the first of everything costs is not an event's.
            small, large = graphs(social.weekly(100), 1), graphs(social.weekly(triples), 1)
            events = [Element(1, large[0].triples)]
            before, table, count = ours.as_table(small), ours.as_table(events), len(events[0].triples)
            seconds: dict[str, list[float]] = {OURS: [], "filling": []}
            for _ in range(size.rounds):
                spent, answers = ours.answer_after(query, before, table)
                seconds[OURS].append(spent * 1e3)
                seconds["filling"].append(ours.answer_after(filling_only, before, table)[0] * 1e3)
            both, filling = (statistics.median(some) for some in seconds.values())
            whole.add(OURS, count, seconds[OURS])
            rows.append([count, OURS, filling, max(0.0, both - filling), both, answers])
            asked = ask_peers(LARGE, question, events, size.limit_s)
            note_wrong(part, f"{shape}, {count:,} triples", asked)
            for name, found in asked.items():
                second = found.second
                whole.add(name, count, [second * 1e3 if second else None], found.stopped)
                if second:
                    rows.append([count, name, found.filling[0] * 1e3, found.asking[0] * 1e3, second * 1e3, answers])
        title = f"Large events, {shape} query of {len(patterns)} patterns"
        axes = ("triples in the event", "CPU ms an event")
        part.plots.append(Plot(title, *axes, whole.series(), log_x=True, log_y=True))
        columns = ("triples", "system", "filling", "matching", "both", "answers")
        part.tables.append(Table(f"{title}; CPU ms", columns, rows, [*notes(size), FILLING]))


FILLING = "filling of millstream: the same query with one more pattern that nothing matches: all is stored, nothing joined"


def notes(size: Size) -> list[str]:
    return [
        "millstream takes text in tables and decodes answers; stores are handed parsed triples and made outside the clock",
        f"stores are given whole events, {REJOIN} what some pattern matches; {SAMPLED:,} events or {size.limit_s:g} CPU s",
        PUBLISHED,
    ]
