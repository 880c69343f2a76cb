"""Terms are forgotten when nothing needs them any more, and not before."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from millstream import Engine
from millstream.ingest.readers import scanning
from tests.engine.machines import forget_all_that_may_be as forget
from tests.engine.notation import NAMESPACE, S, T, answer_set, emitted, nt, over


def test_answers_of_a_closed_query_can_be_taken_after_their_terms_have_gone() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 3"), output="changes")
    engine.push(S, nt("a p b"), at_ms=0)
    engine.push(S, nt("c p d"), at_ms=1)
    query.close()
    engine.advance_to(100)
    forget(engine)
    assert query.stats["pending"] == 2
    assert emitted(query) == ["0 +a b", "1 +c d"]
    assert emitted(query) == []
    assert query.stats["pending"] == 0


def test_the_table_of_a_closed_query_is_that_of_an_open_one() -> None:
    tables = []
    for closed in (True, False):
        engine = Engine()
        query = engine.register(over("RANGE 3"), output="changes")
        engine.push(S, nt("a p b"), at_ms=0)
        engine.advance_to(5)
        if closed:
            query.close()
        tables.append(query.take_table())
        assert query.take_table().num_rows == 0
    assert tables[0].equals(tables[1])


def test_what_was_deleted_is_still_known_when_the_window_closes() -> None:
    #  0    5  6      10
    #  x    |  del    |      the answer disappears at 10, four milliseconds after its triple
    engine = Engine()
    engine.insert(nt("a q gone"), at_ms=0)
    query = engine.register(over("RANGE 10 STEP 5", more="?x :q ?z"), output="changes")
    engine.push(S, nt("a p b"), at_ms=4)
    engine.advance_to(5)
    assert emitted(query) == ["5 +a b gone"]
    engine.delete(nt("a q gone"), at_ms=6)
    engine.push(S, nt("a p b"), at_ms=7)
    forget(engine)
    assert answer_set(query) == ["a b gone"]
    engine.push(S, nt("a p b"), at_ms=8)
    forget(engine)
    engine.finish()
    assert emitted(query) == ["10 -a b gone"]


def test_dataset_changes_before_the_first_element_are_summed_up() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 10 STEP 5", more="?x :q ?z"), output="changes")
    for i in range(6000):
        engine.insert(nt(f"a q x{i}"), at_ms=i)
        engine.delete(nt(f"a q x{i}"), at_ms=i)
    engine.insert(nt("a q stays"), at_ms=6000)
    forget(engine)
    assert engine.stats["terms"] < 5000
    engine.push(S, nt("a p b"), at_ms=6000)
    engine.advance_to(6000)
    assert emitted(query) == ["6000 +a b stays"]


def test_dataset_changes_between_two_instants_are_summed_up() -> None:
    #  0    5                10
    #  a p b|  +x -x +x ...   |    all but the last come and go before a window closes
    engine = Engine()
    query = engine.register(over("RANGE 10 STEP 5", more="?x :q ?z"), output="changes")
    engine.push(S, nt("a p b"), at_ms=1)
    engine.advance_to(5)
    for i in range(6000):
        engine.insert(nt(f"a q x{i}"), at_ms=6)
        engine.delete(nt(f"a q x{i}"), at_ms=6)
    engine.insert(nt("a q stays"), at_ms=7)
    forget(engine)
    assert engine.stats["terms"] < 5000
    engine.advance_to(10)
    assert emitted(query) == ["10 +a b stays"]
    engine.advance_to(15)
    assert emitted(query) == ["15 -a b stays"]


def test_what_nobody_took_stays_known() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 3"), output="dstream")
    for i in range(50):
        engine.push(S, nt(f"a{i} p b"), at_ms=10 * i)
        forget(engine)
    engine.finish()
    forget(engine)
    assert emitted(query) == [f"{10 * i + 3} +a{i} b" for i in range(50)]


def test_the_dictionary_stays_small_while_ever_new_subjects_pass() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 100"))
    most = 0
    for start in range(0, 300_000, 10_000):
        subjects = [f"<{NAMESPACE}a{i}>" for i in range(start, start + 10_000)]
        same = [[f"<{NAMESPACE}{name}>"] * 10_000 for name in ("p", "b")]
        times = range(start, start + 10_000)
        engine.push_table(S, pa.table({"s": subjects, "p": same[0], "o": same[1], "at_ms": times}))
        assert len(query.take()) == 10_000
        most = max(most, engine.stats["terms"])
    assert engine.stats["triples"] == 300_000
    assert engine.stats["stored"] == 100
    assert most < 30_000


def test_a_term_that_comes_and_goes_within_a_millisecond_can_still_be_read() -> None:
    #  0      1             the first line is over, and what no one asks for forgotten, before the second is read
    #  x a) x b   TRIPLES 1: a comes and goes at the same time
    scanning.CHUNK_BYTES, chunk = 1, scanning.CHUNK_BYTES
    try:
        engine = Engine()
        query = engine.register("SELECT ?a WHERE { STREAM <http://e/s> [TRIPLES 1] { ?a <http://e/p> ?b } }")
        facts = ("x q x", "a p x", "x q x", "b p x")
        text = "".join(" ".join(f"<http://e/{name}>" for name in fact.split()) + " .\n" for fact in facts)
        engine.read("http://e/s", text.encode(), format="nt", time="rate:3000")
    finally:
        scanning.CHUNK_BYTES = chunk
    assert [answer.bindings["a"].value for answer in query.take()] == ["http://e/a", "http://e/b"]


@pytest.mark.parametrize("window", ["RANGE 100", "RANGE 100 STEP 10", "TRIPLES 50", "SESSION 5"])
def test_an_answer_that_is_never_taken_does_not_keep_later_terms(window: str) -> None:
    engine = Engine()
    idle = engine.register(over(window, "?x :q ?y"), output="istream")
    busy = engine.register(over("RANGE 100"))
    engine.push(S, nt("first q one"), at_ms=0)
    engine.advance_to(10)
    most = 0
    for i in range(11, 60_000):
        engine.push(S, nt(f"a{i} p b"), at_ms=i)
        if i % 5000 == 0:
            busy.take()
            most = max(most, engine.stats["terms"])
    assert most < 15_000
    forget(engine)
    assert [line.split(" ", 1)[1] for line in emitted(idle)] == ["+first one"]


def test_a_dataset_change_that_waits_for_a_first_instant_does_not_keep_later_terms() -> None:
    engine = Engine()
    waits = engine.register(over("RANGE 10 STEP 5", stream=T, more="?x :q ?z"), output="changes")
    busy = engine.register(over("RANGE 100"))
    engine.insert(nt("a q gone", "a q stays"), at_ms=0)
    engine.delete(nt("a q gone"), at_ms=0)
    for i in range(1, 30_000):
        engine.push(S, nt(f"a{i} p b"), at_ms=i)
        if i % 5000 == 0:
            busy.take()
    assert engine.stats["terms"] < 15_000
    forget(engine)
    engine.push(T, nt("a p b"), at_ms=30_000)
    engine.finish()
    assert emitted(waits) == ["30000 +a b stays", "30010 -a b stays"]


@pytest.mark.parametrize("output", ["changes", "istream", "dstream", "rstream"])
@pytest.mark.parametrize("between", [lambda engine: engine, lambda engine: Engine.restore(engine.snapshot())])
def test_edits_between_two_instants_are_told_by_what_they_come_to(output: str, between: Callable[[Engine], Engine]) -> None:
    """More rows than may wait are summed up, before the first element and between instants: nobody sees a difference."""
    many = [nt(*(f"n{i} q {value}" for i in range(400))) for value in "bc"]
    text = (
        f"PREFIX : <{NAMESPACE}> SELECT * {{ {{ STREAM <{S}> [RANGE 1000 STEP 100] {{ ?x :p ?y }} }} UNION {{ ?x :q ?z }} }}"
    )
    told = []
    for turns in (0, 8):
        engine = Engine()
        engine.register(text, output=output)
        for at_ms, element in ((0, None), (150, "n1 p y"), (320, "n2 p y"), (350, None), (480, "n1 p z")):
            if element:
                engine.push(S, nt(element), at_ms=at_ms)
            for _ in range(turns):
                engine.insert(many[0], at_ms=at_ms)
                engine.insert(many[1], at_ms=at_ms + 1)
                forget(engine)
                engine.delete(many[0], at_ms=at_ms + 1)
                engine.delete(many[1], at_ms=at_ms + 1)
                at_ms += 2
            engine.insert(nt(f"n1 q at{at_ms // 50}"), at_ms=at_ms)
            engine = between(engine)
            forget(engine)
        engine.finish()
        found = emitted(engine.queries[0])
        assert found
        told.append(sorted(found))
    assert told[0] == told[1]


def test_answers_not_taken_before_a_snapshot_can_be_read_after_it_and_then_go() -> None:
    engine = Engine()
    engine.register(over("RANGE 3"), output="changes")
    for i in range(20):
        engine.push(S, nt(f"a{i} p b{i}"), at_ms=10 * i)
    engine.advance_to(1000)
    restored = Engine.restore(Engine.restore(engine.snapshot()).snapshot())
    forget(restored)
    (query,) = restored.queries
    expected = [f"{10 * i + late} {sign}a{i} b{i}" for i in range(20) for late, sign in ((0, "+"), (3, "-"))]
    assert emitted(query) == expected
    forget(restored)
    assert restored.stats["terms"] < 5
