"""Many queries at once: instances of the conference queries 1, 3 and 4 that differ in a name (CQELS figure 5).

All instances are registered before the first element; then elements are timed. What is emitted is shown beside the cost:
with more names, more of them are detected. Some instances are run alone over the same elements, and must emit as much.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from statistics import fmean

import millstream as ms
from benchmarks.report import Cell, Part, Plot, Progress, Series, Table, at_most
from benchmarks.timing import Effort, apart, resident
from benchmarks.workloads import conference
from benchmarks.workloads.conference import PARTICIPANTS
from benchmarks.workloads.elements import Element, as_table

ABOUT = "Up to 4,096 instances of the conference queries 1, 3 and 4, each for another author, over one stream."
QUERIES = ("Q1", "Q3", "Q4")
COMPARED, GROWTH = 1_024, 4.0
PUBLISHED = "CQELS needed about a second for 1,000 queries, C-SPARQL more than 100; published in 2011, quad-core Xeon E5410"


@dataclass(frozen=True, slots=True)
class Size:
    counts: tuple[int, ...]
    dataset: int
    warm: int
    elements: int
    limit_s: float
    """CPU seconds for timing one count; four times that for registering its instances."""
    memory: int
    """Bytes; beyond them no instances are added."""


SIZES: dict[Effort, Size] = {
    "smoke": Size((1, 2, 4), 4_000, 10, 40, 1, 4 << 30),
    "quick": Size(tuple(1 << k for k in range(0, 11, 2)), 20_000, 50, 400, 3, 4 << 30),
    "full": Size(tuple(1 << k for k in range(13)), 100_000, 100, 1_000, 6, 6 << 30),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What one count of instances cost; CPU time."""

    count: int
    cost_us: float
    elements: int
    answers: float
    """An element, of all instances."""
    output_us: float
    """What these answers cost, an element, at the price that an answer of one instance alone has."""
    register_s: float
    """For all of them."""
    stopped: bool


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("many-queries", ABOUT)
    progress.expect(len(QUERIES))
    rows: list[list[Cell]] = []
    series = []
    for name in QUERIES:
        progress(name)
        found, why = apart(effort, measure, name, size)
        one = found[0].cost_us
        rows += [
            [name, f.count, f.cost_us, f.cost_us / one, f.answers, f.output_us, f.register_s, f.elements] for f in found
        ]
        if why:
            part.missing.append(f"{name}: more than {found[-1].count:,} instances: {why}")
        xs = [float(f.count) for f in found]
        series.append(Series(name, xs, [f.cost_us for f in found], stopped=[f.stopped for f in found]))
        compared = [f for f in found if f.count <= COMPARED]
        last = compared[-1]
        what = f"{name}, {last.count:,} instances, cost an element over {GROWTH:g} times that of one plus output"
        part.targets.append(at_most(what, 1.0, last.cost_us / (GROWTH * one + last.output_us)))
        if compared[-1].count < min(COMPARED, size.counts[-1]):
            part.missing.append(f"{name}: the target for {min(COMPARED, size.counts[-1]):,} instances")
    costs = ("us an element", "times one", "answers an element", "their output, us")
    columns = ("query", "instances", *costs, "register, s", "elements")
    notes = [
        f"dataset of {size.dataset:,} triples; elements pushed one by one, as many as fit into {size.limit_s:g} s",
        "the cost includes all that is emitted; output: answers at what one costs where a single instance emits some",
        "register: CPU seconds for all of them, one after the other, before the first element",
        PUBLISHED,
    ]
    part.tables.append(Table("cost of an element as queries are added", columns, rows, notes))
    title, cost = "Cost of an element with many queries", "CPU time an element, us"
    part.plots.append(Plot(title, "registered queries", cost, series, log_x=True, log_y=True))
    return part


def measure(name: str, size: Size) -> tuple[list[Found], str]:
    """One query at all counts, each time in an engine of its own, and why the largest ones are missing, if they are."""
    elements = list(conference.elements(size.warm + 2 * size.elements))
    warm, timed, more = (
        elements[: size.warm],
        elements[size.warm : size.warm + size.elements],
        elements[size.warm + size.elements :],
    )
    price_us = 0.0
    found: list[Found] = []
    for count in size.counts:
        engine = _filled(size)
        queries: list[ms.ContinuousQuery] = []
        gc.collect()
        began = time.process_time()
        for number in range(count):
            queries.append(engine.register(conference.query(name, conference.name(number))))
            if time.process_time() - began > size.limit_s * 4:
                return found, f"registering {len(queries):,} took more than {size.limit_s * 4:g} s"
            if resident() > size.memory:
                return found, f"{len(queries):,} needed more than {size.memory / 1e9:.0f} GB"
        register_s = time.process_time() - began
        _, warmed = _push(engine, warm, size.limit_s)
        before = sum(query.stats["answers"] for query in queries)
        cost_us, pushed = _push(engine, timed, size.limit_s)
        answers = sum(query.stats["answers"] for query in queries) - before
        # Among them the first, and one that only this count has.
        for number in {0, min(count - 1, PARTICIPANTS)}:
            _check(name, size, queries[number], number, warm[:warmed] + timed[:pushed])
        if count == 1:
            price_us = _price(engine, queries[0], more)
        output_us = answers / pushed * price_us
        found.append(Found(count, cost_us, pushed, answers / pushed, output_us, register_s, pushed < size.elements))
    return found, ""


def _filled(size: Size) -> ms.Engine:
    engine = ms.Engine()
    for graph, pieces in conference.background(size.dataset).items():
        engine.insert("".join(pieces), graph=graph)
    return engine


def _push(engine: ms.Engine, elements: list[Element], limit_s: float) -> tuple[float, int]:
    """Microseconds an element, and how many were pushed before the limit."""
    began, pushed, took = time.process_time(), 0, 0.0
    for stream, at_ms, text in elements:
        engine.push(stream, text, at_ms)
        pushed += 1
        took = time.process_time() - began
        if took > limit_s:
            break
    return took / pushed * 1e6, pushed


def _price(engine: ms.Engine, query: ms.ContinuousQuery, elements: list[Element]) -> float:
    """What an answer costs: how much more elements cost that have some."""
    silent, emitting = list[float](), list[float]()
    answers, before = 0, query.stats["answers"]
    for stream, at_ms, text in elements:
        began = time.thread_time()
        engine.push(stream, text, at_ms)
        took = time.thread_time() - began
        after = query.stats["answers"]
        (emitting if after > before else silent).append(took)
        answers, before = answers + after - before, after
    if not emitting or not silent:
        return 0.0
    return max(0.0, (fmean(emitting) - fmean(silent)) * len(emitting) / answers * 1e6)


def _check(name: str, size: Size, query: ms.ContinuousQuery, number: int, elements: list[Element]) -> None:
    """What an instance emitted since it was registered is what it emits alone."""
    engine = _filled(size)
    alone = engine.register(conference.query(name, conference.name(number)))
    engine.push_table(conference.STREAM, as_table(elements))
    found, wanted = query.stats["answers"], alone.stats["answers"]
    assert found == wanted, f"{name} for author {number}: {found} answers among others, {wanted} alone"
