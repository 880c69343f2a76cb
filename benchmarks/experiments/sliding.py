"""Windows that slide with every element, of one triple and of twenty (SPECTRA, figures 7 and 8).

Observations of power meters have twenty triples, of which the queries can use six. The first query takes every
observation, the second few of them. What is measured begins when the window is full. Engines that keep their joins,
Pathway and those of adapters, are led through a short stream instead, from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice

import pyarrow as pa

from benchmarks.curves import Curves
from benchmarks.experiments.windows import HUNDRED, OURS, PEERS, timed_at
from benchmarks.peers import adapter, ours
from benchmarks.peers.asking import Peer, Thoroughness, ask_all
from benchmarks.peers.contents import Element, sliding, summarised
from benchmarks.peers.leading import LED, Place, lead, per_second
from benchmarks.peers.question import Comparison, Question, Triple
from benchmarks.peers.store import absent, stores
from benchmarks.report import Cell, Part, Plot, Progress, Table, medians_of
from benchmarks.timing import Effort
from benchmarks.workloads import meters

ABOUT = "Windows that slide with every element of one or of twenty triples, over power meters (SPECTRA, figures 7, 8)."
QUESTIONS = {
    "Q1, not selective": Question(meters.PATTERNS),
    "Q2, selective": Question(meters.PATTERNS, (Comparison("watt", ">", 10), Comparison("cf", "<", 1.2))),
}
OURS_20 = "millstream, elements of 20"


@dataclass(frozen=True, slots=True)
class Size:
    windows: Sequence[int]
    """In triples, one a millisecond."""
    measured: int
    """Triples after the window is full."""
    led: int
    """Triples that engines in processes of their own are led through, with windows up to a tenth of that."""
    peers: Thoroughness
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size((1_000,), 4_000, 10_000, Thoroughness(2, 2, 0.1), 1),
    "quick": Size((1_000, 10_000), 40_000, 20_000, Thoroughness(3, 5, 0.3), 3),
    "full": Size((1_000, 10_000, 100_000, 300_000), 100_000, 100_000, Thoroughness(5, 6, 0.6), 3),
    "huge": Size((1_000, 10_000, 100_000, 1_000_000), 1_000_000, 100_000, Thoroughness(5, 6, 4.0), 3),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("sliding", ABOUT, missing=[*absent(), *adapter.absent()])
    peers = {name: peer for name, peer in PEERS.items() if peer.store in stores()}
    ours.warm_up()
    progress.expect(1 + len(QUESTIONS) * len(size.windows))
    progress("making observations")
    triples = list(observations(max(size.windows) + size.measured))
    part.data.append(f"seeded observations of power meters after SEAS, {len(triples):,} triples")
    for name, question in QUESTIONS.items():
        rates, answers = Curves(), dict[int, int]()
        for window in size.windows:
            progress(f"{name}, window of {window:,}")
            query = question.over(ours.STREAM, f"RANGE {window}ms")
            some = triples[: window + size.measured]
            answers[window] = time_ours(query, some, window, size, rates)
            small = some if len(some) <= 200_000 else some[: window + min(size.measured, 20_000)]
            for peer, found in ask_stores(peers, question, query, small, window, size).items():
                rates.add(peer, window, [found[0]], found[1])
                if found[2]:
                    part.missing.append(f"{peer}, {name}, window {window:,}: {found[2]}")
            if window <= size.led // 10:
                led = summarised(elements_of(triples[: size.led], 0, 1), question)
                place = Place(window, f"{name}, window {window:,}", per_second(size.led))
                lead(question, query, led, place, rates, part)
        note = f"{size.measured:,} triples after the window was full; {medians_of(size.rounds)}"
        axes = ("triples in the window", "triples a CPU-second")
        title = f"{name}: sliding with every element"
        part.plots.append(Plot(title, *axes, rates.series(), log_x=True, log_y=True, note=note))
        rows: list[list[Cell]] = []
        for window, count in answers.items():
            best = rates.best(window, without=(OURS, OURS_20, HUNDRED))
            rows.append([window, *rates.row(window), (rates.at(OURS, window) or 0) / best if best else None, count])
        columns = ("window", *rates.names, "times the best asked as often", "answers")
        part.tables.append(Table(f"{name}; triples a CPU-second", columns, rows, notes(size)))
    return part


def observations(triples: int) -> Iterator[Triple]:
    """The triples of as many observations as it takes, in the order in which a meter tells them."""
    lines = chain.from_iterable(element.text.splitlines() for element in meters.elements(triples))
    parts = (line[:-2].split(" ", 2) for line in islice(lines, triples))
    return ((s, p, o) for s, p, o in parts)


def elements_of(triples: Sequence[Triple], first_ms: int, size: int) -> list[Element]:
    """So many triples an element, at the time of its last."""
    return [Element(first_ms + k + size - 1, triples[k : k + size]) for k in range(0, len(triples), size)]


def time_ours(query: str, triples: Sequence[Triple], window: int, size: Size, rates: Curves) -> int:
    """Both kinds of elements in turns; gives the number of answers, which is the same."""
    tables: dict[str, tuple[pa.Table, pa.Table]] = {}
    for way, each in ((OURS, 1), (OURS_20, 20)):
        fill, rest = elements_of(triples[:window], 0, each), elements_of(triples[window:], window, each)
        tables[way] = (ours.as_table(fill), ours.as_table(rest))
    seconds: dict[str, list[float]] = {way: [] for way in tables}
    answers = set()
    for _ in range(size.rounds):
        for way, (fill_table, rest_table) in tables.items():
            spent, count = ours.answer_after(query, fill_table, rest_table)
            seconds[way].append(spent)
            answers.add(count)
    assert len(answers) == 1, f"elements of 1 and of 20 triples give other answers: {answers}"
    for way, some in seconds.items():
        rates.add(way, window, [(len(triples) - window) / spent for spent in some])
    return answers.pop()


def ask_stores(
    peers: dict[str, Peer], question: Question, query: str, triples: Sequence[Triple], window: int, size: Size
) -> dict[str, tuple[float | None, bool, str]]:
    """Triples a CPU-second of each store, whether it was stopped, and how its answers differed."""
    kept = summarised(elements_of(triples, 0, 1), question)
    before = sum(element.at_ms < window for element in kept)
    effort = replace(size.peers, warm=before)
    held = partial(ours.solutions_after, query, ours.as_table(kept))
    found = {}
    for peer, asked in ask_all(peers, question, kept, sliding(kept, window), effort, held).items():
        rate = len(triples) / (asked.second * len(kept)) if asked.second else None
        found[peer] = (rate, asked.stopped, asked.wrong)
    return found


def notes(size: Size) -> list[str]:
    return [
        "the engine is handed all triples as text in tables; peers those that a pattern matches, parsed, asked after each",
        timed_at(size.peers),
        LED.format(f"{size.led:,} triples, with windows up to a tenth of that,"),
        "elements of 20: all triples of an observation enter at once, so there are fewer answers to look for in between",
        "published, SPECTRA: nearly ten times CQELS on large windows; elements of 20 triples 25-35 % faster than of one",
    ]
