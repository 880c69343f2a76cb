"""Labelled graphs and queries in the style of the papers on continuous subgraph matching.

An undirected graph with a power law of degrees, a label a vertex, labels of several frequencies. The last edges, a twentieth
of all, are an insertion phase; a vertex that it brings comes with its label. In RDF an edge is a triple each way, since a
query's edge has no direction, and a label is a type. Queries are pieces of the graph found by random walks, so that each has
matches: trees, and the same with the edges that close cycles.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from benchmarks.workloads.patterns import TYPE, Patterns

EDGE = "<http://example.org/graph/edge>"
VERTICES_AN_EDGE = 4_674 / 86_282
"""As in the protein interactions that these papers match in."""
LABELS = 44
INSERTED = 1 / 20
NEW = 1 / 50
"""Of the half of all vertices that have the fewest edges, those of which nothing is known before the insertion phase."""
_POWER, _LABEL_POWER = 0.6, 0.5
"""Vertex k has edges, label k has vertices, in proportion to 1 / (k + 1) ** power."""
_STEPS = 1_000

Edge = tuple[int, int]
Pairs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Query:
    """A connected pattern: the label of each variable, and which are adjacent."""

    labels: tuple[int, ...]
    links: tuple[Edge, ...]

    @property
    def is_tree(self) -> bool:
        return len(self.links) == len(self.labels) - 1

    @property
    def patterns(self) -> Patterns:
        types = [(f"?x{i}", TYPE, label_of(label)) for i, label in enumerate(self.labels)]
        return [*((f"?x{a}", EDGE, f"?x{b}") for a, b in self.links), *types]


@dataclass(frozen=True)
class Labelled:
    """A graph, in the order in which its edges come: those there at first, then those inserted."""

    label: tuple[int, ...]
    edges: tuple[Edge, ...]
    at_first: int

    @cached_property
    def known(self) -> frozenset[int]:
        """The vertices that are there at first."""
        return frozenset(v for edge in self.edges[: self.at_first] for v in edge)

    @property
    def base(self) -> tuple[Edge, ...]:
        return self.edges[: self.at_first]

    @property
    def inserted(self) -> tuple[Edge, ...]:
        return self.edges[self.at_first :]

    @property
    def new(self) -> list[int]:
        """The vertices that the insertion phase brings, as they appear."""
        return list(dict.fromkeys(v for edge in self.inserted for v in edge if v not in self.known))

    def base_text(self) -> str:
        return "".join(type_line(v, self.label[v]) for v in sorted(self.known)) + "".join(map(edge_lines, self.base))

    def inserted_text(self) -> str:
        """Edges in turn, each after the labels of vertices that it brings."""
        seen, lines = set(self.known), list[str]()
        for edge in self.inserted:
            lines += (type_line(v, self.label[v]) for v in edge if v not in seen)
            seen.update(edge)
            lines.append(edge_lines(edge))
        return "".join(lines)


def label_of(label: int) -> str:
    return f"<http://example.org/graph/label/{label}>"


def vertex(number: int) -> str:
    return f"<http://example.org/graph/vertex/{number}>"


def type_line(number: int, label: int) -> str:
    return f"{vertex(number)} {TYPE} {label_of(label)} .\n"


def edge_lines(edge: Edge) -> str:
    a, b = map(vertex, edge)
    return f"{a} {EDGE} {b} .\n{b} {EDGE} {a} .\n"


def both_ways(edges: Iterable[Edge]) -> Pairs:
    """A row a triple."""
    return np.array([pair for a, b in edges for pair in ((a, b), (b, a))], np.int64).reshape(-1, 2)


def graph(edges: int, seed: int = 17) -> Labelled:
    """A graph of so many edges."""
    rng = np.random.default_rng(seed)
    # In a small graph, at most a quarter of all pairs are edges.
    vertices = max(round(edges * VERTICES_AN_EDGE), round((8 * edges) ** 0.5) + 2)
    weight = 1 / np.arange(1, vertices + 1) ** _POWER
    found: dict[Edge, None] = {}
    while len(found) < edges:
        ends = rng.choice(vertices, (edges, 2), p=weight / weight.sum()).tolist()
        found.update(((min(a, b), max(a, b)), None) for a, b in ends if a != b)
    late = set(rng.choice(np.arange(vertices // 2, vertices), max(1, round(vertices / 2 * NEW)), replace=False).tolist())
    chosen = sorted(list(found)[:edges], key=lambda edge: not late.isdisjoint(edge))
    at_first = edges - round(edges * INSERTED)
    inserted = [chosen[at_first + place] for place in rng.permutation(edges - at_first).tolist()]
    frequency = 1 / np.arange(1, LABELS + 1) ** _LABEL_POWER
    label = rng.choice(LABELS, vertices, p=frequency / frequency.sum())
    return Labelled(tuple(label.tolist()), (*chosen[:at_first], *inserted), at_first)


def queries(
    given: Labelled,
    count: int,
    vertices: int = 8,
    *,
    least: float = 1,
    most: float = np.inf,
    trees: bool = False,
    seed: int = 17,
) -> list[Query]:
    """So many, trees and others in turns or trees only, to which the insertion phase brings from `least` to `most` matches.

    Of those with cycles it is the matches of their tree that are counted.
    """
    rng = random.Random(seed)
    near: dict[int, list[int]] = {}
    for a, b in given.edges:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    adjacent = {v: set(others) for v, others in near.items()}
    found: list[Query] = []
    for _ in range(count * _STEPS):
        if len(found) == count:
            return found
        walked = _walk(rng, near, rng.choice(given.edges)[0], vertices)
        if walked is None:
            continue
        places, links = walked
        closing = [
            (i, j)
            for j, b in enumerate(places)
            for i, a in enumerate(places[:j])
            if b in adjacent[a] and (i, j) not in links
        ]
        tree = Query(tuple(given.label[v] for v in places), tuple(links))
        is_tree = trees or len(found) % 2 == 0
        if (is_tree or closing) and least <= appearing(given, tree) <= most:
            found.append(tree if is_tree else Query(tree.labels, (*links, *closing)))
    raise ValueError(f"only {len(found)} of {count} queries were found")


def _walk(rng: random.Random, near: dict[int, list[int]], start: int, vertices: int) -> tuple[list[int], list[Edge]] | None:
    """A random walk until it has seen so many vertices, and the edges by which it came to each; None if it does not."""
    places, links, at = {start: 0}, list[Edge](), start
    for _ in range(_STEPS):
        if len(places) == vertices:
            return list(places), links
        following = rng.choice(near[at])
        if following not in places:
            links.append((places[at], len(places)))
            places[following] = len(places)
        at = following
    return None


def appearing(given: Labelled, tree: Query) -> float:
    """How many matches of a tree the insertion phase brings: those there are then without those there were."""
    return matches(given.label, both_ways(given.edges), tree) - matches(given.label, both_ways(given.base), tree)


def matches(label: Sequence[int], pairs: Pairs, tree: Query) -> float:
    """How many matches a tree has among pairs, as SPARQL counts them, exact below 2^53.

    Each variable multiplies the sums of the later ones beside it.
    """
    labels = np.array(label)
    below = [(labels == wanted).astype(np.float64) for wanted in tree.labels]
    for a, b in reversed(tree.links):
        below[a] *= np.bincount(pairs[:, 0], below[b][pairs[:, 1]], len(labels))
    return float(below[0].sum())
