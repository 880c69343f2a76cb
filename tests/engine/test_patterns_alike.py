"""Patterns that take the same triples of a graph are fed together: the same answers as everything recomputed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine
from tests.engine.machines import assert_same, flat, forget_all_that_may_be, take_step
from tests.engine.notation import NAMESPACE, S, nt, over
from tests.engine.scenarios import Step
from tests.reference import Reference

G = f"{NAMESPACE}g"


def at_rest(body: str) -> str:
    return f"PREFIX : <{NAMESPACE}> SELECT * {{ {body} }}"


CHAIN = "?a :k ?b . ?b :k ?c . ?c :k ?d"
QUERIES = {
    "chain": (at_rest(CHAIN), 3),
    "labelled": (at_rest(f"{CHAIN} . ?a :i :n0 . ?b :i :n1 . ?c :i :n0"), 3),
    "triangle": (at_rest("?a :k ?b . ?b :k ?c . ?c :k ?a . ?a :i :n0"), 3),
    "one with a filter": (at_rest(f"{CHAIN} FILTER(?d != :n1)"), 2),
    "a filter between two": (at_rest(f"{CHAIN} FILTER(?a != ?d)"), 3),
    "there and back": (at_rest("?a :k ?b . ?b :k ?a . ?a :w ?c . ?c :w ?b"), 4),
    "two parts": (at_rest("?a :k ?b . ?b :k ?c . ?x :k ?y . ?y :k ?x . ?x :i :n1"), 4),
    "a loop beside": (at_rest("?a :k ?a . ?a :k ?b . ?b :k ?c"), 2),
    "any predicate beside": (at_rest("?a :k ?b . ?b :k ?c . ?c ?p ?a"), 2),
    "two graphs": (at_rest(f"?a :k ?b . ?b :k ?c . GRAPH <{G}> {{ ?c :k ?d . ?d :k ?a }}"), 4),
    "optional": (at_rest("?a :k ?b . ?b :k ?c OPTIONAL { ?c :k ?d . ?d :k ?e }"), 4),
    "beside a window": (over("RANGE 4", "?x :p ?a . ?a :p ?b", more="?b :k ?c . ?c :k ?d"), 2),
    "beside one joined apart": (
        over("RANGE 4", "?x :p ?a", more=f"?a :k ?b . ?b :k ?c . ?c :i :n0 GRAPH <{G}> {{ ?x :k ?y . ?y :k ?z }}"),
        2,
    ),
}
"""And how many patterns are fed together with others."""

names = st.integers(0, 3).map(lambda i: f"n{i}")
resting = st.tuples(names, st.sampled_from(["k", "k", "w"]), names) | st.tuples(
    names, st.just("i"), st.sampled_from(["n0", "n1"])
)
passing = st.tuples(names, st.just("p"), names)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    found, at_ms = [], 0
    for _ in range(draw(st.integers(1, 12))):
        at_ms += draw(st.integers(0, 3))
        call = draw(st.sampled_from(["push", "insert", "insert", "insert", "delete", "delete"]))
        triples = draw(st.lists(passing if call == "push" else resting, min_size=1, max_size=6))
        target = S if call == "push" else draw(st.sampled_from([None, None, G]))
        found.append(Step(call, target, tuple(nt(" ".join(t)) for t in triples), at_ms))
    return found


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    before=st.lists(resting, max_size=15),
    steps=steps(),
    output=st.sampled_from(["changes", "istream", "dstream"]),
    adaptive=st.booleans(),
    cut=st.integers(0, 12),
)
def test_answers_are_those_of_everything_recomputed(
    name: str, before: list[tuple[str, ...]], steps: list[Step], output: str, adaptive: bool, cut: int
) -> None:
    engine, reference = Engine(adaptive=adaptive), Reference()
    if before:
        loaded = nt(*(" ".join(t) for t in before))
        engine.load(loaded.encode(), format="nt")
        reference.load(loaded)
    query, expected = (machine.register(QUERIES[name][0], output=output) for machine in (engine, reference))
    for place, step in enumerate(steps):
        take_step(engine, step)
        take_step(reference, step)
        if place == cut:
            engine = Engine.restore(engine.snapshot())
            forget_all_that_may_be(engine)
            (query,) = engine.queries
    assert Counter(tuple(s.get(v) for v in query.variables) for s in query.solutions()) == expected.answers
    engine.finish()
    reference.finish()
    assert_same(flat(query.take(), query.variables), expected.changes)


@pytest.mark.parametrize("name", QUERIES)
def test_those_that_only_name_variables_differently_are_alike(name: str) -> None:
    text, alike = QUERIES[name]
    run = Engine().register(text).run
    assert run is not None
    assert sum(len(leaf.operator._alike) for leaf in run.operator.leaves) == alike
