"""One `push` an element: how many a second, and how long single ones take while a large window fills and slides.

Most pushes are timed one by one, in CPU time of the thread and by the wall clock; every tenth block is timed as a whole,
without the clocks in between. For the longest it is told whether Python's garbage
collector or the engine's housekeeping ran in them, and how long the same pushes took in a second run.
"""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass, field
from itertools import chain, count, islice

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox

import millstream as ms
from benchmarks.report import Cell, Part, Progress, Table, at_least, at_most
from benchmarks.timing import Effort, apart
from benchmarks.workloads import LINKS, QUERIES, STREAM, Patterns, cqels, lines, links, matches_any, universities

ABOUT = "One `engine.push` of one triple as text at a time, one a millisecond."
PUSHES_A_SECOND = 100_000
MOST_BEYOND_MEDIAN_MS = 1.0
LONGEST_MS = 10.0
SHOWN = 5
ONE_RUN_ONLY = (
    "long in one of two runs only: not tied to the element, but this does not tell the machine from what each process "
    "seeds anew"
)


@dataclass(frozen=True, slots=True)
class Size:
    window: int
    pushes: int
    block: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(2_000, 10_000, 500),
    "quick": Size(50_000, 120_000, 2_000),
    "full": Size(1_000_000, 2_200_000, 10_000),
}
WORKLOADS: dict[str, Patterns] = {
    "universities, Q7": QUERIES["Q7"],
    "universities, Q2, all kept": QUERIES["Q2"],
    "universities, Q7, all kept": QUERIES["Q7"],
    "links, all kept": LINKS,
}


@dataclass(slots=True)
class Pushed:
    """What was seen of the pushes of one run."""

    place: npt.NDArray[np.int64]
    """Which pushes were timed one by one."""
    cpu_s: npt.NDArray[np.float64]
    wall_s: npt.NDArray[np.float64]
    in_gc_s: dict[int, tuple[int, float]] = field(default_factory=dict)
    """For a push in which the garbage collector ran: the generation and its CPU seconds."""
    in_housekeeping_s: dict[int, float] = field(default_factory=dict)
    a_second: float = 0.0
    parsed_a_second: float = 0.0
    """The same elements through pyoxigraph's parser alone."""
    stored: int = 0
    answers: int = 0


def run(effort: Effort, progress: Progress) -> Part:
    size = SIZES[effort]
    part = Part("push", ABOUT)
    speeds: list[list[Cell]] = []
    times: list[list[Cell]] = []
    longest: list[list[Cell]] = []
    causes = []
    for name in WORKLOADS:
        progress(name)
        found = apart(effort, measure, name, size, True)
        progress(f"{name}, without garbage collector")
        again = apart(effort, measure, name, size, False) if effort != "quick" else None
        for label, pushed in ((name, found), (f"{name}, gc off", again)):
            if pushed is None:
                continue
            speed, parsed = pushed.a_second, pushed.parsed_a_second
            speeds.append([label, speed, parsed, speed / parsed, pushed.stored, pushed.answers])
            for clock, seconds in (("CPU", pushed.cpu_s), ("wall", pushed.wall_s)):
                median, high, most = np.percentile(seconds, (50, 99.99, 100)) * 1e3
                times.append([label, clock, median * 1e3, high, most])
                if pushed is found:
                    what = f"{label}, 99.99th percentile less the median, {clock}"
                    part.targets.append(at_most(what, MOST_BEYOND_MEDIAN_MS, high - median, " ms"))
        part.targets.append(at_least(f"{name}, pushes a CPU-second", PUSHES_A_SECOND, found.a_second))
        part.targets.append(at_most(f"{name}, longest push", LONGEST_MS, float(found.cpu_s.max()) * 1e3, " ms CPU"))
        longest.extend(explain(name, found, again))
        collected = max((seconds for _, seconds in found.in_gc_s.values()), default=0.0) * 1e3
        kept = max(found.in_housekeeping_s.values(), default=0.0) * 1e3
        causes.append(
            f"{name}: the longest of {len(found.in_gc_s):,} garbage collections took {collected:.2f} ms, "
            f"of {len(found.in_housekeeping_s):,} housekeepings {kept:.2f} ms"
        )
    part.tables = [
        Table(
            f"speed, window {size.window:,}, after it was full",
            ("elements", "pushes/CPU-s", "pyoxigraph parses/CPU-s", "ratio", "stored", "answers"),
            speeds,
            ["pyoxigraph only parses the same elements one by one; it neither stores nor answers"],
        ),
        Table(
            f"single pushes, {size.pushes:,} of them, filling included",
            ("elements", "clock", "median us", "99.99 % ms", "longest ms"),
            times,
            ["the wall clock also shows when others had the processor"],
        ),
        Table(
            f"the {SHOWN} longest of each, CPU ms",
            ("elements", "push", "in all", "garbage collector", "housekeeping", "the same push, gc off"),
            longest,
            [*causes, ONE_RUN_ONLY],
        ),
    ]
    return part


def explain(label: str, found: Pushed, again: Pushed | None) -> list[list[Cell]]:
    """The longest pushes, what ran in them, and how long the same ones took in a second run."""
    rows: list[list[Cell]] = []
    for i in np.argsort(found.cpu_s)[: -SHOWN - 1 : -1].tolist():
        place = int(found.place[i])
        generation, collecting = found.in_gc_s.get(place, (-1, 0.0))
        collected = f"{collecting * 1e3:.2f} (generation {generation})" if generation >= 0 else "-"
        keeping = found.in_housekeeping_s.get(place, 0.0) * 1e3
        other = None if again is None else float(again.cpu_s[i]) * 1e3
        rows.append([label, place, float(found.cpu_s[i]) * 1e3, collected, keeping, other])
    return rows


def measure(name: str, size: Size, collector: bool) -> Pushed:
    """Pushes of one workload, in a process of its own."""
    patterns = WORKLOADS[name]
    triples = links(size.window) if patterns is LINKS else chain.from_iterable(universities(8, seed) for seed in count())
    if patterns is not LINKS and name.endswith("all kept"):
        triples = (triple for triple in triples if matches_any(triple, patterns))
    elements = lines(islice(triples, size.pushes))
    cpu, wall = np.full(size.pushes, np.nan), np.full(size.pushes, np.nan)
    found = Pushed(np.empty(0, np.int64), cpu, wall)
    engine = ms.Engine()
    query = engine.register(cqels(patterns, size.window))
    place = 0

    def collecting(phase: str, info: dict[str, int]) -> None:
        now = time.thread_time()
        if phase == "start":
            found.in_gc_s[place] = (info["generation"], -now)
        else:
            found.in_gc_s[place] = (info["generation"], found.in_gc_s[place][1] + now)

    core = engine._core
    housekeeping_before = core.housekeeping

    def housekeeping() -> None:
        began = time.thread_time()
        housekeeping_before()
        found.in_housekeeping_s[place] = time.thread_time() - began

    core.housekeeping = housekeeping  # type: ignore[method-assign]
    gc.collect()
    gc.callbacks.append(collecting)
    if not collector:
        gc.disable()
    speeds, parsed, push = [], [], engine.push
    for block in range(0, size.pushes, size.block):
        some = range(block, min(block + size.block, size.pushes))
        if block // size.block % 10 == 9:
            place = -1
            seconds = push_block(engine, elements, some)
            if block >= size.window:
                speeds.append(len(some) / seconds)
                parsed.append(len(some) / parse_block(elements, some))
        else:
            for place in some:
                began, began_cpu = time.perf_counter(), time.thread_time()
                push(STREAM, elements[place], place)
                cpu[place] = time.thread_time() - began_cpu
                wall[place] = time.perf_counter() - began
        found.answers += query.take_table().num_rows
    gc.callbacks.remove(collecting)
    gc.enable()
    found.place = np.flatnonzero(~np.isnan(cpu))
    found.cpu_s, found.wall_s = cpu[found.place], wall[found.place]
    found.a_second, found.parsed_a_second = statistics.median(speeds), statistics.median(parsed)
    found.stored = engine.stats["stored"]
    return found


def push_block(engine: ms.Engine, elements: list[str], places: range) -> float:
    began, push = time.process_time(), engine.push
    for place in places:
        push(STREAM, elements[place], place)
    return time.process_time() - began


def parse_block(elements: list[str], places: range) -> float:
    began, parse, format = time.process_time(), ox.parse, ox.RdfFormat.N_TRIPLES
    for place in places:
        list(parse(elements[place], format=format))
    return time.process_time() - began
