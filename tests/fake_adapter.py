"""The smallest engine that speaks the protocol of docs/benchmarks/adapters.md: asks a store again after every element.

Run as a program by tests/test_adapters.py. With `late` it answers a millisecond late, with `mute` it never says how long it
took, with `broken` it ends with an error.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter

import pyoxigraph as ox

QUERY = re.compile(r"SELECT (.*?) WHERE \{ STREAM <[^>]*> \[RANGE (\d+)ms\] (.*) \}", re.DOTALL)


def main(manner: str) -> None:
    if manner == "broken":
        sys.exit("no such jar")
    size = int(sys.stdin.readline().split()[1])
    text = sys.stdin.read(size)
    sys.stdin.readline()
    match = QUERY.fullmatch(text)
    assert match
    variables, range_ms, body = match[1].split(), int(match[2]), match[3]
    # In another order than they were asked for: the names in `ready` say which is which.
    variables.reverse()
    print("ready", *variables, flush=True)
    seen: dict[str, int] = {}
    before: Counter[str] = Counter()
    while (words := sys.stdin.readline().split())[0] == "element":
        at_ms = int(words[1])
        lines = [sys.stdin.readline() for _ in range(int(words[2]))]
        began = time.process_time_ns()
        seen = {line: until for line, until in seen.items() if until > at_ms} | dict.fromkeys(lines, at_ms + range_ms)
        store = ox.Store()
        for quad in ox.parse("".join(seen), format=ox.RdfFormat.N_QUADS):
            store.add(ox.Quad(quad.subject, quad.predicate, quad.object))
        found = store.query(f"SELECT {' '.join(variables)} WHERE {body}")
        now = Counter("\t".join(map(str, solution)) for solution in found)
        for terms, count in (now - before).items():
            print("answer", at_ms + (manner == "late"), f"+{count}", terms)
        for terms, count in (before - now).items():
            print("answer", at_ms, f"-{count}", terms)
        before = now
        if manner != "mute":
            print("took", time.process_time_ns() - began)


if __name__ == "__main__":
    main(sys.argv[1])
