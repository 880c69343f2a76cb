"""How long the way of one triple is: calls, modules and changes of module, followed by Python's profiler.

    python -m benchmarks.ways

Counted is one call on an engine that has seen others like it, so that nothing is set up on the way. Calls into kernels and
libraries are those of C; a change of module is a call or return between two modules of millstream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from millstream import Engine

STREAM = "http://e/s"
JOIN = f"SELECT ?a ?c WHERE {{ STREAM <{STREAM}> [RANGE 1h] {{ ?a <http://e/p> ?b . ?b <http://e/q> ?c }} }}"
COUNT = f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ STREAM <{STREAM}> [RANGE 1h] {{ ?a ?p ?b }} }} GROUP BY ?p"
PROV = "<http://www.w3.org/ns/prov#generatedAtTime>"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"


@dataclass(slots=True)
class Way:
    """What was called while something went its way."""

    calls: int = 0
    c_calls: int = 0
    changes: int = 0
    modules: set[str] = field(default_factory=set)
    _last: str = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = str(frame.f_globals.get("__name__", ""))
        if event == "c_call":
            self.c_calls += name.startswith("millstream")
        elif event == "call" and name.startswith("millstream"):
            self.calls += 1
        if name.startswith("millstream"):
            self.modules.add(name)
            self.changes += bool(self._last) and name != self._last
            self._last = name


def followed(call: Callable[[], object]) -> Way:
    """The way of what one call does."""
    way = Way()
    sys.setprofile(way)
    try:
        call()
    finally:
        sys.setprofile(None)
    return way


def triple(number: int) -> str:
    return f"<http://e/a{number}> <http://e/p> <http://e/b> ."


def pushed(query: str, answer: bool) -> Way:
    """A push, with an answer or without."""
    engine = Engine()
    engine.register(query)
    if answer:
        engine.push(STREAM, "<http://e/b> <http://e/q> <http://e/c> .", at_ms=0)
    for number in range(3):
        engine.push(STREAM, triple(number), at_ms=number + 1)
    return followed(lambda: engine.push(STREAM, triple(9), at_ms=9))


def read(text: Callable[[int], str], **options: Any) -> Way:
    """One element read from bytes."""
    engine = Engine()
    engine.register(JOIN)
    for number in range(2):
        engine.read(STREAM, text(number).encode(), **options)
    return followed(lambda: engine.read(STREAM, text(9).encode(), **options))


def named_graph(number: int) -> str:
    graph = f"<http://e/g{number}>"
    return f'{triple(number)[:-1]}{graph} .\n{graph} {PROV} "{number}"^^{INTEGER} .\n'


def trig(number: int) -> str:
    graph = f"<http://e/g{number}>"
    return f"{graph} {{ {triple(number)[:-2]} }}\n{graph} {PROV} {number} .\n"


def ways() -> dict[str, Way]:
    """Every way that is told in ARCHITECTURE.md, by its name there."""
    return {
        "`push`, a join, one answer": pushed(JOIN, answer=True),
        "`push`, a count by group": pushed(COUNT, answer=False),
        "`read`, N-Triples at a rate": read(triple, format="ntriples", time="rate:1"),
        "`read`, named graphs of N-Quads": read(named_graph, format="nquads"),
        "`read`, TriG": read(trig, format="trig"),
    }


def main() -> None:
    """Prints the table."""
    print("| a triple's way | Python calls | calls of C | modules | changes of module |\n|---|---:|---:|---:|---:|")
    for name, way in ways().items():
        print(f"| {name} | {way.calls} | {way.c_calls} | {len(way.modules)} | {way.changes} |")


if __name__ == "__main__":
    main()
