"""Trips between places, two triples an element, and how many there are by route: most are between a few busy places."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.peers.contents import Element

_NAMESPACE = "http://example.org/trip/"
FROM, TO = f"<{_NAMESPACE}from>", f"<{_NAMESPACE}to>"
PLACES = 200
_BLOCK = 10_000


def count_by_route(stream: str, window: str) -> str:
    """How many trips of a window go from where to where."""
    body = f"?trip {FROM} ?from . ?trip {TO} ?to ."
    return f"SELECT ?from ?to (COUNT(*) AS ?trips) WHERE {{ STREAM <{stream}> [{window}] {{ {body} }} }} GROUP BY ?from ?to"


def routes(trips: int, seed: int = 5) -> Iterator[Element]:
    """So many, one a millisecond."""
    rng = np.random.default_rng(seed)
    weight = 1 / np.arange(1, PLACES + 1)
    for first in range(0, trips, _BLOCK):
        ends = rng.choice(PLACES, (_BLOCK, 2), p=weight / weight.sum()).tolist()
        for number, (a, b) in enumerate(ends[: trips - first], first):
            trip = f"<{_NAMESPACE}{number}>"
            yield Element(number, [(trip, FROM, f"<{_NAMESPACE}at/{a}>"), (trip, TO, f"<{_NAMESPACE}at/{b}>")])
