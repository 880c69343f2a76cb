"""What operators say of themselves: counts agree with counting by hand, and do not depend on how input came in."""

from __future__ import annotations

from itertools import takewhile
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine, OptionError
from millstream.plan.explain.counts import OperatorCounts
from tests.engine.any_query import any_scenarios
from tests.engine.machines import fits_a_table, table_of, take_step
from tests.engine.notation import NAMESPACE, S, nt
from tests.engine.scenarios import Scenario, Step

PREFIX = f"PREFIX : <{NAMESPACE}> SELECT CHANGES "


def number(value: int) -> str:
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def reading(sensor: int, value: int) -> str:
    return f"<{NAMESPACE}x{sensor}> <{NAMESPACE}shows> {number(value)} ."


def find(query: Any, label: str) -> OperatorCounts:
    """The first operator whose label begins so: one that is drawn again has what it keeps there."""
    return next(operator for operator in query.operators() if operator.label.startswith(label))


def shape(operator: OperatorCounts) -> Any:
    """All counts but time."""
    return operator.label, operator.detail, operator.changes, operator.stored, [shape(part) for part in operator.inputs]


def test_a_conjunction_counts_its_answers_and_its_patterns_their_triples() -> None:
    #  0    5    10   15
    #  x---------)             RANGE 10
    #       y---------)
    engine = Engine()
    query = engine.register(PREFIX + "* { STREAM :s [RANGE 10] { ?x :p ?y } ?y :q ?z }")
    engine.insert(nt("b q c", "b q d"))
    engine.push(S, nt("x p b"), at_ms=0)
    engine.push(S, nt("y p b", "y p unknown"), at_ms=5)
    engine.advance_to(12)
    root = query.operators()
    assert root.label == "conjunction 1: ?x ?y ?z"
    # Four answers appeared, two of them are gone; a window's end is no change of what a pattern holds.
    assert (root.changes, root.stored, root.detail) == (6, 4, "2 patterns joined on ?y")
    assert [(part.label, part.changes, part.stored) for part in root.inputs] == [("?x :p ?y", 3, 2), ("?y :q ?z", 2, 2)]
    assert root.changes == len(query.take())


def test_what_datasets_give_at_registration_is_counted() -> None:
    engine = Engine()
    engine.insert(nt("a p b", "a p c"))
    query = engine.register(PREFIX + "DISTINCT ?x { ?x :p ?y }")
    assert [operator.changes for operator in query.operators()] == [1, 2, 2]
    # One that shares its parts is shown what they hold: to them nothing has happened.
    engine.register(PREFIX + "?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x")
    assert [operator.changes for operator in query.operators()] == [1, 2, 2]


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_a_naive_loop(seed: int) -> None:
    random = Random(seed)
    engine = Engine()
    query = engine.register(
        PREFIX
        + "?x (COUNT(*) AS ?n) { STREAM :s [ALL] { ?x :shows ?v } OPTIONAL { ?x :in ?room } FILTER (?v > 4) } GROUP BY ?x"
    )
    seen: set[tuple[int, int]] = set()
    passed = groups = 0
    counts: dict[int, int] = {}
    for at_ms in range(200):
        sensor, value = random.randrange(5), random.randrange(12)
        engine.push(S, reading(sensor, value), at_ms=at_ms)
        # A triple that is there already changes nothing.
        if (sensor, value) not in seen:
            seen.add((sensor, value))
            if value > 4:
                passed += 1
                groups += 1 + (sensor in counts)
                counts[sensor] = counts.get(sensor, 0) + 1
    assert find(query, "conjunction 1").changes == len(seen)
    assert find(query, "conjunction 1").stored == len(seen)
    assert find(query, "filter").changes == passed
    group = find(query, "group by ?x")
    assert (group.changes, group.stored) == (groups, len(counts))
    assert query.operators().changes == len(query.take())


def test_a_row_counts_as_often_as_it_is_there() -> None:
    engine = Engine()
    query = engine.register(
        PREFIX + "?y { { STREAM :s [RANGE 10] { ?x :p ?y } } UNION { STREAM :s [RANGE 10] { ?y :p ?x } } }"
    )
    engine.push(S, nt("a p b", "b p a", "c p b"), at_ms=0)
    engine.advance_to(20)
    assert query.operators().changes == 12 == len(query.take())


@pytest.mark.parametrize(
    ("text", "label", "stored"),
    [
        ("DISTINCT ?y { STREAM :s [ALL] { ?x :p ?y } }", "distinct", 2),
        ("* { STREAM :s [ALL] { ?x :p ?y } } ORDER BY ?x LIMIT 1", "first 1", 3),
        ("* { STREAM :s [ALL] { ?x :p ?y } FILTER NOT EXISTS { ?y :p ?z } }", "those without", 3),
        ("?y (COUNT(*) AS ?n) { STREAM :s [ALL] { ?x :p ?y } } GROUP BY ?y", "group by", 2),
        ("* { STREAM :s [ALL] { ?x :p ?y } { SELECT DISTINCT ?y { STREAM :s [ALL] { ?z :p ?y } } } }", "join on", 5),
        ("* { STREAM :s [ALL] { ?x :p+ ?y } }", "paths", 3),
    ],
)
def test_an_operator_says_how_much_it_keeps(text: str, label: str, stored: int) -> None:
    engine = Engine()
    query = engine.register(PREFIX + text)
    engine.push(S, nt("a p b", "c p b", "d p e"), at_ms=0)
    assert find(query, label).stored == stored


def test_what_is_done_in_one_pass_is_one_operator() -> None:
    engine = Engine()
    query = engine.register(
        PREFIX + "?x ?w { STREAM :s [ALL] { ?x :shows ?v } OPTIONAL { ?x :in ?r } FILTER (?v > 1) BIND (?v + 1 AS ?w) }"
    )
    for value in range(5):
        engine.push(S, reading(1, value), at_ms=value)
    root = query.operators()
    assert (root.label, root.changes) == ("columns ?x ?w", 3)
    assert root.detail is not None
    assert root.detail.startswith("in one pass with ")
    assert "filter ?v > 1" in root.detail
    assert "?w = ?v + 1" in root.detail
    lines = query.explain(counts=True).splitlines()
    assert [line.split()[-1] for line in lines if "filter ?v > 1" in line][-1] == "↑"


def test_a_join_makes_rows_distinct_itself() -> None:
    engine = Engine()
    query = engine.register(
        PREFIX + "* { STREAM :s [ALL] { ?x :p ?y } { SELECT DISTINCT ?y { STREAM :s [ALL] { ?z :p ?y } } } }"
    )
    engine.push(S, nt("a p b", "c p b", "d p e"), at_ms=0)
    join = find(query, "join on")
    assert (join.changes, join.stored, [part.changes for part in join.inputs]) == (3, 5, [3, 3])
    assert not any(operator.label.startswith("distinct") for operator in join)
    lines = query.explain(counts=True).splitlines()
    assert [line.split()[-1] for line in lines if "distinct: a count" in line] == ["↑"]


TREE = """
runs as                                                 changes  stored
  columns ?y ?n                                           2,399
  └─ ?n = ?agg1                                               ↑
     └─ group by ?y: ?agg1 = COUNT(*)                     2,399       1
        └─ conjunction 1: ?y                              1,200   1,200
           └─ ?x :p ?y  pairs in window :s [RANGE 10s]    1,200   1,200
"""


def test_the_counts_are_aligned_beside_the_tree() -> None:
    engine = Engine()
    query = engine.register(PREFIX + "?y (COUNT(*) AS ?n) { STREAM :s [RANGE 10s] { ?x :p ?y } } GROUP BY ?y")
    for at_ms in range(1200):
        engine.push(S, nt(f"x{at_ms} p y"), at_ms=at_ms)
    text = query.explain(counts=True)
    assert text[text.index("runs as") : text.index("\nconjunction 1\n")] == TREE.strip()


def test_time_is_taken_only_while_it_is_asked_for() -> None:
    engine = Engine()
    query = engine.register(PREFIX + "?y (COUNT(*) AS ?n) { STREAM :s [RANGE 10s] { ?x :p ?y } } GROUP BY ?y")
    engine.push(S, nt("a p b"), at_ms=0)
    assert {operator.micros for operator in query.operators()} == {None}
    query.measure()
    assert {operator.micros for operator in query.operators() if not operator.label.startswith("?x")} == {0.0}
    engine.push(S, nt("c p b"), at_ms=1)
    timed = [operator.micros for operator in query.operators() if operator.micros is not None]
    assert len(timed) == 3
    assert min(timed) > 0
    assert "CPU ms" in query.explain(counts=True)
    # Asking again goes on.
    query.measure()
    assert query.operators().micros == timed[0]
    query.measure(False)
    assert {operator.micros for operator in query.operators()} == {None}
    query.measure()
    assert query.operators().micros == 0.0


def test_who_shares_a_plan_measures_for_itself() -> None:
    engine = Engine()
    texts = [
        PREFIX + "?y (COUNT(*) AS ?n) { STREAM :s [RANGE 10s] { ?x :p ?y } } GROUP BY ?y",
        PREFIX + "DISTINCT ?y { STREAM :s [RANGE 10s] { ?x :p ?y } }",
    ]
    one, other = (engine.register(text) for text in texts)
    one.measure()
    other.measure()
    one.measure(False)
    engine.push(S, nt("a p b"), at_ms=0)
    assert (other.operators().micros or 0) > 0
    other.close()
    engine.push(S, nt("c p b"), at_ms=1)
    assert one.operators().micros is None


def test_a_query_that_others_join_is_still_measured_and_counts_from_zero() -> None:
    engine = Engine()
    texts = [PREFIX + f'?x {{ STREAM :s [ALL] {{ ?x :in "{room}" }} }}' for room in "ab"]
    first = engine.register(texts[0])
    first.measure()
    second = engine.register(texts[1])
    for at_ms, room in enumerate("aabab"):
        engine.push(S, f'<{NAMESPACE}x{at_ms}> <{NAMESPACE}in> "{room}" .', at_ms=at_ms)
    root = first.operators()
    # They run as one plan, and what it does is counted once.
    assert root.changes == len(first.take()) + len(second.take()) == 5
    assert root.micros is not None
    assert second.operators() == root
    assert "the constants of the queries that run as one plan" in first.explain(counts=True)


def test_a_restored_engine_counts_from_zero_and_keeps_what_it_kept() -> None:
    engine = Engine()
    text = PREFIX + "?y (COUNT(*) AS ?n) { STREAM :s [RANGE 10] { ?x :p ?y } } GROUP BY ?y"
    engine.register(text)
    engine.push(S, nt("a p b", "c p b", "a p d"), at_ms=0)
    (query,) = Engine.restore(engine.snapshot()).queries
    assert {operator.changes for operator in query.operators()} == {0}
    assert find(query, "group by").stored == 2
    assert find(query, "conjunction 1").stored == 3


def test_a_closed_query_has_no_operators() -> None:
    query = Engine().register(PREFIX + "* { STREAM :s [ALL] { ?x :p ?y } }")
    query.close()
    query.measure()
    with pytest.raises(OptionError, match="closed"):
        query.operators()
    with pytest.raises(OptionError, match="closed"):
        query.explain(counts=True)


def _of_one_stream(steps: list[Step]) -> list[Step]:
    """The elements of one stream at the beginning, as far as a table can have them."""
    return list(takewhile(lambda step: fits_a_table(step) and step.target == steps[0].target, steps))


some = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@some
@given(any_scenarios(), st.lists(st.integers(1, 8), min_size=1, max_size=6), st.booleans())
def test_counts_do_not_depend_on_how_elements_were_cut(scenario: Scenario, sizes: list[int], measures: bool) -> None:
    alone, together = (Engine(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms) for _ in range(2))
    one, other = (engine.register(scenario.query, output="changes") for engine in (alone, together))
    if measures:
        other.measure()
    waiting, turn = list(scenario.steps), 0
    while waiting:
        cut = _of_one_stream(waiting)[: sizes[turn % len(sizes)]]
        turn += 1
        for step in cut or waiting[:1]:
            take_step(alone, step)
        if cut:
            together.push_table(str(cut[0].target), table_of([(str(s.target), s.triples, s.at_ms) for s in cut]))
        else:
            take_step(together, waiting[0])
        waiting = waiting[len(cut) or 1 :]
    assert shape(one.operators()) == shape(other.operators())
    alone.finish()
    together.finish()
    assert shape(one.operators()) == shape(other.operators())
    answers = one.take()
    assert len(answers) == len(other.take())
    if not one.query.closes_windows:
        # What datasets give by themselves is told together with the first change, and may cancel out with it.
        assert len(answers) <= one.operators().changes
