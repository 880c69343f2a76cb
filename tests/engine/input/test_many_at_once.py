"""Many elements or changes in a call, which is as many calls."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream import DataError, Engine, OptionError, PendingLimitError
from tests.engine.notation import S, emitted, nt, over

_NODES = st.sampled_from("abc")
_TRIPLES = st.lists(st.tuples(_NODES, st.sampled_from("pqx"), _NODES).map(" ".join), max_size=3)
_WINDOWS = st.sampled_from(["RANGE 4", "RANGE 6 STEP 3", "TRIPLES 3", "ELEMENTS 2", "EVENT", "SESSION 3", "ALL"])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(_TRIPLES, st.integers(-1, 3)), max_size=20),
    _WINDOWS,
    st.sampled_from(["istream", "changes", "rstream"]),
    st.integers(0, 3),
    st.data(),
)
def test_elements_are_as_if_pushed_one_by_one(steps, window, output, lateness_ms, data):
    engines = [Engine(lateness_ms=lateness_ms) for _ in range(2)]
    queries = [engine.register(over(window, more="?y :q ?z"), output=output) for engine in engines]
    for engine in engines:
        engine.insert(nt("b q c", "c q a"), at_ms=-5)
    elements, at_ms = [], 0
    for triples, later in steps:
        at_ms += later
        elements.append((nt(*triples) if triples else "", at_ms))
    for triples, time_ms in elements:
        engines[0].push(S, triples, time_ms)
    while elements:
        size = data.draw(st.integers(1, len(elements)))
        engines[1].push_many(S, elements[:size])
        elements = elements[size:]
    for engine in engines:
        engine.finish()
    assert emitted(queries[0]) == emitted(queries[1])
    assert engines[0].stats == engines[1].stats
    assert [str(r) for r in engines[0].rejected()] == [str(r) for r in engines[1].rejected()]


def test_elements_before_one_that_is_malformed_stand() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 9"))
    with pytest.raises(DataError, match="line 1"):
        engine.push_many(S, [(nt("a p b"), 1), ("<http://example.org/a> .", 2), (nt("c p d"), 3)])
    assert emitted(query) == ["1 +a b"]


def test_elements_before_one_that_is_too_much_stand() -> None:
    engine = Engine(max_pending=2)
    query = engine.register(over("RANGE 9"))
    with pytest.raises(PendingLimitError):
        engine.push_many(S, [(nt(f"a{n} p b"), n) for n in range(5)])
    assert emitted(query) == ["0 +a0 b", "1 +a1 b"]


def test_changes_are_as_if_made_one_by_one() -> None:
    engine = Engine()
    query = engine.register("SELECT CHANGES ?x ?y WHERE { ?x <http://example.org/p> ?y }")
    engine.change_many(
        [
            ("insert", nt("a p b"), 1, None),
            ("insert", nt("a p b", "c p d"), 2, None),
            ("delete", nt("a p b"), 3, None),
            ("insert", nt("e p f"), 4, "http://example.org/g"),
        ]
    )
    assert emitted(query) == ["1 +a b", "2 +c d", "3 -a b"]
    with pytest.raises(OptionError, match="insert"):
        engine.change_many([("add", nt("a p b"), 5, None)])
