"""Random pairs of which every single one is kept: the opposite of a stream that a query mostly ignores."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.workloads.patterns import TYPE, Patterns, Triple

LINKS: Patterns = [
    ("?a", "<http://example.org/knows>", "?b"),
    ("?b", "<http://example.org/likes>", "?c"),
    ("?a", TYPE, "<http://example.org/Person>"),
]


def links(nodes: int, seed: int = 7) -> Iterator[Triple]:
    """Endless random triples that LINKS asks for, each of its patterns in turn by chance."""
    draw = random.Random(seed)
    knows, likes, person = LINKS[0][1], LINKS[1][1], LINKS[2][2]
    while True:
        kind, subject = draw.randrange(3), f"<http://example.org/node/{draw.randrange(nodes)}>"
        if kind == 2:
            yield subject, TYPE, person
        else:
            yield subject, (knows, likes)[kind], f"<http://example.org/node/{draw.randrange(nodes)}>"
