"""Scan and interval join beside the two prototype kernels, in one run, so that only ratios count: `millstream bench join`.

Every ratio is prototype time / our time: above 1 we are faster. Both must find the same number of matches. What a part
finds it prints; `yardstick.build` must have put the prototypes on the import path for those that need them.
"""

from __future__ import annotations

import importlib
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.kernels.conjunctions.time_merge import TimeMerge
from millstream.kernels.joins.join import FOREVER, IntervalJoin
from millstream.kernels.matching.pattern_index import PatternIndex

Column = npt.NDArray[np.int64]
Triples = Sequence[tuple[str, str, str]]
BATCH = 16_384


class Query:
    """A conjunctive query over encoded triples, as scan and join."""

    def __init__(self, patterns: Triples, ids: dict[str, int]) -> None:
        names: list[str] = []
        scanned, joined = [], []
        for s, p, o in patterns:
            ends = [t for t in (s, o) if t.startswith("?")]
            names += [t for t in ends if t not in names]
            scanned.append([-1 if t.startswith("?") else ids.get(t, 1 << 40) for t in (s, p, o)])
            joined.append([names.index(t) for t in ends] + [-1] * (2 - len(ends)))
        self.scan = PatternIndex(scanned)
        relations = [sorted({p for _, p, _ in patterns}).index(p) for _, p, _ in patterns]
        self.join = IntervalJoin(joined, [0] * len(joined), len(names), relations=relations)

    def feed(self, s: Column, p: Column, o: Column, at: Column, until: Column) -> int:
        row, view, a, b = self.scan.match(s, p, o)
        now = at[row]
        return self.join.feed(view, a, b, now, until[row], np.ones(len(row), np.int64), now)


def race(runs: Sequence[Callable[[], Any]], repeats: int) -> list[tuple[float, Any]]:
    """Least CPU seconds and last result of each run; they take turns, so that a busy machine slows them alike."""
    seconds, results = [float("inf")] * len(runs), list[Any]([None] * len(runs))
    for _ in range(repeats):
        for i, run in enumerate(runs):
            began = time.process_time()
            results[i] = run()
            seconds[i] = min(seconds[i], time.process_time() - began)
    return list(zip(seconds, results, strict=True))


def universities(quick: bool) -> None:
    kernel = importlib.import_module("kernel")
    measure = importlib.import_module("measure")
    generate = importlib.import_module("universities").gen

    ids: dict[str, int] = {}
    triples = generate(5 if quick else 12, False, random.Random(42))
    rows = np.array([[ids.setdefault(t, len(ids)) for t in triple] for triple in triples], np.int64)
    s, p, o = (np.ascontiguousarray(rows[:, c]) for c in range(3))
    n = len(s)
    at, insert = np.arange(n, dtype=np.int64), np.ones(n, np.int64)
    print(f"universities: {n} triples, one an event; M triples a CPU-second, ours / prototype")
    for window in (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000):
        until = at + window
        for name, patterns in measure.QUERIES.items():

            def prototype(patterns: Triples = patterns, until: Column = until) -> int:
                join, found = kernel.Join(*measure.plan(patterns, ids)), 0
                for k in range(0, n, BATCH):
                    b = slice(k, k + BATCH)
                    found += join.feed(s[b], p[b], o[b], at[b], until[b], insert[b])
                return found

            def ours(patterns: Triples = patterns, until: Column = until) -> tuple[int, int, int]:
                query, found = Query(patterns, ids), 0
                for k in range(0, n, BATCH):
                    b = slice(k, k + BATCH)
                    query.feed(s[b], p[b], o[b], at[b], until[b])
                    found += len(query.join.take()[1])
                stats = query.join.stats
                return found, stats["bytes"], sum(stats["entries"])

            (theirs, expected), (mine, (found, size, stored)) = race([prototype, ours], 5)
            assert found == expected, (found, expected)
            print(
                f"  window {window:8d} {name}: {n / mine / 1e6:7.1f} / {n / theirs / 1e6:6.1f}, "
                f"ratio {theirs / mine:5.2f}; "
                f"{found} answers, {stored} stored, {size / max(1, stored):.0f} bytes each"
            )


def labelled(quick: bool) -> None:
    m = importlib.import_module("measure_labelled")
    rng = random.Random(3)
    label, old, new = m.graph(rng)
    base, inserted = m.both_ways(old), m.both_ways(new)
    print("labelled graph: ms for the inserts, ours / prototype writing rows")
    for shape, closing in (("tree", False), ("cycle", True)):
        ratios = []
        for i in range(3 if quick else 6):
            labels, links = m.query(rng, label, old, closing)
            theirs = mine = float("inf")
            for _ in range(5):
                took, expected = m.by_rows(labels, links, label, base, inserted, True)
                theirs = min(theirs, took)
                took, found, size = by_join(labels, links, label, base, inserted)
                mine = min(mine, took)
                assert found == expected, (found, expected)
            ratios.append(theirs / mine)
            print(
                f"  {shape} {i}: {mine:7.2f} / {theirs:7.2f}, ratio {theirs / mine:5.2f}; "
                f"{found} matches, {size:.0f} bytes a triple"
            )
        print(f"  {shape}s: median ratio {statistics.median(ratios):.2f}")


def by_join(labels: Any, links: Any, label: Any, base: Column, new: Column) -> tuple[float, int, float]:
    """Loads, then times the inserts: a row a triple for all views of the one relation, output taken every 512 rows.

    Taking is not timed: the prototype overwrites its output instead.
    """
    k, n = len(links), len(labels)
    patterns = [*links, *((x, -1) for x in range(n))]
    join = IntervalJoin(patterns, [-1] * len(patterns), n, relations=[0] * k + [1] * n)

    def columns(pairs: Column, at: int) -> tuple[Column, ...]:
        size = len(pairs)
        now = np.arange(size) // 2 + at
        forever, ones = np.full(size, FOREVER), np.ones(size, np.int64)
        return np.full(size, len(patterns)), pairs[:, 0].copy(), pairs[:, 1].copy(), now, forever, ones, now

    join.feed(*columns(base, 0))
    labelled = np.array([(k + x, node) for node, v in enumerate(label) for x, w in enumerate(labels) if v == w], np.int64)
    size = len(labelled)
    # Feeding the labels last would write all old matches; a loaded join stores in silence.
    join.load(labelled[:, 0].copy(), labelled[:, 1].copy(), np.full(size, -1), np.full(size, FOREVER))
    each, found, took = join.stats["bytes"] / len(base), 0, 0.0
    rows = columns(new, len(base))
    for first in range(0, len(new), 512):
        part = [column[first : first + 512] for column in rows]
        began = time.perf_counter()
        found += join.feed(*part)
        took += time.perf_counter() - began
        join.take()
    return took * 1e3, found, each


def dataset(quick: bool) -> None:
    """A window of 1,000 alone, and beside 100,000 dataset entries that share nodes with it."""
    n, window, rng = 200_000 if quick else 400_000, 1_000, np.random.default_rng(1)
    at = np.arange(n, dtype=np.int64)
    a, b, insert = rng.integers(0, 5_000, n), rng.integers(0, 5_000, n), np.ones(n, np.int64)

    def loaded(size: int) -> IntervalJoin:
        join = IntervalJoin([(0, 1), (1, 2), (1, 3)], [0, 0, -1], 4)
        known = np.arange(size, dtype=np.int64)
        join.load(np.full(size, 2, np.int64), known, known, np.full(size, FOREVER, np.int64))
        return join

    def stream(join: IntervalJoin) -> int:
        found = 0
        for k in range(0, n, BATCH):
            part = slice(k, k + BATCH)
            found += join.feed(at[part] % 2, a[part], b[part], at[part], at[part] + window, insert[part], at[part])
            join.take()
        return found

    # Loading is paid once, so it is timed apart from the stream.
    least: dict[int, tuple[float, float]] = {}
    answers = set()
    for _ in range(7):
        for size in (5_000, 100_000):
            began = time.process_time()
            join = loaded(size)
            between = time.process_time()
            answers.add(stream(join))
            taken = between - began, time.process_time() - between
            before = least.get(size, taken)
            least[size] = min(taken[0], before[0]), min(taken[1], before[1])
    assert len(answers) == 1
    (_, alone), (load, beside) = least[5_000], least[100_000]
    print(
        f"dataset: window of {window} beside 100,000 entries at {alone / beside:.2f} of its speed beside 5,000 "
        f"({(alone / (beside + load)):.2f} with the loading); {beside / n * 1e9:.0f} ns a row, "
        f"{load / 1e5 * 1e9:.0f} ns an entry loaded; {answers.pop()} answers"
    )


def pause(quick: bool) -> None:
    """The longest feed of one row while a window of 10^6 fills and slides.

    In CPU time of the thread, system calls and page faults included: on a shared machine the wall clock also shows when
    others ran.
    """
    window = 100_000 if quick else 1_000_000
    join, rng = IntervalJoin([(0, 1), (1, 2), (0, -1)], [0, 0, 0], 3), np.random.default_rng(2)
    n = 5 * window // 2
    view, a, b = rng.integers(0, 3, n), rng.integers(0, window, n), rng.integers(0, window, n)
    b[view == 2] = -1
    rows = np.stack([view, a, b, np.arange(n), np.arange(n) + window, np.ones(n, np.int64), np.arange(n)])
    rows = np.ascontiguousarray(rows.T)
    taken, clock = np.empty((2, n)), time.perf_counter
    for i, row in enumerate(rows):
        cells = [row[c : c + 1] for c in range(7)]
        began, began_cpu = clock(), time.thread_time()
        join.feed(*cells)
        taken[:, i] = time.thread_time() - began_cpu, clock() - began
    stats = join.stats
    stored = sum(stats["entries"])
    print(f"pause: {stored} stored, {stats['bytes'] / stored:.0f} bytes each; a feed of one row:")
    for name, times in zip(("CPU", "wall"), np.sort(taken) * 1e3, strict=True):
        longest = ", ".join(f"{ms:.2f}" for ms in times[:-6:-1])
        print(f"  {name:4} median {np.median(times) * 1e3:.1f} us, longest {longest} ms")


def merge(quick: bool) -> None:
    """Intervals through the time merge: ends in order, and ends at random within the window."""
    n, window, rng = 300_000 if quick else 1_000_000, 100_000, np.random.default_rng(3)
    at = np.arange(n, dtype=np.int64)
    columns, ones = rng.integers(0, 1 << 40, (n, 3)), np.ones(n, np.int64)
    for name, until in (("in order", at + window), ("at random", at + rng.integers(1, window, n))):

        def run(until: Column = until) -> int:
            merge, out = TimeMerge(3), 0
            for k in range(0, n, BATCH):
                part = slice(k, k + BATCH)
                merge.push(columns[part], at[part], at[part], at[part], until[part], ones[part])
                out += len(merge.drain(int(at[part][-1]))[1])
            return out + len(merge.drain(n + window)[1])

        ((seconds, out),) = race([run], 3)
        assert out == 2 * n
        print(f"merge: ends {name}: {n / seconds / 1e6:.1f} M rows a CPU-second in, twice as many out")


PARTS: dict[str, Callable[[bool], None]] = {run.__name__: run for run in (universities, labelled, dataset, pause, merge)}
