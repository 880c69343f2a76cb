"""The smallest engine that speaks the protocol of docs/benchmarks/adapters.md: asks a store again after every change.

Run as a program by tests/test_adapters.py. With `late` it answers a millisecond late, with `mute` it never says how long it
took, with `refuse` it takes no query, with `broken` it ends with an error.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter

import pyoxigraph as ox

QUERY = re.compile(
    r"SELECT (.*?) WHERE (?:\{ STREAM <[^>]*> \[RANGE (\d+)ms(?: SLIDE (\d+)ms)?\] )?(\{.*?\})(?: \})?", re.DOTALL
)


class Engine:
    """Triples that are visible, until when, and what was found in them."""

    def __init__(self, query: str) -> None:
        match = QUERY.fullmatch(query)
        assert match
        # In another order than they were asked for: the names in `ready` say which is which.
        self.variables = match[1].split()[::-1]
        self._text = f"SELECT {' '.join(self.variables)} WHERE {match[4]}"
        self._range, self._slide = int(match[2] or 0), int(match[3] or 0)
        self._store = ox.Store()
        self._until: dict[ox.Quad, float] = {}
        self._found: Counter[str] = Counter()

    def element(self, at_ms: int, quads: list[ox.Quad]) -> tuple[Counter[str], Counter[str]]:
        # What left before is a change of its own.
        gone = self.edit([], [quad for quad, until in self._until.items() if until <= at_ms])[1]
        came = self.edit(quads, [])
        begin = -(-at_ms // self._slide) * self._slide if self._slide else at_ms
        self._until |= dict.fromkeys(quads, begin + self._range)
        return came[0], came[1] + gone

    def edit(self, inserted: list[ox.Quad], deleted: list[ox.Quad]) -> tuple[Counter[str], Counter[str]]:
        for quad in deleted:
            self._store.remove(quad)
            self._until.pop(quad, None)
        self._store.extend(inserted)
        now: Counter[str] = Counter()
        for solution in self._store.query(self._text):
            now["\t".join(map(str, solution))] += 1
        before, self._found = self._found, now
        return now - before, before - now


def quads_of(count: int) -> list[ox.Quad]:
    text = "".join(sys.stdin.readline() for _ in range(count))
    return [ox.Quad(*quad.triple) for quad in ox.parse(text, format=ox.RdfFormat.N_QUADS)]


def main(manner: str) -> None:
    if manner == "broken":
        sys.exit("no such jar")
    if manner == "refuse":
        print("refuse none at all")
        return
    size = int(sys.stdin.readline().split()[1])
    engine = Engine(sys.stdin.read(size))
    sys.stdin.readline()
    print("ready", *engine.variables, flush=True)
    while (words := sys.stdin.readline().split())[0] != "end":
        at_ms, quads = int(words[1]), quads_of(int(words[2]))
        began = time.process_time_ns()
        match words[0]:
            case "element":
                appeared, gone = engine.element(at_ms, quads)
            case "insert":
                appeared, gone = engine.edit(quads, [])
            case _:
                appeared, gone = engine.edit([], quads)
        for terms, count in appeared.items():
            print("answer", at_ms + (manner == "late"), f"+{count}", terms)
        for terms, count in gone.items():
            print("answer", at_ms, f"-{count}", terms)
        if manner != "mute":
            print("took", time.process_time_ns() - began)


if __name__ == "__main__":
    main(sys.argv[1])
