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
    monkeypatch.setattr("millstream.ingest.readers.scanning.CHUNK_BYTES", 200)
    engine, query = engine_with(50, "ALL")
    lines = "\n".join(nt(f"a{i} p b") for i in range(150)).encode()
    with pytest.raises(PendingLimitError):
        engine.read(S, lines, format="nt", time="rate:1000")
    # A part of 200 bytes has three lines at most; the one that would exceed the limit is not taken.
    assert 47 < query.stats["pending"] <= 50
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
    windows = ["RANGE 6", "RANGE 6 STEP 2", "TRIPLES 4", "EVENT", "SESSION 2"]
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
    found += emitted(a)
    limited._core.pending.limit = 1000
    for engine in (limited, free):
        engine.finish()
    assert sorted(found + emitted(a)) == sorted(emitted(b))
    assert refused


# Registering ----------------------------------------------------------------------------------------------------------

PAIRS = f"PREFIX : <{NAMESPACE}> SELECT * {{ ?x :p ?y . ?a :q ?b }}"


def test_a_query_with_more_first_answers_than_may_wait_is_not_registered() -> None:
    engine = Engine(max_pending=10)
    engine.insert(nt(*(f"a{i} p b" for i in range(11))))
    before = engine.stats
    with pytest.raises(PendingLimitError, match="11 answers would wait"):
        engine.register(PAIRS.replace(". ?a :q ?b", ""))
    assert engine.stats == before
    assert engine.queries == ()
    again = Engine.restore(engine.snapshot())
    assert again.queries == ()
    engine.delete(nt("a0 p b"))
    assert len(engine.register(PAIRS.replace(". ?a :q ?b", "")).take()) == 10


def test_who_is_refused_leaves_those_that_share_its_plan_alone() -> None:
    text = "PREFIX : <" + NAMESPACE + "> SELECT ?x {{ ?x :p :{} }}"
    engine = Engine(max_pending=10)
    engine.insert(nt("few p b", *(f"many{i} p c" for i in range(10))))
    first, second = engine.register(text.format("b")), engine.register(text.format("d"))
    with pytest.raises(PendingLimitError, match="11 answers would wait"):
        engine.register(text.format("c"))
    assert engine.queries == (first, second)
    engine.insert(nt("more p b", "more p c", "more p d"))
    assert [emitted(query) for query in engine.queries] == [["0 +few", "0 +more"], ["0 +more"]]


def test_what_waits_for_one_query_does_not_punish_calls_that_bring_nothing() -> None:
    engine, query = engine_with(2, "ALL")
    engine.push(S, nt("a p b", "c p d"), at_ms=1)
    engine.push(S, nt("e q f"), at_ms=2)
    engine.insert(nt("e q f"))
    engine.push_table(S, pa.table({"s": ["<a:a>"], "p": ["<a:a>"], "o": ["<a:a>"], "at_ms": [3]}))
    engine.read(S, nt("e q f").encode(), format="nt", time="arrival", clock_ms=lambda: 4)
    other = engine.register(over("ALL", "?x :r ?y"))
    engine.advance_to(5)
    engine.finish()
    with pytest.raises(PendingLimitError):
        engine.push(S, nt("a r b"), at_ms=6)
    assert (query.stats["pending"], other.stats["pending"], engine.clock_ms) == (2, 0, 5)


def test_a_loaded_source_that_would_exceed_the_limit_is_not_taken() -> None:
    engine = Engine(max_pending=10)
    query = engine.register("SELECT * { ?x ?p ?y }")
    lines = "".join(f"{nt(f'a{i} p b')}\n" for i in range(11))
    for text, format in ((lines, "nt"), ("<a:a> <a:b> 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 .", "ttl")):
        with pytest.raises(PendingLimitError, match="11 answers would wait"):
            engine.load(text.encode(), format=format)
    assert (query.take(), query.solutions(), engine.stats["changes"]) == ([], [], 0)


# Gaps in time ---------------------------------------------------------------------------------------------------------

COUNT = over("RANGE 10s STEP 1s").replace("SELECT *", "SELECT (COUNT(*) AS ?n)")
TODAY = 1_700_000_000_000


@pytest.mark.parametrize(
    "bring",
    [
        lambda engine: engine.push(S, nt("c p d"), at_ms=TODAY),
        lambda engine: engine.push(T, nt("c p d"), at_ms=TODAY),
        lambda engine: engine.insert(nt("c p d"), at_ms=TODAY),
        lambda engine: engine.advance_to(TODAY),
        lambda engine: engine.push_table(S, pa.table({"s": ["<a:a>"], "p": ["<a:a>"], "o": ["<a:a>"], "at_ms": [TODAY]})),
        lambda engine: engine.read(S, [nt("c p d")], format="nt", time="arrival", clock_ms=lambda: TODAY),
        lambda engine: engine.read(S, iter([nt("c p d")]), format="nt", time="arrival", clock_ms=lambda: TODAY),
    ],
    ids=["push", "push elsewhere", "insert", "advance_to", "push_table", "read", "read one by one"],
)
def test_a_gap_with_more_answers_than_may_wait_is_refused(bring: Callable[[Engine], None]) -> None:
    engine = Engine()
    query = engine.register(COUNT, output="rstream")
    engine.push(S, nt("a p b"), at_ms=500)
    with pytest.raises(PendingLimitError):
        bring(engine)
    assert (engine.clock_ms, query.take()) == (500, [])
    engine.advance_to(3_000)
    assert [(answer.at_ms, answer.bindings["n"].value) for answer in query.take()] == [(t, "1") for t in (1000, 2000, 3000)]


def test_a_gap_within_what_comes_at_once_is_refused() -> None:
    engine = Engine()
    query = engine.register(COUNT, output="rstream")
    p = f"<{NAMESPACE}p>"
    with pytest.raises(PendingLimitError):
        engine.push_table(S, pa.table({"s": [p, p], "p": [p, p], "o": [p, p], "at_ms": [0, TODAY]}))
    assert (engine.stats["elements"], query.take()) == (0, [])


def test_the_end_of_a_window_that_steps_often_is_refused() -> None:
    engine = Engine(max_pending=1000)
    query = engine.register(COUNT.replace("RANGE 10s STEP 1s", "RANGE 10s STEP 1"), output="rstream")
    engine.push(S, nt("a p b"), at_ms=0)
    with pytest.raises(PendingLimitError):
        engine.finish()
    assert engine.clock_ms == 0
    engine._core.pending.limit = 100_000
    engine.finish()
    assert len(query.take()) == 10_000


def test_a_gap_is_refused_for_callbacks_too() -> None:
    engine, heard = Engine(), list[Any]()
    engine.register(COUNT, output="rstream", on_answer=heard.append)
    engine.push(S, nt("a p b"), at_ms=0)
    with pytest.raises(PendingLimitError, match="one call would bring more than"):
        engine.push(S, nt("c p d"), at_ms=TODAY)
    assert heard == []
    engine.push(S, nt("c p d"), at_ms=5000)
    assert len(heard) == 5


@pytest.mark.parametrize("output", ["istream", "dstream", "changes"])
def test_instants_at_which_nothing_changes_cost_nothing(output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    query = engine.register(COUNT, output=output)
    engine.push(S, nt("a p b"), at_ms=500)
    monkeypatch.setattr(engine, "snapshot", lambda: pytest.fail("a copy was made"))
    engine.push(S, nt("c p d"), at_ms=TODAY)
    assert len(query.take()) <= 5
    assert engine.clock_ms == TODAY


@pytest.mark.parametrize("order", ["", " ORDER BY DESC(?x)"])
def test_answers_over_a_gap_are_those_of_single_steps(order: str) -> None:
    text = over("RANGE 9 STEP 3", more=f"STREAM <{T}> [RANGE 40 STEP 4] {{ ?z :p ?y }}").replace("*", "?x")
    found = []
    for step in (1, 100):
        engine = Engine()
        query = engine.register(text + order, output="rstream")
        engine.push(S, nt("a p y", "b p y"), at_ms=1)
        engine.push(T, nt("c p y", "d p y"), at_ms=2)
        engine.push(S, nt("e p y"), at_ms=5)
        for at_ms in range(6, 100, step):
            engine.advance_to(at_ms)
        engine.advance_to(100)
        found.append(emitted(query))
    assert found[0] == found[1]
    assert len(found[0]) > 20


def test_everything_after_every_expiry_is_bounded_too() -> None:
    engine = Engine(max_pending=1000)
    query = engine.register(over("RANGE 1000"), output="rstream")
    for i in range(60):
        engine.push(S, nt(f"a{i} p b"), at_ms=i)
        query.take()
    with pytest.raises(PendingLimitError):
        engine.push(T, nt("x q y"), at_ms=5000)
    assert engine.clock_ms == 59
    assert len(query.solutions()) == 60
