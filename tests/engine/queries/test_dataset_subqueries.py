"""Sub-queries over datasets that are joined apart: the same answers, while datasets change, as everything recomputed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine
from millstream.operators.leaves import subquery
from tests.engine.machines import assert_same, flat, forget_all_that_may_be, take_step
from tests.engine.notation import NAMESPACE, S, T, emitted, nt, over
from tests.engine.scenarios import Step
from tests.reference import Reference

G = f"{NAMESPACE}g"
CHAIN = "?a :k ?b . ?b :w ?c . ?c :i :n0"
QUERIES = {
    "chain": over("RANGE 4", "?x :p ?a", more=CHAIN),
    "few of its variables": over("RANGE 4", "?x :p ?a", more=CHAIN).replace("*", "?x"),
    "two ends": over("RANGE 4", "?a :p ?c", more="?a :k ?b . ?b :w ?c . ?b :i :n0"),
    "long chain": over("TRIPLES 3", "?x :p ?a", more="?a :k ?b . ?b :w ?c . ?c :k ?d . ?d :i :n0"),
    "in another graph": over("EVENT", "?x :p ?a", more=f"GRAPH <{G}> {{ {CHAIN} }}"),
    "two of them": over("RANGE 4", "?a :p ?d", more=f"{CHAIN} GRAPH <{G}> {{ ?d :k ?e . ?e :w ?f . ?f :i :n1 }}"),
    "beside a dataset pattern": over("RANGE 4 STEP 2", "?x :p ?a", more=f"{CHAIN} GRAPH <{G}> {{ ?x :k ?y }}"),
    "beside any predicate": over("RANGE 4", "?x ?y ?a", more=CHAIN),
    "a cycle": over("ELEMENTS 2", "?c :p ?a", more="?a :k ?b . ?b :w ?c . ?c :k ?a . ?b :i :n0"),
    "with filters": over("RANGE 4", "?x :p ?a", more=f"{CHAIN} FILTER(?a != ?c && sameTerm(?b, ?x))"),
    "two windows": over("RANGE 4", "?x :p ?a", more=f"STREAM <{T}> [NOW] {{ ?b :p ?y }} {CHAIN}"),
}

names = st.integers(0, 3).map(lambda i: f"n{i}")
at_rest = st.tuples(names, st.sampled_from(["k", "w"]), names) | st.tuples(
    names, st.just("i"), st.sampled_from(["n0", "n1"])
)
passing = st.tuples(names, st.sampled_from(["p", "p", "p", "k"]), names)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    found, at_ms = [], 0
    for _ in range(draw(st.integers(1, 25))):
        at_ms += draw(st.integers(0, 3))
        call = draw(st.sampled_from(["push", "push", "insert", "insert", "delete", "advance"]))
        triples = draw(st.lists(passing if call == "push" else at_rest, min_size=1, max_size=6))
        target = draw(st.sampled_from([S, S, T])) if call == "push" else draw(st.sampled_from([None, None, G]))
        found.append(Step(call, target, tuple(nt(" ".join(t)) for t in triples), at_ms))
    return found


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    before=st.lists(at_rest, max_size=15),
    steps=steps(),
    output=st.sampled_from(["changes", "istream", "dstream"]),
    most=st.sampled_from([0, 2, 4096]),
    cut=st.integers(0, 25),
)
def test_answers_are_those_of_everything_recomputed(
    name: str, before: list[tuple[str, ...]], steps: list[Step], output: str, most: int, cut: int
) -> None:
    few, subquery._FEW = subquery._FEW, most  # beyond which what was joined apart is put together
    try:
        engine, reference = Engine(), Reference()
        if before:
            loaded = nt(*(" ".join(t) for t in before))
            engine.load(loaded.encode(), format="nt")
            reference.load(loaded)
        query, expected = (machine.register(QUERIES[name], output=output) for machine in (engine, reference))
        assert "joined apart" in query.explain()
        for place, step in enumerate(steps):
            take_step(engine, step)
            take_step(reference, step)
            if place == cut:
                engine = Engine.restore(engine.snapshot())
                forget_all_that_may_be(engine)
                (query,) = engine.queries
        rows = Counter(tuple(s.get(v) for v in query.variables) for s in query.solutions())
        assert rows == expected.answers
        engine.finish()
        reference.finish()
        assert_same(flat(query.take(), query.variables), expected.changes)
    finally:
        subquery._FEW = few


def test_a_sub_query_with_many_more_solutions_than_triples_is_put_together() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 100", "?x :p ?a", more=CHAIN), output="changes")
    (component,) = query.run.operator.components  # type: ignore[union-attr]
    engine.push(S, nt("first p a0"), at_ms=0)
    engine.insert(nt(*(f"b{i} w c{k}" for i in range(40) for k in range(40)), *(f"c{i} i n0" for i in range(40))), at_ms=1)
    engine.insert(nt("a0 k b0"), at_ms=2)
    assert len(emitted(query)) == 40
    assert len(component._subqueries) == 1  # type: ignore[union-attr]
    engine.insert(nt(*(f"a{i} k b{k}" for i in range(1, 10) for k in range(40))), at_ms=3)
    assert len(component._subqueries) == 0  # type: ignore[union-attr]
    engine.push(S, nt("second p a5"), at_ms=4)
    assert len(emitted(query)) == 1600
    engine.delete(nt("c0 i n0"), at_ms=5)
    assert len(emitted(query)) == 41


@pytest.mark.parametrize(
    ("query", "apart"),
    [
        (over("RANGE 4", "?x :p ?a", more=CHAIN), True),
        (over("RANGE 4", "?x :p ?a", more="?a :k ?b . ?b :i :n0"), False),
        (over("RANGE 4", "?x :p ?a", more="?a :k ?b . ?b :w ?c"), False),
        (over("RANGE 4", "?x :p ?a", more="?a :k ?b . ?a :w ?c . ?a :i :n0"), False),
        (f"PREFIX : <{NAMESPACE}> SELECT * {{ {CHAIN} }}", False),
    ],
    ids=["two pairs and a constant", "one pair", "no constant", "a constant where the stream comes in", "no stream"],
)
def test_what_is_joined_apart_is_told(query: str, apart: bool) -> None:
    assert ("joined apart" in Engine().register(query).explain()) == apart
    assert "joined apart" not in Engine(adaptive=False).register(query).explain()
