"""The clock starts at t0 and never goes back, whatever comes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from millstream import Engine
from tests.engine.notation import S, nt, over

FIRST: dict[str, Callable[[Engine], Any]] = {
    "an element": lambda engine: engine.push(S, nt("a p b"), at_ms=-50),
    "a change": lambda engine: engine.insert(nt("a p b"), at_ms=-50),
    "a change now": lambda engine: engine.insert(nt("a p b")),
    "advance_to": lambda engine: engine.advance_to(-50),
    "finish": lambda engine: engine.finish(),
    "register": lambda engine: engine.register("SELECT * { ?x ?p ?y }"),
    "restore": lambda engine: Engine.restore(engine.snapshot()),
}


@pytest.mark.parametrize("lateness_ms", [0, 10])
@pytest.mark.parametrize("t0_ms", [0, 1000, -20])
@pytest.mark.parametrize("first", FIRST)
def test_the_clock_starts_at_t0_and_does_not_go_back_to_what_lies_before(first: str, t0_ms: int, lateness_ms: int) -> None:
    engine = Engine(t0_ms=t0_ms, lateness_ms=lateness_ms)
    engine.register(over("RANGE 10"))
    assert engine.clock_ms == t0_ms
    FIRST[first](engine)
    assert engine.clock_ms == t0_ms
    engine.push(S, nt("a p b"), at_ms=-40)
    assert engine.clock_ms == t0_ms
    engine.push(S, nt("a p b"), at_ms=2000 + lateness_ms)
    assert engine.clock_ms == 2000


def test_what_lies_before_t0_is_processed_at_its_own_time() -> None:
    engine = Engine(t0_ms=1000)
    query = engine.register(over("RANGE 10"), output="changes")
    engine.push(S, nt("a p b"), at_ms=5)
    engine.push(S, nt("c p d"), at_ms=20)
    assert [answer.at_ms for answer in query.take()] == [5, 15, 20]


@pytest.mark.parametrize("seed", range(10))
def test_no_call_turns_the_clock_back(seed: int) -> None:
    chance = Random(seed)
    engine = Engine(t0_ms=chance.randrange(-20, 20), lateness_ms=chance.choice([0, 5]))
    engine.register(over("RANGE 7 STEP 2"))
    shown = engine.clock_ms
    for _ in range(60):
        at_ms = chance.randrange(-40, 60)
        match chance.randrange(7):
            case 0:
                engine.insert(nt("a p b"), at_ms=at_ms)
            case 1:
                engine.delete(nt("a p b"))
            case 2:
                engine.advance_to(at_ms)
            case 3:
                engine = Engine.restore(engine.snapshot())
            case 4 if chance.random() < 0.2:
                engine.finish()
            case _:
                engine.push(S, nt("a p b"), at_ms=at_ms)
        assert engine.clock_ms >= shown
        shown = engine.clock_ms
