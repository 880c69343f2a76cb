"""Streams joined with linked data that grows: the conference queries of the CQELS paper (its table 2 and figure 4).

Detections are elements of one triple. Q1, Q3, Q4 and Q5 ask about the participant with the most papers, who is detected
most often. A bibliography of any size begins with the smaller ones, so that only what else there is grows.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import median

import millstream as ms
from benchmarks.curves import Curves
from benchmarks.peers import adapter
from benchmarks.peers.contents import Element as Given
from benchmarks.peers.leading import LED, Place, lead_all
from benchmarks.recomputing import Recomputing, answer_set
from benchmarks.report import Cell, Part, Plot, Progress, Series, Table, at_most
from benchmarks.timing import Effort, apart
from benchmarks.workloads import conference
from benchmarks.workloads.elements import Element, as_table
from benchmarks.workloads.suites import absence

ABOUT = "CQELS Q1 to Q5 over RFID detections, a floor plan and a bibliography of 10,000 to 10 million triples."
QUERIES = ("Q1", "Q2", "Q3", "Q4", "Q5")
GROWTH = 2.0
A_FEW = 20
"""Pieces of a graph that are inserted at once."""
PAUSE_MS = 3_600_000
"""Between measurements, so that no window shows what another saw."""
PUBLISHED = {
    "CQELS": (0.47, 3.90, 0.51, 0.53, 21.83),
    "C-SPARQL": (332.46, 99.84, 331.68, 395.18, 322.64),
    "ETALIS": (0.06, 27.47, 79.95, 469.23, 160.83),
}
"""Milliseconds, for 100,000 triples."""
PUBLISHED_ON = "published in 2011, on a quad-core Xeon E5410 at 2.33 GHz with 8 GB"
PAPERS_SIZE = 100_000


@dataclass(frozen=True, slots=True)
class Size:
    datasets: tuple[int, ...]
    warm: int
    elements: int
    """Timed after so many to warm up."""
    chunk: int
    asked: int
    """How often the store is asked, in datasets up to the paper's."""
    led: tuple[int, int]
    """Triples and elements that engines in processes of their own are led through."""


SIZES: dict[Effort, Size] = {
    "smoke": Size((2_000, 4_000), 100, 200, 50, 4, (2_000, 100)),
    "quick": Size((10_000, 100_000, 1_000_000), 500, 2_000, 100, 20, (10_000, 2_000)),
    "full": Size((10_000, 100_000, 1_000_000, 10_000_000), 1_000, 4_000, 100, 40, (10_000, 4_000)),
}


@dataclass(frozen=True, slots=True)
class Data:
    """Where graphs and detections come from, and who is asked about."""

    background: Callable[[], Mapping[str | None, Iterable[str]]]
    elements: Callable[[int], Iterator[Element]]
    name: str
    iri: str


def seeded(triples: int) -> Data:
    who = conference.name(0), conference.author_iri(0)
    return Data(lambda: conference.background(triples), conference.elements, *who)


def papers_own() -> Data:
    """The paper's floor plan, detections and ten thousand triples of its bibliography; its first author."""
    name = conference.real_names()[0]
    iri = f"http://deri.org/dblp/persons/{name.replace(' ', '_')}"
    return Data(conference.real_background, conference.real_elements, name, iri)


@dataclass(frozen=True, slots=True)
class Found:
    """What one query cost beside one dataset; CPU time."""

    chunks_us: list[float]
    """An element, of each chunk of them."""
    in_batches_us: float
    register_s: float
    stored: int
    answers: float
    """An element."""
    store_us: float | None

    @property
    def cost_us(self) -> float:
        return sum(self.chunks_us) / len(self.chunks_us)


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("linked-data", ABOUT)
    part.missing += adapter.absent()
    progress.expect(len(size.datasets) + 1 + bool(adapter.adapters()))
    part.data.append(
        f"seeded detections, floor plan and bibliographies of {size.datasets[0]:,} to {size.datasets[-1]:,} triples"
    )
    found: dict[tuple[int, str], Found] = {}
    for triples in size.datasets:
        progress(f"{triples:,} triples")
        for name, one in apart(effort, measure, triples, size).items():
            found[triples, name] = one
    rows: list[list[Cell]] = [
        [name, triples, *_cells(found[triples, name])] for name in QUERIES for triples in size.datasets
    ]
    costs_of = ("us an element", "in batches, us", "store, us", "store / us")
    columns = ("query", "triples", *costs_of, "answers an element", "register, s", "stored")
    notes = [
        f"the mean over {size.elements:,} elements pushed one by one after {size.warm:,} to warm up, the same for all",
        "in batches: the same elements by one push_table",
        "store: pyoxigraph with the same data, told what enters and leaves the windows and asked after an element",
        f"its time: the median of {size.asked} elements at and after detections of the one asked about; answers compared",
        "stored: rows that the query keeps of the dataset and its windows",
    ]
    part.tables.append(Table("cost of an element as the dataset grows", columns, rows, notes))
    if effort == "smoke":
        part.missing.append("the paper's own data, in the smallest run")
    elif conference.at_hand():
        progress("the paper's own data")
        own = apart(effort, measure, None, size)
        part.data.append("the paper's own detections (10,000), floor plan (172 triples) and bibliography (10,000 triples)")
        title = "the paper's own detections, floor plan and 10,000 triples of its bibliography"
        part.tables.append(Table(title, ("query", *columns[2:]), [[name, *_cells(own[name])] for name in QUERIES]))
    else:
        part.missing.append(absence("the paper's own data", "cqels-conference"))
    if adapter.adapters():
        progress("other engines")
        lead_engines(size, part)
    part.tables.append(_published(size, found))
    for name in QUERIES:
        least, most = (found[size.datasets[i], name].cost_us for i in (0, -1))
        what = f"{name}, {size.datasets[0]:,} to {size.datasets[-1]:,} triples, cost an element"
        part.targets.append(at_most(what, GROWTH, most / least, " times"))
    part.plots.append(
        Plot(
            "Cost of an element as the dataset grows",
            "triples of the bibliography",
            "CPU time an element, us",
            [_series(name, size, found) for name in QUERIES],
            log_x=True,
            log_y=True,
            note=f"bars: quartiles over chunks of {size.chunk} elements",
        )
    )
    return part


def _cells(one: Found) -> list[Cell]:
    times = one.store_us / one.cost_us if one.store_us else None
    return [one.cost_us, one.in_batches_us, one.store_us, times, one.answers, one.register_s, one.stored]


def _series(name: str, size: Size, found: dict[tuple[int, str], Found]) -> Series:
    chunks = [sorted(found[triples, name].chunks_us) for triples in size.datasets]
    return Series(
        name,
        list(size.datasets),
        [found[triples, name].cost_us for triples in size.datasets],
        [some[len(some) // 4] for some in chunks],
        [some[len(some) * 3 // 4] for some in chunks],
    )


def _published(size: Size, found: dict[tuple[int, str], Found]) -> Table:
    """The paper's figures beside ours for the dataset nearest to its own."""
    nearest = min(size.datasets, key=lambda triples: abs(triples - PAPERS_SIZE))
    rows: list[list[Cell]] = [["millstream, here", *(found[nearest, name].cost_us / 1000 for name in QUERIES)]]
    rows += [[f"{engine}, published", *times] for engine, times in PUBLISHED.items()]
    notes = [
        f"{PUBLISHED_ON}: other machine, other data, wall time of an execution; {PAPERS_SIZE:,} triples there",
        "its queries ask about ten authors in turn, ours about the one with the most papers",
    ]
    return Table(f"one query alone, {nearest:,} triples; ms", ("engine", *QUERIES), rows, notes)


def measure(triples: int | None, size: Size) -> dict[str, Found]:
    """All queries, one after the other, over one dataset; None: the paper's own."""
    data = papers_own() if triples is None else seeded(triples)
    engine = ms.Engine()
    for graph, pieces in data.background().items():
        for text in _inserts(pieces):
            engine.insert(text, graph=graph)
    found: dict[str, Found] = {}
    later = 0
    for name in QUERIES:
        text = conference.query(name, data.name)
        store = Recomputing(text, data.background()) if triples is None or triples <= PAPERS_SIZE else None
        elements = _later(list(data.elements(size.warm + size.elements)), later)
        gc.collect()
        began = time.process_time()
        query = engine.register(text)
        register_s = time.process_time() - began
        store_us = _compare(engine, query, elements[: size.warm], data.iri, store, size.asked)
        query.take_table()
        chunks = []
        for first in range(size.warm, len(elements), size.chunk):
            some = elements[first : first + size.chunk]
            began = time.process_time()
            for stream, at_ms, element in some:
                engine.push(stream, element, at_ms)
            chunks.append((time.process_time() - began) / len(some) * 1e6)
        answers, stored = query.take_table().num_rows, query.stats["stored"]
        later = elements[-1].at_ms + PAUSE_MS
        table = as_table(_later(elements[size.warm :], later - elements[size.warm].at_ms))
        began = time.process_time()
        engine.push_table(conference.STREAM, table)
        in_batches = (time.process_time() - began) / size.elements * 1e6
        found[name] = Found(chunks, in_batches, register_s, stored, answers / size.elements, store_us)
        query.close()
        later = engine.clock_ms + PAUSE_MS
    return found


def lead_engines(size: Size, part: Part) -> None:
    """Engines in processes of their own, from empty graphs on: each graph at once, then element after element."""
    triples, count = size.led
    data, costs = seeded(triples), Curves()
    graphs = {
        name: [line for piece in pieces for line in piece.splitlines(keepends=True)]
        for name, pieces in data.background().items()
    }
    elements = [Given(at_ms, [_triple(text)]) for _, at_ms, text in data.elements(count)]
    for name in QUERIES:
        query = conference.query(name, data.name)
        seconds, variables, expected = _from_empty(query, graphs, elements)
        costs.add("millstream", name, [seconds / count * 1e6])
        place = Place(name, name, lambda spent: spent / count * 1e6)
        written = list(adapter.linked_messages(query, graphs, conference.STREAM, elements))
        lead_all(variables, written, expected, place, costs, part)
    title = f"engines led through {triples:,} triples at rest and {count:,} elements; CPU time for all of it, us an element"
    rows = [[name, *costs.row(name)] for name in QUERIES]
    part.tables.append(Table(title, ("query", *costs.names), rows, [LED.format("graphs and elements")]))


def _triple(text: str) -> tuple[str, str, str]:
    s, p, o = text.rstrip().removesuffix(".").rstrip().split(" ", 2)
    return s, p, o


def _from_empty(
    query: str, graphs: Mapping[str | None, list[str]], elements: list[Given]
) -> tuple[float, Sequence[str], adapter.Appeared]:
    """CPU seconds from the first graph to the last element, the variables, and every answer that appears."""
    engine = ms.Engine()
    registered = engine.register(query, output="istream")
    began = time.process_time()
    for name, lines in graphs.items():
        engine.insert("".join(lines), graph=name, at_ms=0)
    for element in elements:
        engine.push(conference.STREAM, " ".join(element.triples[0]) + " .", element.at_ms)
    table = registered.take_table()
    spent = time.process_time() - began
    rows = zip(*(table[name].to_pylist() for name in ("at_ms", *registered.variables)), strict=True)
    return spent, registered.variables, Counter((at_ms, tuple(terms)) for at_ms, *terms in rows)


def _inserts(pieces: Iterable[str]) -> Iterator[str]:
    rest = iter(pieces)
    while some := list(islice(rest, A_FEW)):
        yield "".join(some)


def _later(elements: list[Element], by_ms: int) -> list[Element]:
    return [Element(stream, at_ms + by_ms, text) for stream, at_ms, text in elements]


def _compare(
    engine: ms.Engine,
    query: ms.ContinuousQuery,
    elements: list[Element],
    who: str,
    store: Recomputing | None,
    asked: int,
) -> float | None:
    """Pushes elements; where the one who is asked about is detected, and just after, the store must agree."""
    due = 0
    seconds: list[float] = []
    for stream, at_ms, text in elements:
        engine.push(stream, text, at_ms)
        if store is None:
            continue
        store.arrive(stream, text, at_ms)
        due = 2 if who in text else due
        if due and len(seconds) < asked:
            due -= 1
            wanted, took = store.ask(at_ms)
            ours = answer_set(query)
            assert ours == wanted, f"at {at_ms} ms: {ours}, the store has {wanted}"
            seconds.append(took)
    return median(seconds) * 1e6 if seconds else None
