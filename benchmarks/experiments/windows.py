"""Seven queries over tumbling windows, one triple an element, asked after every element (SPECTRA, table 1).

Tumbling and asked after every element is `RANGE 1ms SLIDE r`: what came since the last instant of the grid is visible until
just after the next one. The engine reads N-Triples and drops by itself what no pattern matches. Peers are handed parsed
triples, only those that some pattern matches, and are asked only after those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from benchmarks.curves import Curves
from benchmarks.peers import adapter, ours
from benchmarks.peers.asking import Peer, Thoroughness, ask_all
from benchmarks.peers.contents import Element, summarised, tumbling
from benchmarks.peers.leading import LED, Place, lead, per_second
from benchmarks.peers.question import Question
from benchmarks.peers.store import DUCKDB, OXIGRAPH, REJOIN, absent, stores
from benchmarks.report import Cell, Part, Plot, Progress, Table, medians_of
from benchmarks.timing import Effort, take_turns_by_their_own_clock
from benchmarks.workloads import QUERIES, Triple, universities
from benchmarks.workloads.suites import absence, at_hand
from benchmarks.workloads.universities import real_university

ABOUT = "Throughput of seven LUBM queries over tumbling windows, asked after every triple (SPECTRA, table 1)."
OURS = "millstream"
HUNDRED = f"{OXIGRAPH}, every hundred"
PEERS = {REJOIN: Peer(REJOIN), OXIGRAPH: Peer(OXIGRAPH), HUNDRED: Peer(OXIGRAPH, 100), DUCKDB: Peer(DUCKDB)}


LUBM = "lubm"
REAL_WINDOW = 10_000
"""In triples, of LUBM's own university, which has about ten times as many."""


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    windows: Sequence[int]
    """In triples, at a thousand a second."""
    peers: Thoroughness
    rounds: int
    led: int
    """Triples that engines in processes of their own are led through, with windows up to a quarter of that."""


SIZES: dict[Effort, Size] = {
    "smoke": Size(6_000, (1_000,), Thoroughness(2, 2, 0.1), 1, 4_000),
    "quick": Size(120_000, (10_000, 50_000), Thoroughness(4, 5, 0.4), 3, 40_000),
    "full": Size(400_000, (10_000, 50_000, 100_000), Thoroughness(6, 6, 0.6), 3, 40_000),
}
PUBLISHED: dict[str, dict[str, tuple[int | None, ...]]] = {
    "10 s": {
        "S-Inc (SPECTRA)": (81, 848, 54, 425, 980, 925, 73),
        "S-Rev (SPECTRA)": (60, 750, 46, 356, 846, 796, 64),
        "CQELS": (34, 113, 21, 95, 220, 125, 38),
        "RDFox": (28, 84, 23, 89, 123, 106, 32),
        "Jena": (35, 80, 15, 68, 150, 110, 26),
        "C-SPARQL": (12, 54, 8, 27, 76, 88, 19),
    },
    "50 s": {
        "S-Inc (SPECTRA)": (52, 567, 26, 180, 876, 853, 50),
        "S-Rev (SPECTRA)": (36, 322, 15, 88, 637, 748, 28),
        "CQELS": (22, 86, 13, 46, 143, 89, 21),
        "RDFox": (23, 77, 17, 34, 93, 62, 24),
        "Jena": (12, 53, 9, 37, 108, 73, 15),
        "C-SPARQL": (9, 36, 6, 19, 44, 58, 11),
    },
    "100 s": {
        "S-Inc (SPECTRA)": (30, 241, 18, 146, 540, 415, 27),
        "S-Rev (SPECTRA)": (11, 80, 7, 56, 161, 179, 10),
        "CQELS": (8, 30, 5, 28, 39, 31, 6),
        "RDFox": (12, 56, 9, 31, 44, 38, 15),
        "Jena": (None, 11, None, 15, 33, 24, None),
        "C-SPARQL": (None, None, None, 12, 20, 22, None),
    },
}
MACHINE = "Intel Xeon E3 1246v3, 32 GB, JDK 8, Linux 3.13, medians of 10 runs"


def window_of(triples: int) -> str:
    return f"RANGE 1ms SLIDE {triples}ms"


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("windows", ABOUT, missing=[*absent(), *adapter.absent()])
    ours.warm_up()
    real = effort != "smoke" and at_hand(LUBM)
    progress.expect(1 + (len(size.windows) + real) * len(QUERIES))
    progress("making universities")
    made = Data("", list(islice(universities(12), size.triples)))
    part.data.append(f"seeded universities after LUBM's profile, {len(made.triples):,} triples")
    for window in size.windows:
        by_window(made, window, size, part, progress)
    if real:
        own = Data("LUBM's own university, ", list(real_university()))
        part.data.append(f"the university of LUBM's own generator, {len(own.triples):,} triples")
        by_window(own, REAL_WINDOW, size, part, progress)
    elif effort != "smoke":
        part.missing.append(absence("LUBM's own university", LUBM))
    part.tables += [published(length) for length in PUBLISHED]
    return part


@dataclass(frozen=True, slots=True)
class Data:
    """A stream of a triple a millisecond, and what titles call it."""

    name: str
    triples: Sequence[Triple]


def by_window(data: Data, window: int, size: Size, part: Part, progress: Progress) -> None:
    """All queries over one stream with windows of one length."""
    peers = {name: peer for name, peer in PEERS.items() if peer.store in stores()}
    triples = data.triples
    text = "".join(f"{s} {p} {o} .\n" for s, p, o in triples).encode()
    elements = [Element(at_ms, [triple]) for at_ms, triple in enumerate(triples)]
    rates, rows = Curves(), list[list[Cell]]()
    for name, patterns in QUERIES.items():
        progress(f"{data.name}{name}, window of {window:,}")
        question = Question(patterns)
        query = question.over(ours.STREAM, window_of(window))
        kept = summarised(elements, question)
        held = partial(ours.solutions_after, query, text)
        where = f"{data.name}{name}, window {window:,}"
        asked = ask_all(peers, question, kept, tumbling(kept, window), size.peers, held)
        found = take_turns_by_their_own_clock({OURS: partial(ours.answer, query, text)}, size.rounds)[OURS]
        rates.add(OURS, name, [len(triples) / seconds for seconds in found.each])
        for peer, result in asked.items():
            second = result.second
            rate = len(triples) / (second * len(kept)) if second else None
            rates.add(peer, name, [rate], result.stopped)
            if result.wrong:
                part.missing.append(f"{peer}, {where}: {result.wrong}")
        if window <= size.led // 4:
            led = [element for element in kept if element.at_ms < size.led]
            lead(question, query, led, Place(name, where, per_second(size.led)), rates, part)
        best = rates.best(name, without=(OURS, HUNDRED))
        times = (rates.at(OURS, name) or 0) / best if best else None
        rows.append([name, len(kept), *rates.row(name), times, found.result])
    title = f"{data.name}tumbling windows of {window:,} triples"
    title = title[0].upper() + title[1:]
    note = f"{len(triples):,} triples, a thousand a second of event time; {medians_of(size.rounds)}"
    part.plots.append(Plot(title, "query", "triples a CPU-second", rates.series(), log_y=True, note=note))
    columns = ("query", "kept triples", *rates.names, "times the best asked as often", "answers")
    part.tables.append(Table(f"{title} ({window // 1000} s), triples a CPU-second", columns, rows, notes(size)))


def timed_at(effort: Thoroughness) -> str:
    return (
        f"peers are timed at up to {effort.places} places of the stream, {effort.limit_s:g} CPU seconds each, and only "
        "after their solutions were found to be ours"
    )


def notes(size: Size) -> list[str]:
    return [
        "millstream reads N-Triples and decodes answers; peers are handed parsed triples that some pattern matches",
        timed_at(size.peers),
        "every hundred: asked after a hundred kept triples, so its answers are late by up to as many",
        f"{REJOIN}: the engine's own join, cleared, filled with the window and matched each time",
        LED.format(f"{size.led:,} triples, with windows up to a quarter of that,"),
    ]


def published(length: str) -> Table:
    rows: list[list[Cell]] = [[system, *numbers] for system, numbers in PUBLISHED[length].items()]
    return Table(
        f"Published: SPECTRA, table 1, tumbling windows of {length}, thousand triples a second",
        ("system", *QUERIES),
        rows,
        [f"another machine ({MACHINE}), other data of the same profile, rates of arrival not stated; -: aborted"],
    )
