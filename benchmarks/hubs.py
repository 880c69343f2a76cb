"""Triangles in a stream with hubs: the order chosen at each probe, beside a fixed order and a plan of binary joins.

Ends of edges are drawn by power laws, in several shapes, one of them without hubs as a control: what an order chosen at each
probe is worth depends on the shape, so none of them alone says much.

The binary plan is the textbook one over sliding windows: a symmetric hash join of the first two patterns whose results are
kept, and another with the third. It is written in Python over dicts, so beside its time stands how many paths it made,
which no faster language would change.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyoxigraph as ox

import millstream as ms
from benchmarks.report import Cell, Part, Progress, Table
from benchmarks.timing import Effort, take_turns
from benchmarks.workloads import STREAM, Patterns, Triple, cqels, plain

ABOUT = "Triangles in a sliding window of edges, some with a power law of degrees, one edge an event. No target is set."
KINDS = tuple(f"<http://example.org/edge/{kind}>" for kind in "rst")
TRIANGLE: Patterns = [("?a", KINDS[0], "?b"), ("?b", KINDS[1], "?c"), ("?c", KINDS[2], "?a")]


@dataclass(frozen=True, slots=True)
class Size:
    edges: int
    window: int
    nodes: int
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(3_000, 1_000, 100, 1),
    "quick": Size(20_000, 5_000, 500, 3),
    "full": Size(60_000, 20_000, 2_000, 3),
}
SHAPES = {"no hubs": (0.0, 0.0, 0.0), "hubs everywhere": (0.8, 0.8, 0.8), "hubs in one place": (0.0, 1.0, 0.0)}
"""For the variables a, b and c: node k stands there in proportion to 1 / (k + 1) ** power."""


def edges(size: Size, powers: tuple[float, float, float], seed: int = 5) -> list[tuple[int, int, int]]:
    """Kind and both ends: a to b, b to c or c to a."""
    rng = np.random.default_rng(seed)
    drawn = []
    for power in powers:
        weight = 1.0 / np.arange(1, size.nodes + 1) ** power
        drawn.append(rng.choice(size.nodes, size.edges, p=weight / weight.sum()))
    kinds = rng.integers(0, 3, size.edges)
    return [(k, int(drawn[k][i]), int(drawn[(k + 1) % 3][i])) for i, k in enumerate(kinds.tolist())]


def triple(edge: tuple[int, int, int]) -> Triple:
    kind, a, b = edge
    return f"<http://example.org/{a}>", KINDS[kind], f"<http://example.org/{b}>"


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("hubs", ABOUT)
    rows: list[list[Cell]] = []
    for shape, powers in SHAPES.items():
        stream = edges(size, powers)
        text = "".join(f"{s} {p} {o} .\n" for s, p, o in map(triple, stream)).encode()
        progress(f"{shape}, checking answers")
        check(stream, text, size.window)
        progress(f"{shape}, timing")
        runs: dict[str, Callable[[], tuple[int, int]]] = {
            "order at each probe": lambda text=text: (by_engine(text, size.window, adaptive=True), 0),  # type: ignore[misc]
            "fixed order": lambda text=text: (by_engine(text, size.window, adaptive=False), 0),  # type: ignore[misc]
            "binary hash joins": lambda stream=stream: by_hash_joins(stream, size.window),  # type: ignore[misc]
        }
        found = take_turns(runs, size.rounds)
        answers = {timed.result[0] for timed in found.values()}
        assert len(answers) == 1, f"answers differ: {answers}"
        hub = int(np.bincount([a for kind, a, _ in stream[: size.window] if kind == 1]).max())
        ours = found["order at each probe"].seconds
        for name, timed in found.items():
            made = timed.result[1] or None
            rows.append([shape, hub, name, len(stream) / timed.seconds, timed.seconds / ours, timed.result[0], made])
    title = f"{size.edges:,} edges, window {size.window:,}, {size.nodes:,} nodes"
    columns = ("shape", "largest list", "plan", "edges a CPU-s", "times ours", "triangles", "paths made")
    notes = [
        "largest list: edges from the largest b to c among the first window's",
        "binary hash joins: Python dicts, ids given, nothing parsed; much of the factor is the language, the paths are not",
    ]
    part.tables.append(Table(title, columns, rows, notes))
    return part


def by_engine(text: bytes, window: int, *, adaptive: bool) -> int:
    engine = ms.Engine(adaptive=adaptive)
    query = engine.register(cqels(TRIANGLE, window), output="istream")
    engine.read(STREAM, text, format="nt", time="rate:1000")
    return int(query.take_table().num_rows)


def check(stream: list[tuple[int, int, int]], text: bytes, window: int) -> None:
    """At some instants, as many triangles as a store finds among the edges of the window."""
    engine = ms.Engine()
    query = engine.register(cqels(TRIANGLE, window), output="changes")
    engine.read(STREAM, text, format="nt", time="rate:1000")
    table = query.take_table()
    at, weight = table["at_ms"].to_numpy(), table["weight"].to_numpy()
    for instant in (window // 2, window, len(stream) - 1):
        store = ox.Store()
        for edge in stream[max(0, instant - window + 1) : instant + 1]:
            store.add(ox.Quad(*(ox.NamedNode(term[1:-1]) for term in triple(edge))))
        expected = len(list(store.query(plain(TRIANGLE))))  # type: ignore[arg-type]
        held = int(weight[at <= instant].sum())
        assert held == expected, f"at {instant}: {held} in the engine, {expected} in the store"


def by_hash_joins(stream: list[tuple[int, int, int]], window: int) -> tuple[int, int]:
    """Triangles that appear and paths of two edges that were made."""
    r_by_b: defaultdict[int, set[int]] = defaultdict(set)
    s_by_b: defaultdict[int, set[int]] = defaultdict(set)
    paths: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    """(c, a) to the b of every path a, b, c."""
    t: set[tuple[int, int]] = set()
    latest: dict[tuple[int, int, int], int] = {}
    arrived: deque[tuple[int, int, int]] = deque()
    found = made = 0
    for now, edge in enumerate(stream):
        if now >= window:
            gone = arrived.popleft()
            if latest[gone] == now - window:
                del latest[gone]
                kind, x, y = gone
                if kind == 0:
                    r_by_b[y].discard(x)
                    for c in s_by_b[y]:
                        paths[c, x].discard(y)
                elif kind == 1:
                    s_by_b[x].discard(y)
                    for a in r_by_b[x]:
                        paths[y, a].discard(x)
                else:
                    t.discard((x, y))
        arrived.append(edge)
        known, latest[edge] = edge in latest, now
        if known:
            continue
        kind, x, y = edge
        if kind == 0:
            r_by_b[y].add(x)
            for c in s_by_b[y]:
                paths[c, x].add(y)
                made += 1
                found += (c, x) in t
        elif kind == 1:
            s_by_b[x].add(y)
            for a in r_by_b[x]:
                paths[y, a].add(x)
                made += 1
                found += (y, a) in t
        else:
            t.add((x, y))
            found += len(paths.get((x, y), ()))
    return found, made
