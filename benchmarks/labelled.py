"""Continuous matching in a labelled graph: an insertion phase, registering beside the graph, and large answers.

A query is registered beside the graph; the insertion phase then comes as text, in one batch. Beside that stand the join
alone, fed with ids, and the prototype with rows and lists. All must find as many new matches; of trees their number is also
reckoned from the graph.
"""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import millstream as ms
from benchmarks import yardstick
from benchmarks.report import Cell, Part, Progress, Table, at_most
from benchmarks.timing import Effort
from benchmarks.workloads.labelled import Labelled, Query, appearing, both_ways, graph, queries
from benchmarks.workloads.patterns import plain
from millstream.kernels.joins.join import FOREVER, IntervalJoin

ABOUT = "Queries of eight vertices over a labelled graph with hubs: an insertion phase as text, registering, large answers."
PHASE_MS, TIMES_PROTOTYPE, TAKE_US = 5.0, 2.0, 0.1
AT_ONCE = 512
"""Rows after which the join's output is taken: the prototype overwrites its own instead."""

Column = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Size:
    edges: int
    queries: int
    most: int
    """New matches of a query, at most."""
    large: tuple[int, int, int]
    """How many queries with large answers, and how many new matches these have at least and at most."""
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(2_000, 4, 20_000, (1, 500, 50_000), 1),
    "quick": Size(86_282, 16, 100_000, (2, 200_000, 1_000_000), 3),
    "full": Size(86_282, 96, 100_000, (6, 200_000, 1_000_000), 3),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What one query cost, in CPU seconds, and how many matches were new."""

    query: Query
    matches: int
    register: float
    before: int
    """Matches that were there when it was registered."""
    phase: float
    take: float
    join: float
    prototype: float | None


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("labelled", ABOUT)
    prototypes = yardstick.build(effort, progress)
    if not prototypes:
        part.missing.append(yardstick.ABSENT)
    given = graph(size.edges)
    count, least, most = size.large
    chosen = queries(given, size.queries, most=size.most)
    large = queries(given, count, least=least, most=most, trees=True)
    progress.expect(len(chosen) + len(large))
    part.data.append(
        f"a seeded graph of {len(given.label):,} vertices and {len(given.base):,} edges; {len(given.inserted):,} more are "
        f"inserted, and with them {len(given.new)} vertices"
    )
    texts = given.base_text().encode(), given.inserted_text().encode()
    unread = statistics.median(_phase(texts, None)[1] for _ in range(3)) * 1e3
    found, largest = list[Found](), list[Found]()
    for queries_of, into in ((chosen, found), (large, largest)):
        for query in queries_of:
            progress(f"{'a tree' if query.is_tree else 'with cycles'}, query {len(found) + len(largest) + 1}")
            into.append(measure(given, texts, query, size.rounds, prototypes))
    trees, others = ([one for one in found if one.query.is_tree == is_tree] for is_tree in (True, False))
    rows = [_row("trees", trees), _row("with cycles", others), _row("all", found)]
    kinds = (
        "queries",
        "new matches",
        "text, ms",
        "least",
        "most",
        "join, ms",
        "prototype, ms",
        "join / prototype",
        "register, ms",
    )
    lines = len(texts[1].splitlines())
    notes = [
        f"medians over queries, of {size.rounds} rounds; text: {lines:,} lines of N-Triples in one batch, answers not taken",
        f"{unread:.1f} ms of that are needed with no query registered",
        "join: the same as ids, to the interval join alone; prototype: yardstick/rows.pyx, writing rows",
        f"registered beside {len(texts[0].splitlines()):,} triples, most of which match all patterns but the types",
    ]
    part.tables.append(Table("The insertion phase", ("queries are", *kinds), rows, notes))
    columns = (
        "new matches",
        "text, ms",
        "us a row",
        "take_table, us a row",
        "join, us a row",
        "prototype, us a row",
        "register, ms",
    )
    part.tables.append(Table("Large answers", columns, [_large_row(one) for one in largest]))
    part.targets.append(
        at_most("insertion phase from text, median", PHASE_MS, _middle([one.phase for one in found]) * 1e3, " ms")
    )
    if prototypes:
        times = [one.join / one.prototype for one in found if one.prototype]
        part.targets.append(at_most("join beside the prototype, median", TIMES_PROTOTYPE, _middle(times), " times"))
    taken = [one.take / one.matches * 1e6 for one in largest]
    part.targets.append(at_most("large answers in take_table, a row", TAKE_US, _middle(taken), " us"))
    return part


def _middle(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0


def _row(name: str, found: Sequence[Found]) -> list[Cell]:
    phases, theirs = [one.phase * 1e3 for one in found], [one.prototype for one in found if one.prototype]
    times = [one.join / one.prototype for one in found if one.prototype]
    return [
        name,
        len(found),
        int(_middle([one.matches for one in found])),
        _middle(phases),
        min(phases, default=None),
        max(phases, default=None),
        _middle([one.join for one in found]) * 1e3,
        _middle(theirs) * 1e3 if theirs else None,
        _middle(times) if times else None,
        _middle([one.register for one in found]) * 1e3,
    ]


def _large_row(one: Found) -> list[Cell]:
    a_row = 1e6 / one.matches
    theirs = one.prototype * a_row if one.prototype else None
    costs = [one.phase * a_row, one.take * a_row, one.join * a_row, theirs]
    return [one.matches, one.phase * 1e3, *costs, one.register * 1e3]


def measure(given: Labelled, texts: tuple[bytes, bytes], query: Query, rounds: int, prototypes: bool) -> Found:
    """The medians of some rounds, in which all take turns."""
    costs: list[tuple[float, ...]] = []
    for _ in range(rounds):
        register, phase, take, before, matches = _phase(texts, query)
        join, joined = _by_join(given, query)
        assert joined == matches, f"{query}: {joined} matches in the join, {matches} in the engine"
        if query.is_tree:
            assert matches == appearing(given, query), f"{query}: {matches} matches, {appearing(given, query)} reckoned"
        theirs = 0.0
        if prototypes:
            theirs, written = _by_prototype(given, query)
            assert written == matches, f"{query}: {matches} matches, {written} in the prototype"
        costs.append((register, phase, take, join, theirs))
    register, phase, take, join, theirs = map(statistics.median, zip(*costs, strict=True))
    return Found(query, matches, register, before, phase, take, join, theirs or None)


def _phase(texts: tuple[bytes, bytes], query: Query | None) -> tuple[float, float, float, int, int]:
    """CPU seconds of registering, of the insertion phase and of taking what it brought; how many answers each brought."""
    engine = ms.Engine()
    engine.load(texts[0], format="nt")
    gc.collect()
    began = time.process_time()
    registered = None if query is None else engine.register(plain(query.patterns), output="istream")
    register = time.process_time() - began
    before = registered.take_table().num_rows if registered else 0
    gc.collect()
    began = time.process_time()
    engine.load(texts[1], format="nt")
    phase = time.process_time() - began
    began = time.process_time()
    found = registered.take_table().num_rows if registered else 0
    return register, phase, time.process_time() - began, before, found


def _by_join(given: Labelled, query: Query) -> tuple[float, int]:
    """CPU seconds of the phase as ids: a row a triple for all views of the one relation, labels first."""
    links, labels = query.links, query.labels
    patterns = [*links, *((x, -1) for x in range(len(labels)))]
    join = IntervalJoin(patterns, [-1] * len(patterns), len(labels), relations=[0] * len(links) + [1] * len(labels))

    def columns(vertices: Sequence[int], pairs: Column, now: int) -> tuple[Column, ...]:
        typed = _candidates(given, query, vertices)
        view = np.concatenate([typed[:, 1] + len(links), np.full(len(pairs), len(patterns))])
        a = np.concatenate([typed[:, 0], pairs[:, 0]])
        b = np.concatenate([np.zeros(len(typed), np.int64), pairs[:, 1]])
        ones = np.ones(len(view), np.int64)
        return view, a, b, ones * now, ones * FOREVER, ones, ones * now

    join.load(*(columns(sorted(given.known), both_ways(given.base), 0)[place] for place in (0, 1, 2, 4)))
    fed = columns(given.new, both_ways(given.inserted), 1)
    spent, found = 0.0, 0
    for first in range(0, len(fed[0]), AT_ONCE):
        piece = [column[first : first + AT_ONCE] for column in fed]
        began = time.process_time()
        join.feed(*piece)
        spent += time.process_time() - began
        found += len(join.take()[1])
    return spent, found


def _candidates(given: Labelled, query: Query, vertices: Sequence[int]) -> Column:
    """Which of some vertices have the label of which variable."""
    pairs = [(v, x) for v in vertices for x, label in enumerate(query.labels) if given.label[v] == label]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _by_prototype(given: Labelled, query: Query) -> tuple[float, int]:
    """The same by the prototype, which writes rows over and over into one buffer."""
    rows = importlib.import_module("rows")
    join = rows.Join2(query.links, len(query.labels), len(given.label))
    join.mode, join.ring = 0, 1

    def columns(pairs: Column, now: int) -> tuple[Column, ...]:
        ones = np.ones(len(pairs), np.int64)
        return pairs[:, 0].copy(), pairs[:, 1].copy(), ones * now, ones * FOREVER

    base, known = columns(both_ways(given.base), 0), _candidates(given, query, sorted(given.known))
    join.feed(*base)
    join.types(known[:, 0].copy(), known[:, 1].copy())
    new, fed = _candidates(given, query, given.new), columns(both_ways(given.inserted), 1)
    nodes, variables = new[:, 0].copy(), new[:, 1].copy()
    join.mode = 1
    began = time.process_time()
    found = join.types(nodes, variables)
    found += join.feed(*fed)
    return time.process_time() - began, int(found)
