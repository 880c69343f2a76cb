"""What the engine answers, as the intervals that drawings of time are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import millstream as ms

E = "http://example.org/"
SECOND = 1000

Elements = Sequence[tuple[float, str]]
"""Times in seconds, and the names of the triples that come then, a letter each."""


@dataclass(frozen=True)
class Bar:
    """A name, and from when until when it is an answer, in seconds; never to end is None."""

    name: str
    start: float
    end: float | None


@dataclass
class Answers:
    """What a query emitted: times in seconds, weights and names."""

    rows: list[tuple[float, int, str]] = field(default_factory=list)

    def bars(self) -> list[Bar]:
        """Each stretch in which a name was an answer, in order of its beginning."""
        found: list[Bar] = []
        begun: dict[str, float] = {}
        for at, weight, name in self.rows:
            if weight > 0:
                begun[name] = at
            else:
                found.append(Bar(name, begun.pop(name), at))
        found += [Bar(name, at, None) for name, at in begun.items()]
        return sorted(found, key=lambda bar: (bar.start, bar.name))

    def at_times(self) -> dict[float, list[tuple[int, str]]]:
        """What was emitted at each time."""
        found: dict[float, list[tuple[int, str]]] = {}
        for at, weight, name in self.rows:
            found.setdefault(at, []).append((weight, name))
        return found


def triple(name: str, predicate: str = "p", value: str = "x") -> str:
    return f"<{E}{name}> <{E}{predicate}> <{E}{value}> ."


def taken(query: ms.ContinuousQuery) -> Answers:
    rows = [(a.at_ms / SECOND, a.weight, next(iter(a.bindings.values())).value.removeprefix(E)) for a in query.take()]
    return Answers(rows)


def over(window: str, elements: Elements, output: str = "changes", until: int = 22) -> Answers:
    """What a query for all triples in a window emits until a time."""
    engine = ms.Engine()
    query = engine.register(f"SELECT ?x WHERE {{ STREAM <{E}s> [{window}] {{ ?x ?p ?y }} }}", output=output)
    for at, names in elements:
        engine.push(E + "s", "\n".join(triple(name) for name in names), at_ms=int(at * SECOND))
    engine.advance_to(until * SECOND)
    return taken(query)
