"""From which window size on it pays to keep a join instead of making it anew (SPECTRA, figure 6).

Windows tumble and are asked after every element; their size counts all triples of the stream. All competitors are given the
same of it: triples that some pattern matches, one an element. The engine takes them one push each, as a store is asked one
by one, and in bulk, as it would take a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from benchmarks.curves import Curves
from benchmarks.experiments.windows import HUNDRED, OURS, timed_at, window_of
from benchmarks.peers import adapter, ours
from benchmarks.peers.asking import Peer, Thoroughness, ask_all
from benchmarks.peers.contents import Element, tumbling
from benchmarks.peers.leading import LED, Place, lead, per_second
from benchmarks.peers.question import Question
from benchmarks.peers.store import DUCKDB, OXIGRAPH, RDFLIB, REJOIN, absent, stores
from benchmarks.report import Cell, Part, Plot, Progress, Table, Target, medians_of
from benchmarks.timing import Effort, take_turns_by_their_own_clock
from benchmarks.workloads import QUERIES, universities

ABOUT = "Where incremental evaluation begins to pay: windows of 10 to 100,000 triples (SPECTRA, figure 6)."
CHOSEN = {"Q5": "selective", "Q7": "not selective, complex"}
PUSHED = "millstream, one push each"
PEERS = {
    REJOIN: Peer(REJOIN),
    OXIGRAPH: Peer(OXIGRAPH),
    HUNDRED: Peer(OXIGRAPH, 100),
    DUCKDB: Peer(DUCKDB),
    RDFLIB: Peer(RDFLIB),
}
RDFLIB_MOST = 1_000
"""A larger window takes rdflib minutes for a single answer."""


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    """Of the stream."""
    most: int
    """No more of those that a pattern matches are taken."""
    windows: Sequence[int]
    peers: Thoroughness
    rounds: int
    led: int
    """Triples that a pattern matches, through which engines in processes of their own are led."""


SIZES: dict[Effort, Size] = {
    "smoke": Size(20_000, 400, (100, 1_000), Thoroughness(2, 2, 0.1), 1, 200),
    "quick": Size(300_000, 10_000, (10, 100, 1_000, 10_000), Thoroughness(4, 5, 0.3), 3, 2_000),
    "full": Size(1_000_000, 100_000, (10, 100, 1_000, 10_000, 100_000), Thoroughness(6, 10, 0.6), 3, 10_000),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("break-even", ABOUT, missing=[*absent(), *adapter.absent()])
    ours.warm_up()
    progress.expect(len(CHOSEN) * len(size.windows))
    for name, kind in CHOSEN.items():
        question = Question(QUERIES[name])
        kept = kept_elements(question, size)
        table, lines = ours.as_table(kept), ours.as_lines(kept)
        rates, rows = Curves(), list[list[Cell]]()
        for window in size.windows:
            progress(f"{name}, window of {window:,}")
            query = question.over(ours.STREAM, window_of(window))
            runs = {OURS: partial(ours.answer, query, table), PUSHED: partial(ours.push_all, query, lines)}
            for way, timed in take_turns_by_their_own_clock(runs, size.rounds).items():
                rates.add(way, window, [len(kept) / seconds for seconds in timed.each])
                answers = timed.result
            held = partial(ours.solutions_after, query, table)
            peers = {peer: spec for peer, spec in PEERS.items() if spec.store in stores()}
            if window > RDFLIB_MOST:
                peers.pop(RDFLIB, None)
            for peer, found in ask_all(peers, question, kept, tumbling(kept, window), size.peers, held).items():
                rates.add(peer, window, [1 / found.second if found.second else None], found.stopped)
                if found.wrong:
                    part.missing.append(f"{peer}, {name}, window {window:,}: {found.wrong}")
            led = kept[: size.led]
            if window <= led[-1].at_ms // 4:
                place = Place(window, f"{name}, window {window:,}", per_second(len(led)))
                lead(question, query, led, place, rates, part)
            pushed, anew = rates.at(PUSHED, window), rates.at(REJOIN, window)
            rows.append([window, *rates.row(window), pushed / anew if pushed and anew else None, answers])
        part.targets.append(point(name, rates, size.windows))
        note = f"{len(kept):,} triples that {name} can use, of {kept[-1].at_ms + 1:,}; {medians_of(size.rounds)}"
        title = f"{name} ({kind}): speed by size of window"
        axes = ("stream triples in the window", "kept triples a CPU-second")
        part.plots.append(Plot(title, *axes, rates.series(), log_x=True, log_y=True, note=note))
        columns = ("window", *rates.names, f"{PUSHED}: times {REJOIN}", "answers")
        part.tables.append(Table(f"{title}; kept triples a CPU-second", columns, rows, notes(size)))
    return part


def kept_elements(question: Question, size: Size) -> list[Element]:
    """What the question can use of a stream of a triple a millisecond."""
    stream, keeps = enumerate(islice(universities(30), size.triples)), question.summary()
    usable = (Element(at_ms, [triple]) for at_ms, triple in stream if keeps(triple))
    return list(islice(usable, size.most))


def point(name: str, rates: Curves, windows: Sequence[int]) -> Target:
    """The smallest window from which on keeping the join was faster; wanted below where the paper's was."""
    ahead = [(rates.at(PUSHED, window) or 0) >= (rates.at(REJOIN, window) or 0) for window in windows]
    from_where = next((window for i, window in enumerate(windows) if all(ahead[i:])), None)
    most = {"Q5": 100_000, "Q7": 10_000}[name]
    found = f"{from_where:,} triples" if from_where else "no window measured"
    what = f"{name}: window from which keeping the join pays, one push each"
    return Target(what, f"<= {most:,} triples", found, from_where is not None and from_where <= most)


def notes(size: Size) -> list[str]:
    return [
        "all are given only triples that some pattern matches; the engine parses them and decodes answers, stores do not",
        timed_at(size.peers),
        f"{OURS}: as a table in bulk, answered after every element all the same; rdflib: up to {RDFLIB_MOST:,}",
        LED.format(f"{size.led:,} of these triples, with windows up to a quarter of where that is in the stream,"),
        (
            "published, SPECTRA: incremental evaluation pays from 10^4 to 10^5 triples for selective queries and from 10^3 "
            "to 10^4 for others; 20 % behind on small windows, almost 3 times ahead on large ones (Q5)"
        ),
    ]
