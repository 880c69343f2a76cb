"""Registering a query beside graphs of growing size, of which it matches always as much.

One query asks for a predicate that few triples have, one for it together with one that a tenth of them have, one for nothing
but a stream. What the first and the last cost must not depend on the graph.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import millstream as ms
from benchmarks.report import Cell, Part, Progress, Table, at_most
from benchmarks.timing import Effort

ABOUT = "Queries that come beside graphs of growing size: one of few triples, one of a tenth of them, one over a stream."
RARE = 100
GROWTH = 1.5
"""How many times as much the same few triples, or a stream, may cost beside the largest graph as beside the smallest."""
FORMS = {
    "few triples": "SELECT * WHERE {{ ?x{n} <http://example.org/rare> ?y }}",
    "a stream alone": "SELECT * WHERE {{ STREAM <urn:s> [RANGE 1s] {{ ?x{n} <http://example.org/rare> ?y }} }}",
    "few and a tenth": "SELECT * WHERE {{ ?x{n} <http://example.org/rare> ?y ; <http://example.org/p3> ?z }}",
}
STEADY = ("few triples", "a stream alone")


@dataclass(frozen=True, slots=True)
class Size:
    graphs: tuple[int, ...]
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size((1_000, 2_000), 1),
    "quick": Size((10_000, 100_000), 15),
    "full": Size((10_000, 100_000, 1_000_000), 31),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("registering", ABOUT)
    progress.expect(len(size.graphs))
    costs: dict[str, list[float]] = {form: [] for form in FORMS}
    rows: list[list[Cell]] = []
    # What the first of everything costs is nobody's.
    for form in FORMS:
        _register(_engine(1_000), form, size.rounds)
    for triples in size.graphs:
        progress(f"a graph of {triples:,} triples")
        engine = _engine(triples)
        for form in FORMS:
            costs[form].append(_register(engine, form, size.rounds))
        rows.append([triples, *(costs[form][-1] * 1e3 for form in FORMS)])
    notes = [f"medians of {size.rounds}, parsing and planning included; each query is closed before the next comes"]
    part.tables.append(Table("CPU ms to register", ("triples", *FORMS), rows, notes))
    if effort != "smoke":
        for form in STEADY:
            what = f"{form}, beside the largest graph over the smallest"
            part.targets.append(at_most(what, GROWTH, costs[form][-1] / costs[form][0], " times"))
    return part


def _engine(triples: int) -> ms.Engine:
    """Beside triples of ten predicates, and a few of another."""
    engine = ms.Engine()
    common = (
        f"<http://example.org/s{n}> <http://example.org/p{n % 10}> <http://example.org/o{n % 5_000}> .\n"
        for n in range(triples - RARE)
    )
    rare = (f"<http://example.org/s{n}> <http://example.org/rare> <http://example.org/r{n}> .\n" for n in range(RARE))
    engine.load("".join([*common, *rare]).encode(), format="nt")
    return engine


def _register(engine: ms.Engine, form: str, rounds: int) -> float:
    """CPU seconds; a variable of another name each time, so that nothing is remembered of the text."""
    spent, answers = [], set()
    for n in range(rounds):
        text = FORMS[form].format(n=n)
        began = time.process_time()
        query = engine.register(text)
        spent.append(time.process_time() - began)
        answers.add(len(query.take()))
        query.close()
    expected = {"few triples": RARE, "a stream alone": 0, "few and a tenth": RARE // 10}[form]
    assert answers == {expected}, f"{form}: {answers} answers, {expected} expected"
    return statistics.median(spent)
