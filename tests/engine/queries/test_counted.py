"""Queries of which only a count matters, or whether there is one at all: COUNT, EXISTS, DISTINCT, ASK, products.

The joins below them tell fewer variables than there are, and how often. Random branches over windows and datasets whose
contents come, go and expire must answer as everything recomputed: step by step with a restore in between, and in batches.
"""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine
from tests.engine.machines import (
    answer_set,
    assert_same,
    assert_same_set,
    fits_a_table,
    flat,
    forget_all_that_may_be,
    table_of,
    take_step,
)
from tests.engine.notation import NAMESPACE, S, nt
from tests.engine.scenarios import Step
from tests.reference import Reference

WINDOW = f"STREAM <{S}> [WINDOW]"
CHAIN = f"{WINDOW} {{ ?a :p ?b . ?b :q ?c }} ?c :r ?d"
STAR = f"{WINDOW} {{ ?a :p ?b . ?a :q ?c }} ?a :r ?d"
TREE = f"{WINDOW} {{ ?a :p ?b . ?b :q ?c . ?b :r ?d }} ?c :r ?e . ?a :q ?f"
ANY = f"{WINDOW} {{ ?a ?p ?b . ?b :q ?c }} ?a :r ?d"
APART = f"{WINDOW} {{ ?x :p ?a }} ?a :q ?b . ?b :r ?c . ?c :i :n0"
PARTS = f"{WINDOW} {{ ?a :p ?b . ?b :q ?c }} ?d :r ?e"
CYCLE = f"{WINDOW} {{ ?a :p ?b . ?b :q ?c . ?c :p ?b }} ?c :r ?d"
QUERIES = {
    "count a chain": f"SELECT (COUNT(*) AS ?n) {{ {CHAIN} }}",
    "count a tree": f"SELECT (COUNT(*) AS ?n) {{ {TREE} }}",
    "count by key": f"SELECT ?a (COUNT(*) AS ?n) {{ {TREE} }} GROUP BY ?a",
    "count what is bound": f"SELECT ?a (COUNT(?d) AS ?n) {{ {STAR} }} GROUP BY ?a",
    "count what may be bound": f"SELECT (COUNT(?e) AS ?n) (COUNT(?b) AS ?m) {{ {CHAIN} OPTIONAL {{ ?a :s ?e }} }}",
    "as often as there are": f"SELECT ?a {{ {TREE} }}",
    "in the middle": f"SELECT ?b {{ {TREE} }}",
    "two of a tree": f"SELECT ?a ?c {{ {TREE} }}",
    "distinct": f"SELECT DISTINCT ?a {{ {CHAIN} }}",
    "distinct, any predicate": f"SELECT DISTINCT ?a {{ {ANY} }}",
    "distinct of what was joined apart": f"SELECT DISTINCT ?x {{ {APART} }}",
    "count what was joined apart": f"SELECT (COUNT(*) AS ?n) {{ {APART} }}",
    "ask": f"ASK {{ {STAR} }}",
    "construct": f"CONSTRUCT {{ ?a :found :it }} {{ {STAR} }}",
    "exists": f"SELECT ?x ?a {{ ?x :i ?a FILTER EXISTS {{ {TREE} }} }}",
    "not exists": f"SELECT ?x ?a {{ ?x :i ?a FILTER NOT EXISTS {{ {CHAIN} }} }}",
    "minus": f"SELECT ?x ?a {{ ?x :i ?a MINUS {{ {STAR} }} }}",
    "count a product": f"SELECT (COUNT(*) AS ?n) {{ {PARTS} }}",
    "one of a product": f"SELECT ?b {{ {PARTS} }}",
    "distinct of a product": f"SELECT DISTINCT ?e {{ {PARTS} }}",
    "a product under a test": f"SELECT ?a {{ {PARTS} FILTER(!sameTerm(?b, ?e)) }}",
    "a test in a branch": f"SELECT ?a {{ {STAR} FILTER(?b != ?c) }}",
    "a cycle in a branch": f"SELECT DISTINCT ?a {{ {CYCLE} }}",
}

windows = st.sampled_from(["RANGE 4", "RANGE 6", "RANGE 6 STEP 2", "TRIPLES 5", "RANGE 4 TUMBLING", "ALL"])
names = st.integers(0, 2).map(lambda i: f"n{i}")
triples = st.tuples(names, st.sampled_from(["p", "p", "q", "q", "r", "r", "s", "i"]), names).map(" ".join)


@st.composite
def timelines(draw: st.DrawFn) -> list[Step]:
    found, at_ms = [], 0
    for _ in range(draw(st.integers(1, 25))):
        at_ms += draw(st.sampled_from([0, 1, 1, 2, 5]))
        call = draw(st.sampled_from(["push", "push", "push", "insert", "insert", "delete", "advance"]))
        some = draw(st.lists(triples, min_size=1, max_size=5))
        found.append(Step(call, S if call == "push" else None, tuple(nt(t) for t in some), at_ms))
    return found


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    window=windows,
    before=st.lists(triples, max_size=12),
    steps=timelines(),
    output=st.sampled_from(["changes", "istream", "dstream"]),
    cut=st.integers(0, 25),
)
def test_answers_are_those_of_everything_recomputed(
    name: str, window: str, before: list[str], steps: list[Step], output: str, cut: int
) -> None:
    text = f"PREFIX : <{NAMESPACE}> " + QUERIES[name].replace("WINDOW", window)
    engine, batched, reference = Engine(), Engine(), Reference()
    for machine in (engine, batched, reference) if before else ():
        machine.load(nt(*before).encode() if machine is not reference else nt(*before), format="nt")
    query, other, expected = (machine.register(text, output=output) for machine in (engine, batched, reference))
    for place, step in enumerate(steps):
        take_step(engine, step)
        take_step(reference, step)
        if place == cut:
            engine = Engine.restore(engine.snapshot())
            forget_all_that_may_be(engine)
            (query,) = engine.queries
    for is_table, some in groupby(steps, fits_a_table):
        if is_table:
            batched.push_table(S, table_of([(S, s.triples, s.at_ms or 0) for s in some]))
        else:
            for step in some:
                take_step(batched, step)
    assert_same_set(answer_set(query), expected.answers)
    for machine in (engine, batched, reference):
        machine.finish()
    assert_same(flat(query.take(), query.variables), expected.changes)
    assert_same(flat(other.take(), other.variables), expected.changes)


@pytest.mark.parametrize(
    ("pattern", "counted"),
    [
        (CHAIN, "?a, ?b, ?c, ?d"),
        (STAR, "?a, ?b, ?c, ?d"),
        (ANY, "?a, ?p, ?b, ?c, ?d"),
        (CYCLE, "?a, ?d"),
        (f"{STAR} FILTER(?b != ?c)", "?d"),
        (APART, "?x"),
    ],
)
def test_what_is_counted_is_told(pattern: str, counted: str) -> None:
    text = f"PREFIX : <{NAMESPACE}> SELECT (COUNT(*) AS ?n) {{ {pattern} }}".replace("WINDOW", "RANGE 4")
    assert f"counted instead of listed: {counted}\n" in Engine().register(text).explain()
