"""The machines that the tests of this folder run on, all behind the same few calls.

A test asks for the fixture `machine`, makes one, registers queries, moves time by hand and compares with `emits`:

    m = machine()
    q = m.register(over("RANGE 10"), output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.finish()
    emits(q, "0 +a | 10 -a")

`emits` compares everything emitted since registration, so it can be asked again as time goes on. A new machine is one
more subclass of `Machine`, listed in `MACHINES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import pytest
from pyoxigraph import Triple

from millstream import ContinuousQuery, Engine, UnsupportedQueryError
from tests.reference import Reference, ReferenceQuery
from tests.semantics.notation import (
    PROLOGUE,
    Emission,
    cut_changes,
    iri,
    parse_changes,
    row_text,
    triples,
)


class Calls(Protocol):
    """What the machines have in common: the calls of `millstream.Engine`."""

    def register(self, text: str, output: str | None = None) -> Any: ...
    def push(self, stream: str, triples: Any, at_ms: int) -> None: ...
    def insert(self, triples: Any, at_ms: int, graph: str | None) -> None: ...
    def delete(self, triples: Any, at_ms: int, graph: str | None) -> None: ...
    def advance_to(self, at_ms: int) -> None: ...
    def finish(self) -> None: ...
    @property
    def clock_ms(self) -> int: ...


class Machine:
    """One engine under test, spoken to in the short notation; subclasses say where engines differ."""

    engine: Calls

    def register(self, text: str, output: str | None = None) -> Handle:
        return Handle(self, self.engine.register(PROLOGUE + text, output=output))

    def push(self, stream: str, text: str, at_ms: int) -> None:
        self.engine.push(str(iri(stream)), triples(text), at_ms=at_ms)

    def insert(self, text: str, at_ms: int, graph: str | None = None) -> None:
        self.engine.insert(triples(text), at_ms=at_ms, graph=iri(graph))

    def delete(self, text: str, at_ms: int, graph: str | None = None) -> None:
        self.engine.delete(triples(text), at_ms=at_ms, graph=iri(graph))

    def load(self, text: str, graph: str | None = None) -> None:
        """What a dataset holds before anything is registered or happens."""
        raise NotImplementedError

    def advance_to(self, at_ms: int) -> None:
        self.engine.advance_to(at_ms)

    def finish(self) -> None:
        self.engine.finish()

    @property
    def clock_ms(self) -> int:
        """The time that processing has reached."""
        return self.engine.clock_ms

    @property
    def late(self) -> int:
        """How many elements and dataset changes came too late and were set aside."""
        raise NotImplementedError

    def needs_own_sparql(self, reason: str) -> None:
        """Skips a test where SPARQL is evaluated by an outside engine that departs from the recommendation."""

    def variables(self, query: Any) -> tuple[str, ...]:
        """The names of a query's variables, in the order of its rows."""
        raise NotImplementedError

    def emitted(self, query: Any) -> list[Emission]:
        """All that a query has emitted, in order, each row as often as its weight says."""
        raise NotImplementedError

    def answer_set(self, query: Any) -> list[tuple[Any, ...]]:
        """The rows of a query's answer set now."""
        raise NotImplementedError


@dataclass(frozen=True)
class Handle:
    """A registered query on the machine it runs on."""

    machine: Machine
    query: Any

    @property
    def variables(self) -> tuple[str, ...]:
        return self.machine.variables(self.query)

    def emitted(self) -> list[Emission]:
        return self.machine.emitted(self.query)

    def answer_set(self) -> Counter[str]:
        return Counter(row_text(row) for row in self.machine.answer_set(self.query))


def emits(query: Handle, expected: str) -> None:
    """Asserts all that a query has emitted since it was registered."""
    changes = parse_changes(expected)
    wanted = " | ".join(map(str, changes))
    found = " | ".join(map(str, cut_changes(query.emitted(), changes)))
    assert found == wanted, f"\nemitted:  {found}\nexpected: {wanted}"


# Machines ------------------------------------------------------------------------------------------------------------


class ReferenceMachine(Machine):
    """The reference evaluator, which recomputes every answer set."""

    engine: Reference

    def __init__(self, **options: int) -> None:
        self.engine = Reference(**options)

    def load(self, text: str, graph: str | None = None) -> None:
        self.engine.load(triples(text), graph=iri(graph))

    @property
    def late(self) -> int:
        return len(self.engine.late)

    def needs_own_sparql(self, reason: str) -> None:
        pytest.skip(f"pyoxigraph departs from the recommendation: {reason}")

    def variables(self, query: ReferenceQuery) -> tuple[str, ...]:
        return tuple(variable.value for variable in query.query.variables)

    def emitted(self, query: ReferenceQuery) -> list[Emission]:
        return [
            (change.at_ms, 1 if weight > 0 else -1, row)
            for change in query.changes
            for row, weight in change.rows.items()
            for _ in range(abs(weight))
        ]

    def answer_set(self, query: ReferenceQuery) -> list[tuple[Any, ...]]:
        return list(query.answers.elements())


class EngineMachine(Machine):
    """The engine. A query that it refuses so far is left to the reference evaluator."""

    engine: Engine

    def __init__(self, **options: int) -> None:
        self.engine = Engine(**options)
        self._emitted: dict[int, list[Emission]] = {}

    def register(self, text: str, output: str | None = None) -> Handle:
        try:
            return super().register(text, output)
        except UnsupportedQueryError as error:
            pytest.skip(f"the engine refuses it so far: {error.what}")

    def load(self, text: str, graph: str | None = None) -> None:
        self.engine.load(triples(text).encode(), graph=iri(graph), format="nt")

    @property
    def late(self) -> int:
        return self.engine.stats["late"]

    def variables(self, query: ContinuousQuery) -> tuple[str, ...]:
        return query.variables

    def emitted(self, query: ContinuousQuery) -> list[Emission]:
        known = self._emitted.setdefault(id(query), [])
        known.extend((x.at_ms, x.weight, _row(x, query)) for x in query.take())
        return known

    def answer_set(self, query: ContinuousQuery) -> list[tuple[Any, ...]]:
        found = query.solutions()
        if isinstance(found, bool):
            return [(found,)]
        return [(x,) if isinstance(x, Triple) else tuple(x.get(name) for name in query.variables) for x in found]


def _row(answer: Any, query: ContinuousQuery) -> tuple[Any, ...]:
    match query.variables:
        case ("subject", "predicate", "object"):
            return (answer.triple,)
        case ("boolean",):
            return (answer.boolean,)
    return tuple(answer.bindings.get(name) for name in query.variables)


MakeMachine: TypeAlias = Callable[..., Machine]
MACHINES: dict[str, MakeMachine] = {"reference": ReferenceMachine, "engine": EngineMachine}


@pytest.fixture(params=tuple(MACHINES.values()), ids=tuple(MACHINES))
def machine(request: pytest.FixtureRequest) -> MakeMachine:
    """Makes a machine; takes `lateness_ms` and `t0_ms`."""
    make: MakeMachine = request.param
    return make
