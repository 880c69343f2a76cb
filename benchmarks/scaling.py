"""What a triple costs as the window grows, as a dataset that it is joined with grows, and beside a large dataset.

Cost is CPU time a triple once the window is full, from samples taken while the stream is read. Every size reads the same
stream, the sizes take turns.
"""

from __future__ import annotations

import itertools
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, islice, pairwise

import millstream as ms
from benchmarks.report import Cell, Part, Progress, Table, at_least, at_most
from benchmarks.timing import Effort, Sampler
from benchmarks.workloads import LINKS, QUERIES, STREAM, Patterns, cqels, lines, links, universities

ABOUT = "Nanoseconds of CPU a stream triple, from bytes to answers, when the window is full."
WINDOW_GROWTH, DATASET_GROWTH, BESIDE = 3.0, 2.0, 0.8
AN_INSERT = 500_000
GRAPH = "http://example.org/places"
IN, WANTS, KNOWN = "<http://example.org/in>", "<http://example.org/wants>", "<http://example.org/known>"
AREAS = 997


@dataclass(frozen=True, slots=True)
class Size:
    windows: tuple[int, ...]
    datasets: tuple[int, ...]
    measured: int
    """Triples read after the largest window is full, or beside a dataset."""
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size((1_000, 10_000), (1_000, 10_000), 60_000, 1),
    "quick": Size((10_000, 100_000), (10_000, 100_000, 1_000_000), 100_000, 2),
    "full": Size((10_000, 100_000, 1_000_000), (10_000, 100_000, 1_000_000, 10_000_000), 1_000_000, 3),
}
WORKLOADS: dict[str, Patterns] = {name: QUERIES[name] for name in ("Q1", "Q2", "Q7")} | {"links": LINKS}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("scaling", ABOUT)
    grow_window(size, part, progress)
    grow_dataset(size, part, progress)
    stand_beside(size, part, progress)
    return part


def cost(engine: ms.Engine, text: bytes, skipped: int) -> float:
    """CPU nanoseconds a triple after the first so many."""
    with Sampler(engine) as sampler:
        engine.read(STREAM, text, format="nt", time="rate:1000")
    first, last = sampler.at(skipped), sampler.samples[-1]
    return (last.cpu_s - first.cpu_s) / (last.triples - first.triples) * 1e9


def medians(runs: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of what runs say themselves, in turns."""
    seen: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            seen[name].append(run())
    return {name: statistics.median(values) for name, values in seen.items()}


# Windows --------------------------------------------------------------------------------------------------------------


def grow_window(size: Size, part: Part, progress: Progress) -> None:
    largest = max(size.windows)
    rows: list[list[Cell]] = []
    count = largest + size.measured
    for name, patterns in WORKLOADS.items():
        progress(f"windows, {name}")
        triples = links(largest) if patterns is LINKS else chain.from_iterable(universities(8, seed) for seed in range(9))
        text = "".join(lines(islice(triples, count))).encode()

        answers: dict[int, int] = {}

        def run(window: int, patterns: Patterns = patterns, text: bytes = text, answers: dict[int, int] = answers) -> float:
            engine, seen = ms.Engine(), itertools.count()
            # Taken as they come, or the engine would keep all terms since the first.
            engine.register(cqels(patterns, window), on_answer=lambda _: next(seen))
            found = cost(engine, text, largest)
            answers[window] = next(seen)
            return found

        found = medians({str(w): lambda w=w, run=run: run(w) for w in size.windows}, size.rounds)  # type: ignore[misc]
        costs = list(found.values())
        rows.append([name, *costs, costs[-1] / costs[0], answers[size.windows[0]], answers[largest]])
        what = f"{name}, window {size.windows[0]:,} to {largest:,}, cost a triple"
        part.targets.append(at_most(what, WINDOW_GROWTH, costs[-1] / costs[0], " times"))
    title = f"windows, the {size.measured:,} triples after the first {largest:,}; ns a triple"
    columns = ("query", *(f"window {w:,}" for w in size.windows), "times", "answers, smallest", "answers, largest")
    part.tables.append(
        Table(title, columns, rows, ["a larger window also has more matches to find and to hand on; each answer is decoded"])
    )


# Datasets -------------------------------------------------------------------------------------------------------------


def place(number: int) -> str:
    return f"<http://example.org/place/{number}>"


def area(number: int) -> str:
    return f"<http://example.org/area/{number}>"


def places(numbers: range) -> str:
    return "".join(f"{place(k)} {KNOWN} {area(k % AREAS)} .\n" for k in numbers)


def insert_places(engine: ms.Engine, count: int) -> float:
    """Puts so many triples into a graph; gives triples a CPU-second, their making aside."""
    seconds = 0.0
    for first in range(0, count, AN_INSERT):
        text = places(range(first, min(first + AN_INSERT, count)))
        began = time.process_time()
        engine.insert(text, graph=GRAPH)
        seconds += time.process_time() - began
    return count / seconds


def load_places(count: int) -> float:
    """The same by one `load` of bytes, into an engine of its own."""
    text, engine = places(range(count)).encode(), ms.Engine()
    began = time.process_time()
    added = engine.load(text, graph=GRAPH, format="nt")
    seconds = time.process_time() - began
    assert added == count, (added, count)
    return count / seconds


def visits(count: int, known: int, seed: int = 11) -> bytes:
    """Visitors that are somewhere and want to be in some area: each asks the dataset, few are where they want to be."""
    draw, made = random.Random(seed), []
    for k in range(count // 2):
        who = f"<http://example.org/visitor/{k}>"
        made.append(f"{who} {IN} {place(draw.randrange(known))} .\n{who} {WANTS} {area(draw.randrange(AREAS))} .\n")
    return "".join(made).encode()


VISITS = (
    f"SELECT * WHERE {{ STREAM <{STREAM}> [RANGE 1000ms] {{ ?who {IN} ?place . ?who {WANTS} ?area }} "
    f"GRAPH <{GRAPH}> {{ ?place {KNOWN} ?area }} }}"
)


def grow_dataset(size: Size, part: Part, progress: Progress) -> None:
    count = size.measured
    costs: dict[int, list[float]] = {known: [] for known in size.datasets}
    speeds: dict[int, list[float]] = {known: [] for known in size.datasets}
    for turn in range(size.rounds):
        for known in size.datasets:
            progress(f"dataset of {known:,}, round {turn + 1} of {size.rounds}")
            engine = ms.Engine()
            speeds[known].append(insert_places(engine, known))
            answers: list[ms.Answer] = []
            engine.register(VISITS, on_answer=answers.append)
            with Sampler(engine) as sampler:
                engine.read(STREAM, visits(count, known), format="nt", time="rate:1000")
            assert answers, "no visitor is where they want to be"
            costs[known].append(statistics.median(slopes(sampler, count)))
            del engine, sampler
    rows: list[list[Cell]] = []
    for known, seen in costs.items():
        # Each beside the smallest of its own round.
        times = [cost / least for cost, least in zip(seen, costs[size.datasets[0]], strict=True)]
        middle = statistics.median(times)
        spread = f"{min(times):.2f} to {max(times):.2f}"
        rows.append([known, statistics.median(seen), middle, spread, statistics.median(speeds[known])])
    progress("load")
    loaded = load_places(size.datasets[-2])
    title = f"a window of 1,000 joined with a dataset, {count:,} triples read, {size.rounds} rounds; ns a triple"
    columns = ("dataset", "ns a triple", "times the smallest", "in the rounds", "inserted a CPU-s")
    notes = [f"`load` of {size.datasets[-2]:,} triples as bytes: {loaded:,.0f} triples a CPU-second"]
    part.tables.append(Table(title, columns, rows, notes))
    what = f"dataset {size.datasets[0]:,} to {size.datasets[-1]:,}, cost a stream triple"
    part.targets.append(at_most(what, DATASET_GROWTH, float(rows[-1][2] or 0), " times"))


def slopes(sampler: Sampler, count: int, parts: int = 8) -> list[float]:
    """CPU nanoseconds a triple in each part of a run but the first, which fills the window."""
    # What the last chunk has beyond the last time it was looked at is left out.
    marks = [*(sampler.at(count * i // parts) for i in range(1, parts)), sampler.samples[-1]]
    pairs = [(a, b) for a, b in pairwise(marks) if b.triples > a.triples]
    return [(b.cpu_s - a.cpu_s) / (b.triples - a.triples) * 1e9 for a, b in pairs]


# A dataset beside a window --------------------------------------------------------------------------------------------

NODES, DATASET = 5_000, 100_000
PAIRS = f"?a {IN} ?b . ?b {WANTS} ?c"


def stand_beside(size: Size, part: Part, progress: Progress) -> None:
    """Two patterns over a window of 1,000; then with a dataset that knows exactly one area for each node."""
    progress("a dataset beside a window")
    draw, count = random.Random(13), size.measured
    pairs = (f"{place(draw.randrange(NODES))} {(IN, WANTS)[k % 2]} {place(draw.randrange(NODES))} .\n" for k in range(count))
    text = "".join(pairs).encode()
    answers: set[int] = set()

    def run(known: int) -> float:
        engine = ms.Engine()
        if known:
            insert_places(engine, known)
        joined = f"GRAPH <{GRAPH}> {{ ?b {KNOWN} ?d }}" if known else ""
        query = engine.register(f"SELECT * WHERE {{ STREAM <{STREAM}> [RANGE 1000ms] {{ {PAIRS} }} {joined} }}")
        found, table = cost(engine, text, 1_000), query.take_table()
        # That the numbers agree would not show whether the dataset took part.
        assert not known or (table["d"].null_count == 0 and len(table["d"].unique()) > 1), "the dataset was not joined"
        answers.add(table.num_rows)
        return found

    names = {"window alone": 0, f"beside {NODES:,}, each joined": NODES, f"beside {DATASET:,}, the same joined": DATASET}
    runs: dict[str, Callable[[], float]] = {n: lambda known=known: run(known) for n, known in names.items()}  # type: ignore[misc]
    found = medians(runs, 2 * size.rounds - 1)
    assert len(answers) == 1, f"answers differ: {answers}"
    alone, small, large = found.values()
    rows: list[list[Cell]] = [[name, value, alone / value] for name, value in found.items()]
    title = f"a window of 1,000 beside a dataset, {count:,} triples read, {answers.pop():,} answers each; ns a triple"
    notes = [
        "the window alone has two patterns to join, beside a dataset three: the extra one is part of what is measured",
        f"a dataset of {DATASET:,} beside one of {NODES:,}, the same three patterns: {small / large:.2f} of the speed",
    ]
    part.tables.append(Table(title, ("what", "ns a triple", "of the window's speed"), rows, notes))
    part.targets.append(at_least(f"window of 1,000 beside {DATASET:,} joined, of its speed alone", BESIDE, alone / large))
