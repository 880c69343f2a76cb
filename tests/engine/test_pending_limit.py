"""Answers that nobody takes are bounded: the call that would bring too many raises and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from millstream import Engine, PendingLimitError
from tests.engine.notation import NAMESPACE, S, T, answer_set, emitted, nt, over


def engine_with(limit: int, window: str = "RANGE 10", **options: Any) -> tuple[Engine, Any]:
    engine = Engine(max_pending=limit, **options)
    return engine, engine.register(over(window), output="changes")


def test_the_push_that_would_exceed_the_limit_raises_and_changes_nothing() -> None:
    engine, query = engine_with(3)
    engine.push(S, nt("a p b", "c p d"), at_ms=1)
    before = engine.stats
    with pytest.raises(PendingLimitError, match="4 answers would wait to be taken, max_pending is 3"):
        engine.push(S, nt("e p f", "g p h"), at_ms=2)
    assert engine.stats == before
    assert engine.clock_ms == 1
    assert answer_set(query) == ["a b", "c d"]
    assert emitted(query) == ["1 +a b", "1 +c d"]
    engine.push(S, nt("e p f", "g p h"), at_ms=2)
    assert emitted(query) == ["2 +e f", "2 +g h"]


def test_a_push_that_fills_up_or_brings_nothing_is_taken() -> None:
    engine, query = engine_with(2)
    engine.push(S, nt("a p b", "c p d"), at_ms=1)
    engine.push(S, nt("a p b", "e q f"), at_ms=1)
    assert query.stats["pending"] == 2


def test_what_expires_on_the_way_counts() -> None:
    engine, query = engine_with(3)
    engine.push(S, nt("a p b", "c p d"), at_ms=1)
    with pytest.raises(PendingLimitError):
        engine.push(S, nt("x q y"), at_ms=50)
    assert emitted(query) == ["1 +a b", "1 +c d"]
    engine.push(S, nt("x q y"), at_ms=50)
    assert emitted(query) == ["11 -a b", "11 -c d"]


def test_what_a_silent_stream_lets_expire_counts() -> None:
    engine, query = engine_with(3)
    engine.push(S, nt("a p b", "c p d"), at_ms=1)
    with pytest.raises(PendingLimitError):
        engine.push(T, nt("x q y"), at_ms=50)
    assert engine.clock_ms == 1
    assert query.stats["pending"] == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.insert(nt("e p f", "g p h"), at_ms=2),
        lambda engine: engine.insert(nt("e p f", "g p h")),
        lambda engine: engine.delete(nt("a p b", "c p d"), at_ms=2),
    ],
    ids=["insert", "insert now", "delete"],
)
def test_changes_of_datasets_are_held_to_it_too(call: Callable[[Engine], None]) -> None:
    engine = Engine(max_pending=3)
    query = engine.register("SELECT ?x ?y { ?x ?p ?y }", output="changes")
    engine.insert(nt("a p b", "c p d"), at_ms=1)
    with pytest.raises(PendingLimitError):
        call(engine)
    assert answer_set(query) == ["a b", "c d"]
    query.take()
    call(engine)
    assert query.stats["pending"] == 2


def test_a_table_is_taken_as_a_whole_or_not_at_all() -> None:
    engine, query = engine_with(3)
    s, p, o = [f"<{NAMESPACE}{x}>" for x in "abcd"], [f"<{NAMESPACE}p>"] * 4, [f"<{NAMESPACE}b>"] * 4
    table = pa.table({"s": s, "p": p, "o": o, "at_ms": [1, 2, 3, 4]})
    for form in (table, table.to_batches()[0]):
        with pytest.raises(PendingLimitError):
            engine.push_table(S, form)
    assert engine.stats["elements"] == 0
    engine.push_table(S, table.slice(0, 3))
    assert len(query.take()) == 3


def test_generators_and_blank_nodes_survive_being_tried_out() -> None:
    engine, query = engine_with(5)
    engine.push(S, (t for t in [nt("a p b")]), at_ms=1)
    engine.push(S, f"_:x <{NAMESPACE}p> _:x .", at_ms=1)
    assert len(query.take()) == 2


def test_queries_with_callbacks_keep_nothing() -> None:
    heard: list[Any] = []
    engine = Engine(max_pending=1)
    engine.register(over("ALL"), on_answer=heard.append)
    for i in range(5):
        engine.push(S, nt(f"a{i} p b", f"a{i} p c"), at_ms=i)
    assert len(heard) == 10


def test_a_closed_query_counts_no_more() -> None:
    engine, query = engine_with(2)
    engine.push(S, nt("a p b", "c p d"), at_ms=1)
    query.close()
    other = engine.register(over("ALL"))
    engine.push(S, nt("e p f", "g p h"), at_ms=2)
    assert (len(query.take()), len(other.take())) == (2, 2)


def test_a_source_that_is_read_stops_between_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millstream.engine.lines.CHUNK", 200)
    engine, query = engine_with(50, "ALL")
    lines = "\n".join(nt(f"a{i} p b") for i in range(150)).encode()
    with pytest.raises(PendingLimitError):
        engine.read(S, lines, format="nt", time="rate:1000")
    # A part of 200 bytes has three lines at most.
    assert 50 <= query.stats["pending"] < 53
    assert engine.stats["elements"] == query.stats["pending"]


def test_far_from_the_limit_nothing_is_tried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, query = engine_with(10_000)
    monkeypatch.setattr(engine, "snapshot", lambda: pytest.fail("a copy was made"))
    for i in range(1000):
        engine.push(S, nt(f"a{i} p b"), at_ms=i)
    assert query.stats["pending"] > 1000


@pytest.mark.parametrize("seed", range(5))
def test_answers_taken_under_a_limit_are_those_without(seed: int) -> None:
    chance = Random(seed)
    windows = ["RANGE 6", "RANGE 6 STEP 2", "TRIPLES 4", "EVENT"]
    text = over(chance.choice(windows), "?x :p ?y . ?y :p ?z")
    limited, free = Engine(max_pending=12, lateness_ms=2), Engine(lateness_ms=2)
    a, b = (engine.register(text, output="changes") for engine in (limited, free))
    found: list[str] = []
    refused = 0
    for i in range(60):
        triples = nt(*(f"n{chance.randrange(3)} p n{chance.randrange(3)}" for _ in range(chance.randrange(1, 3))))
        at_ms = i + chance.randrange(-1, 2)
        free.push(S, triples, at_ms=at_ms)
        try:
            limited.push(S, triples, at_ms=at_ms)
        except PendingLimitError:
            refused += 1
            assert a.stats["pending"] <= 12
            found += emitted(a)
            limited._core.pending.limit = 1000
            limited.push(S, triples, at_ms=at_ms)
            found += emitted(a)
            limited._core.pending.limit = 12
    for engine in (limited, free):
        engine.finish()
    assert sorted(found + emitted(a)) == sorted(emitted(b))
    assert refused
