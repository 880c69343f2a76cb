"""What a change costs as an operator's state grows: one query an operator over a graph that changes.

The graph is filled first, then triples are inserted and deleted again, one at a time and many at once; what a change makes
the query emit does not depend on the size. At the smallest size the answers in between are those of evaluating again.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles

import millstream as ms
from benchmarks.recomputing import Recomputing, answer_set
from benchmarks.report import Cell, Part, Plot, Progress, Series, Table, at_most
from benchmarks.timing import Effort
from benchmarks.workloads.grown import OPERATORS, Grown

ABOUT = "Cost of a change for every operator as its state grows from 1,000 to a million rows."
POWER = 0.25
"""Cost grows at most like the state to this power: a logarithm grows like 0.1 over these sizes, caches add as much."""
AN_INSERT = 100_000
A_CHART = 6
LINEAR = 100_000
"""Rows up to which operators are measured whose every change looks at all of them."""


@dataclass(frozen=True, slots=True)
class Size:
    rows: tuple[int, ...]
    single: int
    batch: int
    batches: int
    limit_s: float = 2.0
    """CPU seconds; what would take longer is done with fewer changes."""


SIZES: dict[Effort, Size] = {
    "smoke": Size((50, 200), 10, 20, 2),
    "quick": Size((1_000, 10_000, 100_000), 100, 500, 5),
    "full": Size((1_000, 10_000, 100_000, 1_000_000), 200, 1_000, 5),
}


@dataclass(frozen=True, slots=True)
class Found:
    """CPU microseconds at one size: all single changes, and a change of each batch."""

    inserts: list[float]
    deletes: list[float]
    batched_inserts: list[float]
    batched_deletes: list[float]
    emitted: float
    """Rows a change, of single ones."""
    stored: int

    def medians(self) -> tuple[float, float, float, float]:
        return median(self.inserts), median(self.deletes), median(self.batched_inserts), median(self.batched_deletes)


WAYS = ("insert", "delete", "insert, many at once", "delete, many at once")


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("operators", ABOUT)
    progress.expect(len(OPERATORS))
    found: dict[str, list[Found]] = {}
    for name in OPERATORS:
        progress(name)
        found[name] = measure(name, size)
    rows: list[list[Cell]] = []
    for name, all_sizes in found.items():
        for rows_of_state, one in zip(size.rows, all_sizes, strict=False):
            rows.append([name, rows_of_state, *one.medians(), one.emitted, one.stored])
    columns = ("operator", "rows", *(f"{way}, us" for way in WAYS), "emitted a change", "stored")
    notes = [
        f"medians of {size.single} single changes, and of {size.batches} times {size.batch:,} in one call; us a change",
        "a single change has a fixed cost of its call, which hides growth; many at once show it",
        "emitted: rows with weight +1 or -1 that a single change makes the query emit",
    ]
    part.tables.append(Table("cost of a change", columns, rows, notes))
    powers: list[list[Cell]] = []
    for name, all_sizes in found.items():
        grown, operator = [_power(size.rows, [one.medians()[way] for one in all_sizes]) for way in range(4)], OPERATORS[name]
        powers.append([name, *grown, operator.anything or (operator.deletes and f"deletes: {operator.deletes}")])
        if not operator.anything:
            asked = range(0, 4, 2) if operator.deletes else range(4)
            what = f"{name}, {'inserts' if operator.deletes else 'changes'}, greatest power of their growth"
            part.targets.append(at_most(what, POWER, max(grown[way] for way in asked)))
    notes = ["cost ~ rows ^ power, fitted to the medians: 0 is constant, 1 is linear; a logarithm is about 0.1 here"]
    part.tables.append(Table("growth", ("operator", *WAYS, "may grow"), powers, notes))
    part.plots = _plots("Inserts, many at once", 2, size, found) + _plots("Deletes, many at once", 3, size, found)
    return part


def _plots(title: str, way: int, size: Size, found: dict[str, list[Found]]) -> list[Plot]:
    """In several charts, or lines could not be told apart; without those that are linear, which would dwarf the others."""
    names, made = [name for name in found if not OPERATORS[name].anything], []
    for number, first in enumerate(range(0, len(names), A_CHART), 1):
        some = names[first : first + A_CHART]
        series = []
        for name in some:
            spread = [_quartiles((one.batched_inserts, one.batched_deletes)[way - 2]) for one in found[name]]
            ys = [one.medians()[way] for one in found[name]]
            series.append(
                Series(name, list(size.rows[: len(ys)]), ys, [low for low, _ in spread], [high for _, high in spread])
            )
        label = "CPU time a change, us"
        made.append(Plot(f"{title} ({number})", "rows of state", label, series, log_x=True, log_y=True))
    return made


def _quartiles(values: list[float]) -> tuple[float, float]:
    low, _, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return low, high


def _power(xs: tuple[int, ...], ys: list[float]) -> float:
    """The slope of a line through the logarithms."""
    points = [(math.log(x), math.log(y)) for x, y in zip(xs, ys, strict=False)]
    x_mean, y_mean = (sum(values) / len(points) for values in zip(*points, strict=True))
    slope = sum((x - x_mean) * (y - y_mean) for x, y in points) / sum((x - x_mean) ** 2 for x, _ in points)
    return float(slope)


def measure(name: str, size: Size) -> list[Found]:
    """One operator at all sizes."""
    _check(OPERATORS[name], size.rows[0])
    most = LINEAR if OPERATORS[name].anything else size.rows[-1]
    return [_measure(OPERATORS[name], rows, size) for rows in size.rows if rows <= most]


def _filled(grown: Grown, rows: int) -> tuple[ms.Engine, ms.ContinuousQuery]:
    engine = ms.Engine(max_pending=1 << 40)
    for first in range(0, rows, AN_INSERT):
        engine.insert("".join(map(grown.row, range(first, min(first + AN_INSERT, rows)))))
    return engine, engine.register(grown.query, output="changes")


def _check(grown: Grown, rows: int) -> None:
    """After some inserts, and after they were deleted, the answers are those of a store that has the same."""
    engine, query = _filled(grown, rows)
    base = [grown.row(i) for i in range(rows)]
    changes = list(dict.fromkeys(grown.change(k, rows) for k in range(20)))
    for text in changes:
        engine.insert(text)
    wanted, _ = Recomputing(grown.query, {None: [*base, *changes]}).ask(0)
    assert answer_set(query) == wanted, "answers after inserts differ from those of evaluating again"
    for text in changes[::2]:
        engine.delete(text)
    wanted, _ = Recomputing(grown.query, {None: [*base, *changes[1::2]]}).ask(0)
    assert answer_set(query) == wanted, "answers after deletes differ from those of evaluating again"


def _measure(grown: Grown, rows: int, size: Size) -> Found:
    engine, query = _filled(grown, rows)
    query.take_table()
    singles = [grown.change(k, rows) for k in range(size.single)]
    # The first ones warm up what was just made.
    began = time.thread_time()
    for text in singles[: size.single // 10]:
        engine.insert(text)
        engine.delete(text)
        if time.thread_time() - began > size.limit_s:
            break
    query.take_table()
    gc.collect()
    inserts, deletes = [], []
    began = time.thread_time()
    for text in singles:
        inserts.append(_timed(engine.insert, text))
        if time.thread_time() - began > size.limit_s:
            break
    deletes = [_timed(engine.delete, text) for text in singles[: len(inserts)]]
    emitted = query.take_table().num_rows / (2 * len(inserts))
    batched_inserts, batched_deletes = [], []
    batch = max(1, min(size.batch, int(size.limit_s * 1e6 / median(inserts) / size.batches)))
    for turn in range(size.batches):
        first = size.single + turn * batch
        text = "".join(grown.change(k, rows) for k in range(first, first + batch))
        batched_inserts.append(_timed(engine.insert, text) / batch)
        batched_deletes.append(_timed(engine.delete, text) / batch)
        query.take_table()
    return Found(inserts, deletes, batched_inserts, batched_deletes, emitted, query.stats["stored"])


def _timed(call: Callable[[str], object], text: str) -> float:
    began = time.thread_time_ns()
    call(text)
    return (time.thread_time_ns() - began) / 1000
