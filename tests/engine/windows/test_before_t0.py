"""What happens without a time before anything has come, and input that lies before t0."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from millstream import Engine
from tests.engine.machines import run_session
from tests.engine.notation import NAMESPACE, S, answer_set, emitted, nt, over
from tests.engine.scenarios import Register, Session, Step

PREFIX = f"PREFIX : <{NAMESPACE}> "
QUERIES = (
    "SELECT CHANGES * { STREAM :s [RANGE 3] { ?a :p ?b } ?b :q ?c }",
    "SELECT CHANGES * { STREAM :s [RANGE 3] { ?a :p ?b } OPTIONAL { ?b :q ?c } }",
    "SELECT RSTREAM * { STREAM :s [RANGE 3] { ?a :p ?b } ?b :q ?c }",
    "SELECT RSTREAM * { STREAM :s [RANGE 4 STEP 2] { ?a :p ?b } ?b :q ?c }",
    "SELECT CHANGES * { { STREAM :s [RANGE 4 STEP 2] { ?a :p ?b } } UNION { ?b :q ?c } }",
    "SELECT CHANGES ?b (COUNT(*) AS ?n) { { STREAM :s [RANGE 4] { ?a :p ?b } } UNION { ?b :q ?c } } GROUP BY ?b",
    "SELECT CHANGES * { STREAM :s [EVENT] { ?a :p ?b } ?b :q :c }",
    "SELECT CHANGES * { STREAM :s [TRIPLES 2] { ?a :p ?b } ?b :q :d }",
    "SELECT CHANGES ?b { ?b :q ?c MINUS { ?b :r ?c } } ORDER BY ?c LIMIT 2",
    "SELECT CHANGES * { ?b :q :d }",
    "SELECT CHANGES * { ?b :q :e }",
    "SELECT RSTREAM * { ?b :q ?c }",
)
FED = (
    "REGISTER ISTREAM :u AS CONSTRUCT { ?b :made ?c } { ?b :q ?c }",
    "SELECT CHANGES * { STREAM :u [RANGE 5] { ?a :made ?b } }",
    "SELECT CHANGES * { STREAM :u [ALL] { ?a :made ?b } STREAM :s [RANGE 3] { ?x :p ?y } }",
)


def written(chance: Random, queries: tuple[str, ...]) -> Session:
    """Changes without a time first, then elements from far before t0 on."""
    steps: list[Register | Step] = []
    waiting, at_ms = list(queries), -12
    for place in range(chance.randrange(6, 14)):
        match chance.randrange(5 if place < 5 else 8):
            case 0 | 1 if waiting:
                steps.append(Register(PREFIX + waiting.pop(0), None))
            case 0 | 1 | 2 | 3 | 4:
                some = [
                    f"b{chance.randrange(2)} {chance.choice('qqr')} {chance.choice('cde')}"
                    for _ in range(chance.choice([1, 3]))
                ]
                steps.append(Step(chance.choice(["insert", "insert", "delete"]), None, (nt(*some),), None))
            case 5:
                at_ms += chance.randrange(4)
                steps.append(Step("advance", None, (), at_ms))
            case _:
                at_ms += chance.randrange(4)
                steps.append(Step("push", S, (nt(f"a{chance.randrange(2)} p b{chance.randrange(2)}"),), at_ms))
    return Session(chance.choice([0, 0, 2]), chance.choice([1, 4]), (), tuple(steps))


AFTER_EACH: dict[str, Callable[[Engine], Engine | None]] = {
    "going on": lambda engine: None,
    "restored": lambda engine: Engine.restore(engine.snapshot()),
}


@pytest.mark.parametrize("after_each", AFTER_EACH)
@pytest.mark.parametrize("seed", range(40))
def test_input_before_t0_meets_what_happened_without_a_time(seed: int, after_each: str) -> None:
    chance = Random(seed)
    run_session(written(chance, tuple(chance.sample(QUERIES, 3))), AFTER_EACH[after_each], take_each=chance.random() < 0.5)


@pytest.mark.parametrize("after_each", AFTER_EACH)
@pytest.mark.parametrize("seed", range(40))
def test_so_does_what_is_constructed_of_it(seed: int, after_each: str) -> None:
    chance = Random(seed)
    run_session(written(chance, FED), AFTER_EACH[after_each], take_each=chance.random() < 0.5)


def test_time_begins_with_the_first_that_has_one() -> None:
    engine = Engine(t0_ms=1)
    query = engine.register(over("RANGE 3", more="?y :q ?z"), output="changes")
    engine.insert(nt("b q c"))
    engine.insert(nt("b q d"))
    engine.push(S, nt("a p b"), at_ms=-10)
    assert answer_set(Engine.restore(engine.snapshot()).queries[0]) == ["a b c", "a b d"]
    engine.advance_to(-7)
    assert answer_set(query) == []
    assert emitted(query) == ["-10 +a b c", "-10 +a b d", "-7 -a b c", "-7 -a b d"]


def test_time_begins_with_an_element_that_is_constructed() -> None:
    engine = Engine(t0_ms=1)
    query = engine.register(PREFIX + FED[1])
    engine.register(PREFIX + FED[0])
    engine.insert(nt("b q c"))
    engine.push(S, nt("a p b"), at_ms=0)
    assert engine.stats["late"] == 1
    engine = Engine.restore(engine.snapshot())
    engine.push(S, nt("a p b"), at_ms=0)
    assert engine.stats["late"] == 2
    engine.finish()
    assert emitted(query) == ["1 +b c"]
    assert emitted(engine.queries[0]) == ["1 +b c", "6 -b c"]


def test_how_far_the_first_input_is_from_what_was_constructed_does_not_matter() -> None:
    engine = Engine(max_jump_ms=1000)
    engine.register(PREFIX + FED[1])
    engine.register(PREFIX + FED[0])
    engine.insert(nt("b q c"))
    engine = Engine.restore(engine.snapshot())
    engine.push(S, nt("a p b"), at_ms=1_700_000_000_000)
    assert engine.stats["elements"] == 2
