"""Counts at a hub: queries that ask how many, or whether any, of what is too much to list.

A hub has as many edges of two kinds, those of one kind lead on to more; what comes is one edge to or from the hub. A query
that counts all combinations, one that asks whether there are any and one that lists who has some stand beside one that lists
the combinations. In the last table everything passes through a window, so that every edge has an end of its own. Counts are
reckoned from the sizes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import millstream as ms
from benchmarks.report import Cell, Part, Progress, Table, at_most
from benchmarks.timing import Effort, take_turns_by_their_own_clock

ABOUT = "How many combinations of edges there are at a hub, whether any, and who has some, beside listing them."
STREAM = "http://example.org/stream"
LEADS = 4
"""Edges that each of the second kind leads on to."""
GROWTH = 2.0
"""How much faster than the edges of the hub the cost of counting may grow: combinations grow with their square."""


@dataclass(frozen=True, slots=True)
class Size:
    edges: tuple[int, ...]
    listed: int
    """Edges up to which combinations are listed."""
    changes: int
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size((2, 4), 4, 3, 1),
    "quick": Size((10, 30, 100, 300), 100, 20, 3),
    "full": Size((10, 30, 100, 300, 1_000), 100, 50, 5),
}
BEYOND = "?h <http://example.org/p> ?b . ?h <http://example.org/q> ?c . ?c <http://example.org/r> ?d"
COMES = f"STREAM <{STREAM}> [RANGE 1h] {{ ?x <http://example.org/in> ?h }}"
PASSES = (
    f"STREAM <{STREAM}> [RANGE {{window}}ms] {{{{ ?h <http://example.org/p> ?b . ?h <http://example.org/q> ?c . "
    "?h <http://example.org/in> ?x }}"
)
FORMS = {
    "COUNT(*)": "SELECT CHANGES (COUNT(*) AS ?n) WHERE {{ {pattern} }}",
    "DISTINCT": "SELECT CHANGES DISTINCT ?h WHERE {{ {pattern} }}",
    "listed": "SELECT CHANGES * WHERE {{ {pattern} }}",
}
EXISTS = "SELECT CHANGES ?x WHERE {{ {comes} FILTER EXISTS {{ {beyond} }} }}"

Run = Callable[[], tuple[float, int]]
"""CPU seconds a change, and what was counted at the end, or how many answers there were."""


def line(s: str, p: str, o: str) -> str:
    return f"<http://example.org/{s}> <http://example.org/{p}> <http://example.org/{o}> ."


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("counted", ABOUT)
    grown: dict[str, list[float]] = {}
    for title, measure, forms in (
        ("an edge to a hub whose other edges stay", at_rest, (*FORMS, "EXISTS")),
        ("an edge of a hub itself, inserted or deleted", edited, (*FORMS, "EXISTS")),
        ("edges of a hub that come and expire", passing, tuple(FORMS)),
    ):
        rows: list[list[Cell]] = []
        for edges in size.edges:
            progress(f"{title}: {edges:,}")
            runs: dict[str, Run] = {
                form: lambda form=form, edges=edges, measure=measure: measure(form, edges, size)  # type: ignore[misc]
                for form in forms
                if form != "listed" or edges <= size.listed
            }
            found = take_turns_by_their_own_clock(runs, size.rounds)
            for form in forms:
                cost = found[form].seconds * 1e6 if form in found else None
                rows.append([edges, form, cost])
                if cost is not None:
                    grown.setdefault(f"{form}, {title}", []).append(cost)
        part.tables.append(Table(title, ("edges of each kind", "query", "us a change"), rows))
    for name, costs in grown.items():
        if not name.startswith("listed"):
            ratio = (costs[-1] / costs[0]) / (size.edges[-1] / size.edges[0])
            part.targets.append(at_most(f"{name}: growth beside that of the edges", GROWTH, ratio))
    return part


def query_of(form: str) -> str:
    return EXISTS.format(comes=COMES, beyond=BEYOND) if form == "EXISTS" else FORMS[form].format(pattern=f"{COMES} {BEYOND}")


def hub(edges: int) -> ms.Engine:
    engine = ms.Engine()
    lines = [line("hub", kind, f"{kind}{n}") for kind in "pq" for n in range(edges)]
    lines += [line(f"q{n}", "r", f"r{m}") for n in range(edges) for m in range(LEADS)]
    engine.insert("\n".join(lines))
    return engine


def timed(calls: list[Callable[[], object]]) -> float:
    began = time.process_time()
    for call in calls:
        call()
    return (time.process_time() - began) / len(calls)


def counted(query: ms.ContinuousQuery) -> int:
    (solution,) = query.solutions()
    return int(solution["n"].value)


def at_rest(form: str, edges: int, size: Size) -> tuple[float, int]:
    """Edges to the hub, one after the other."""
    engine = hub(edges)
    query = engine.register(query_of(form))
    texts = [line(f"x{n}", "in", "hub") for n in range(size.changes)]
    spent = timed([lambda at=at, text=text: engine.push(STREAM, text, at) for at, text in enumerate(texts)])  # type: ignore[misc]
    if form == "COUNT(*)":
        assert counted(query) == size.changes * edges * edges * LEADS
    return spent, 0


def edited(form: str, edges: int, size: Size) -> tuple[float, int]:
    """One edge of the hub, deleted and inserted again, beside ten to it."""
    engine = hub(edges)
    query = engine.register(query_of(form))
    for n in range(10):
        engine.push(STREAM, line(f"x{n}", "in", "hub"), n)
    edge = line("hub", "p", "p0")
    calls: list[Callable[[], object]] = [lambda: engine.delete(edge), lambda: engine.insert(edge)]
    spent = timed(calls * size.changes)
    if form == "COUNT(*)":
        assert counted(query) == 10 * edges * edges * LEADS
    return spent, 0


def passing(form: str, edges: int, size: Size) -> tuple[float, int]:
    """Edges of three kinds by turns, of which a window holds so many of each."""
    engine = ms.Engine()
    query = engine.register(FORMS[form].format(pattern=PASSES.format(window=3 * edges)))
    at = 0

    def push() -> None:
        nonlocal at
        kind = ("p", "q", "in")[at % 3]
        engine.push(STREAM, line("hub", kind, f"{kind}{at}"), at)
        at += 1

    for _ in range(3 * edges):
        push()
    spent = timed([push] * (3 * size.changes))
    if form == "COUNT(*)":
        assert counted(query) == edges**3
    return spent, 0
