"""Queries of one shape run as one, and answer as if each ran by itself.

The first test catches plans of several queries that mix up their members, the next ones state that a snapshot leaves out and
terms that are forgotten too soon, the last of the random ones what depends on how elements come in or on who else is there.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Engine, UnsupportedQueryError
from tests.engine.any_query import family_sessions
from tests.engine.machines import (
    compare_runs,
    compare_with_engines_of_their_own,
    forget_all_that_may_be,
    run_session,
    table_of,
)
from tests.engine.notation import NAMESPACE, S, answer_set, emitted, nt, over
from tests.engine.scenarios import Session

some = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@settings(some, max_examples=40)
@given(family_sessions(), st.booleans())
def test_members_answer_as_recomputed(session: Session, take_each: bool) -> None:
    run_session(session, take_each=take_each)


@some
@given(family_sessions(), st.booleans())
def test_a_restored_family_goes_on_as_if_nothing_was(session: Session, take_each: bool) -> None:
    compare_runs(session, lambda engine: Engine.restore(engine.snapshot()), take_each=take_each)


@some
@given(family_sessions(), st.booleans())
def test_no_term_of_a_member_is_forgotten_while_it_is_needed(session: Session, take_each: bool) -> None:
    compare_runs(session, forget_all_that_may_be, take_each=take_each)


@some
@given(family_sessions(), st.integers(1, 6), st.booleans())
def test_members_answer_as_in_engines_of_their_own(session: Session, cut: int, calls_back: bool) -> None:
    compare_with_engines_of_their_own(session, cut, calls_back=calls_back)


# One fact each ----------------------------------------------------------------------------------------------------------


def where_is(name: str) -> str:
    return over("RANGE 10", "?x :at ?y", more=f'?x :name "{name}"')


def runs(engine: Engine) -> int:
    return len(engine._core.runs)


def named(*people: str) -> Engine:
    """An engine that knows people by their names."""
    engine = Engine()
    engine.insert("\n".join(f'<{NAMESPACE}{p}> <{NAMESPACE}name> "{p}" .' for p in people))
    return engine


def test_a_hundred_names_are_one_run_that_stores_each_triple_once() -> None:
    people = [f"p{i}" for i in range(100)]
    engine = named(*people)
    queries = [engine.register(where_is(p)) for p in people]
    for place, person in enumerate(people[:50]):
        engine.push(S, nt(f"{person} at l{place % 3}"), at_ms=1)
    assert runs(engine) == 1
    #  100 names, 100 constants, 50 detections; apart, each query would have had these itself.
    assert engine.stats["stored"] == 250
    assert [emitted(q) for q in queries] == [[f"1 +{p} l{i % 3}"] if i < 50 else [] for i, p in enumerate(people)]


def test_a_query_alone_keeps_its_constants_in_place() -> None:
    engine = named("a", "b")
    query = engine.register(where_is("a"))
    # Of two names it asks for one.
    assert query.stats["stored"] == 1


def test_what_no_member_asks_for_is_dropped_unread() -> None:
    engine = Engine()
    queries = [engine.register(over("RANGE 10", f":{person} :at ?y")) for person in "ab"]
    engine.push(S, nt("a at l", "b at l", "c at l"), at_ms=1)
    assert (runs(engine), engine.stats["kept"]) == (1, 2)
    queries[1].close()
    engine.push(S, nt("a at m", "b at m", "c at m"), at_ms=2)
    assert engine.stats["kept"] == 3
    assert [emitted(q) for q in queries] == [["1 +l", "2 +m"], ["1 +l"]]


def test_a_name_that_looks_like_a_function_is_a_name() -> None:
    engine = named("Brandon", "a")
    queries = [engine.register(where_is(name)) for name in ("a", "Brandon")]
    engine.push(S, nt("Brandon at l"), at_ms=1)
    assert (runs(engine), [emitted(q) for q in queries]) == (1, [[], ["1 +Brandon l"]])


def test_equal_queries_are_one() -> None:
    engine = named("a")
    queries = [engine.register(where_is("a")) for _ in range(3)]
    queries[1].close()
    engine.push(S, nt("a at l"), at_ms=1)
    assert runs(engine) == 1
    assert [emitted(q) for q in queries] == [["1 +a l"], [], ["1 +a l"]]


def test_queries_that_emit_different_things_are_one() -> None:
    engine = named("a", "b")
    text = where_is("a")
    queries = [engine.register(text, output=output) for output in ("istream", "dstream", "changes")]
    other = engine.register(where_is("b"), output="dstream")
    engine.push(S, nt("a at l", "b at l"), at_ms=1)
    engine.finish()
    assert runs(engine) == 1
    assert [emitted(q) for q in queries] == [["1 +a l"], ["11 +a l"], ["1 +a l", "11 -a l"]]
    assert emitted(other) == ["11 +b l"]


def test_a_constant_that_is_nowhere_has_no_answers() -> None:
    engine = named("a")
    query, nobody = (engine.register(where_is(name)) for name in ("a", "nobody"))
    engine.push(S, nt("a at l"), at_ms=1)
    assert (runs(engine), emitted(query), emitted(nobody)) == (1, ["1 +a l"], [])


def test_terms_are_told_apart_though_their_values_are_equal() -> None:
    engine = Engine()
    texts = [over("RANGE 10", f"?x :p {number}") for number in ("1", '"01"^^<http://www.w3.org/2001/XMLSchema#integer>')]
    queries = [engine.register(text) for text in texts]
    engine.push(S, f'<{NAMESPACE}a> <{NAMESPACE}p> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .', at_ms=1)
    assert (runs(engine), [emitted(q) for q in queries]) == (1, [[], ["1 +a"]])


def test_a_filter_that_is_an_error_for_one_constant_is_none_for_another() -> None:
    engine = Engine()
    texts = [over("RANGE 10", f"?x :p ?y FILTER (?y > {limit})") for limit in ("1", "5", '"text"', ":node")]
    queries = [engine.register(text) for text in texts]
    for place, value in enumerate(("3", "7", '"word"')):
        literal = value if '"' in value else f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        engine.push(S, f"<{NAMESPACE}a{place}> <{NAMESPACE}p> {literal} .", at_ms=place)
    assert runs(engine) == 1
    assert [emitted(q) for q in queries] == [["0 +a0 3", "1 +a1 7"], ["1 +a1 7"], ["2 +a2 word"], []]


def test_each_member_has_its_empty_group() -> None:
    engine = Engine()
    text = f"PREFIX : <{NAMESPACE}> SELECT CHANGES (COUNT(?x) AS ?n) {{ STREAM <{S}> [RANGE 10] {{ ?x :at %s }} }}"
    queries = [engine.register(text % room) for room in (":hall", ":lab")]
    engine.push(S, nt("a at hall"), at_ms=1)
    engine.finish()
    assert runs(engine) == 1
    assert [emitted(q) for q in queries] == [["1 +1", "11 +0", "11 -1"], ["1 +0"]]


def test_ask_is_false_for_those_without_a_solution() -> None:
    engine = Engine()
    text = f"PREFIX : <{NAMESPACE}> ASK {{ STREAM <{S}> [RANGE 10] {{ ?x :at %s }} }}"
    queries = [engine.register(text % room, output="changes") for room in (":hall", ":lab")]
    engine.push(S, nt("a at hall"), at_ms=1)
    assert runs(engine) == 1
    assert [emitted(q) for q in queries] == [["1 +true"], ["1 +false"]]
    assert [q.solutions() for q in queries] == [True, False]


def test_constants_of_templates_are_each_members_own() -> None:
    engine = named("a", "b")
    text = f"""PREFIX : <{NAMESPACE}> CONSTRUCT {{ :%s :near ?y }} WHERE {{
        STREAM <{S}> [RANGE 10] {{ ?x :at ?y }} ?x :name "%s" }}"""
    queries = [engine.register(text % (p, p)) for p in ("a", "b")]
    engine.push(S, nt("a at l", "b at m"), at_ms=1)
    assert runs(engine) == 1
    assert [emitted(q) for q in queries] == [["1 +a near l"], ["1 +b near m"]]


def test_each_member_has_its_answers_in_order() -> None:
    engine = Engine()
    text = f"""PREFIX : <{NAMESPACE}> SELECT ?y {{
        STREAM <{S}> [RANGE 10] {{ :%s :at ?y . ?y :rank ?r }} }} ORDER BY DESC(?r)"""
    queries = [engine.register(text % person) for person in "ab"]
    engine.push(S, nt("a at l1", "a at l2", "b at l2", "b at l3", "l1 rank r1", "l2 rank r2", "l3 rank r0"), at_ms=1)
    assert runs(engine) == 1
    assert [[s["y"].value[-2:] for s in q.solutions()] for q in queries] == [["l2", "l1"], ["l2", "l3"]]


def test_each_member_has_the_first_rows_of_its_own_order() -> None:
    engine = Engine()
    text = f"""PREFIX : <{NAMESPACE}> SELECT CHANGES ?x {{
        STREAM <{S}> [RANGE 10] {{ ?x :at :%s }} }} ORDER BY ?x LIMIT 1"""
    queries = [engine.register(text % room) for room in ("hall", "lab", "attic")]
    engine.push(S, nt("b at hall", "c at hall", "d at lab"), at_ms=1)
    engine.push(S, nt("a at lab"), at_ms=2)
    engine.finish()
    assert runs(engine) == 1
    assert emitted(queries[0]) == ["1 +b", "11 -b"]
    assert sorted(emitted(queries[1])) == sorted(["1 +d", "2 +a", "2 -d", "12 -a"])
    assert emitted(queries[2]) == []


@pytest.mark.parametrize(("cut", "kept"), [("LIMIT 1", "y"), ("OFFSET 1", "z")])
def test_a_slice_of_each_member_is_there_at_every_instant_at_which_it_holds(cut: str, kept: str) -> None:
    #       0     3     6     9    12
    #  hall  y z  y z   y z             RANGE 6 STEP 3
    #  lab           y z  y z   y z
    text = f"""PREFIX : <{NAMESPACE}> SELECT ?x {{
        STREAM <{S}> [RANGE 6 STEP 3] {{ ?x :at :%s }} }} ORDER BY ?x {cut}"""
    engine = Engine()
    queries = [engine.register(text % room, output="rstream") for room in ("hall", "lab")]
    engine.push(S, nt("y at hall", "z at hall"), at_ms=1)
    engine.push(S, nt("y at lab", "z at lab"), at_ms=4)
    engine.finish()
    assert runs(engine) == 1
    assert [emitted(q) for q in queries] == [[f"3 +{kept}", f"6 +{kept}"], [f"6 +{kept}", f"9 +{kept}"]]


def test_the_elements_of_a_table_are_changes_of_their_own_to_a_slice_of_each_member() -> None:
    engine = Engine()
    text = f"""PREFIX : <{NAMESPACE}> SELECT CHANGES ?x ?y {{
        STREAM <{S}> [EVENT] {{ ?x :near ?y }}
        {{ SELECT ?x {{ STREAM <{S}> [EVENT] {{ ?x :at :%s }} }} ORDER BY ?x LIMIT 1 }} }}"""
    queries = [engine.register(text % room) for room in ("hall", "lab")]
    elements = [("a at hall", "a near b"), ("b at lab", "b near c"), ("c at hall", "c near d"), ("d at lab", "d near e")]
    engine.push_table(S, table_of([(S, tuple(nt(t) for t in some), 1) for some in elements]))
    assert runs(engine) == 1
    assert emitted(queries[0]) == ["1 +a b", "1 -a b", "1 +c d", "1 -c d"]
    assert emitted(queries[1]) == ["1 +b c", "1 -b c", "1 +d e"]


def test_a_closed_member_is_gone_and_the_others_hear_nothing() -> None:
    engine = named("a", "b", "c")
    queries = [engine.register(where_is(p), output="rstream") for p in "abc"]
    engine.push(S, nt("a at l", "b at l"), at_ms=1)
    queries[0].close()
    assert [emitted(q) for q in queries] == [["1 +a l"], ["1 +b l"], []]
    engine.push(S, nt("b at m"), at_ms=2)
    assert [sorted(emitted(q)) for q in queries] == [[], ["2 +b l", "2 +b m"], []]
    assert answer_set(queries[1]) == ["b l", "b m"]


def test_the_last_to_close_frees_the_state() -> None:
    engine = named("a", "b")
    terms = engine.stats["terms"]
    queries = [engine.register(where_is(p)) for p in ("a", "b", "neither of them")]
    engine.push(S, nt("a at l"), at_ms=1)
    for query in queries:
        query.close()
    engine.advance_to(100)
    forget_all_that_may_be(engine)
    assert (runs(engine), engine.stats["stored"], engine.stats["terms"]) == (0, 0, terms)


@pytest.mark.parametrize("happens", ["push", "insert", "advance"])
def test_one_that_comes_after_something_has_happened_sees_only_what_follows(happens: str) -> None:
    engine = named("a", "b")
    first = engine.register(where_is("a"))
    match happens:
        case "push":
            engine.push(S, nt("a at l", "b at l"), at_ms=1)
        case "insert":
            engine.insert(nt("a at l"), at_ms=1)
        case _:
            engine.advance_to(1)
    second = engine.register(where_is("b"))
    engine.push(S, nt("a at m", "b at m"), at_ms=2)
    assert runs(engine) == 2
    assert emitted(first)[-1:] == ["2 +a m"]
    assert emitted(second) == ["2 +b m"]


def test_over_datasets_alone_one_may_come_at_any_time() -> None:
    engine = named("a", "b")
    text = f"PREFIX : <{NAMESPACE}> SELECT * {{ ?x :name %s ; :likes ?y }}"
    first = engine.register(text % '"a"')
    engine.insert(nt("a likes tea", "b likes cake"), at_ms=5)
    second, again = engine.register(text % '"b"'), engine.register(text % '"a"')
    engine.delete(nt("a likes tea"), at_ms=7)
    assert runs(engine) == 1
    assert emitted(first) == ["5 +a tea", "7 -a tea"]
    assert emitted(second) == ["5 +b cake"]
    assert emitted(again) == ["5 +a tea", "7 -a tea"]


def test_one_that_comes_when_the_first_thing_happened_before_t0_is_told_then() -> None:
    engine = named("a", "b", "c")
    text = f"PREFIX : <{NAMESPACE}> ASK {{ ?x :name %s ; :likes ?y }}"
    queries = [engine.register(text % name) for name in ('"a"', '"b"')]
    engine.insert(nt("a likes tea"), at_ms=-3)
    queries.append(engine.register(text % '"c"'))
    assert runs(engine) == 1
    assert [emitted(q) for q in queries] == [["0 +false", "-3 -false", "-3 +true"], ["0 +false"], ["-3 +false"]]


APART = {
    "what would be multiplied out": "SELECT ?x {{ {stream} {{ ?x :at ?y OPTIONAL {{ ?y :in {node} }} }} }}",
    "blank nodes of its own": "CONSTRUCT {{ ?x :seen [] }} WHERE {{ {stream} {{ ?x :at {node} }} }}",
    "predicates": "SELECT ?x {{ {stream} {{ ?x {node} ?y }} }}",
}


@pytest.mark.parametrize("what", APART)
def test_what_gains_nothing_runs_apart(what: str) -> None:
    engine = Engine()
    text = f"PREFIX : <{NAMESPACE}> " + APART[what]
    for node in (":n0", ":n1"):
        engine.register(text.format(stream=f"STREAM <{S}> [RANGE 10]", node=node))
    assert len(engine._core.registry.all_parameterised) == 2


def test_what_is_refused_is_refused_when_it_is_registered() -> None:
    engine = Engine()
    for node in (":n0", ":n1"):
        with pytest.raises(UnsupportedQueryError):
            engine.register(over("RANGE 10", f"?x :p {node}", more="SERVICE :s { ?x :p ?y }"))


def test_explain_tells_who_shares() -> None:
    engine = named("a", "b", "c")
    queries = [engine.register(where_is(p)) for p in "abc"]
    assert "runs as one plan with 2 other queries" in queries[0].explain()
    assert '"a"' in queries[0].explain()
    queries[1].close()
    assert "runs as one plan with 1 other query" in queries[0].explain()
    queries[2].close()
    assert "other quer" not in queries[0].explain()
