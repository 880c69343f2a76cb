"""Many changes of datasets in one call are changes one after the other.

The first tests compare calls that make many changes with the reference evaluator, which is shown each by itself: for queries
of all kinds that come and go, several graphs, late changes, inserts and deletes in vain, and queries that feed others. The
next compare with an engine that was called once a change, in all that it tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from millstream import DataError, Engine, MillstreamError, PendingLimitError
from tests.engine.any_query import any_sessions, family_sessions, sharing_sessions
from tests.engine.derived_streams import feeding_sessions
from tests.engine.edits import Item, Many, one_by_one
from tests.engine.machines import compare_runs, forget_all_that_may_be, run_session
from tests.engine.notation import emitted, nt
from tests.engine.scenarios import GRAPHS, Session, Step, sessions, triples

some = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def with_many(draw: st.DrawFn, kinds: st.SearchStrategy[Session]) -> Session:
    """A session in which many changes come where one did."""
    session = draw(kinds)
    steps = [_many(draw, step) if isinstance(step, Step) and _changes(step) else step for step in session.steps]
    return replace(session, steps=tuple(steps))


def _changes(step: Step) -> bool:
    return step.call in ("insert", "delete", "patch", "update", "load")


def _many(draw: st.DrawFn, step: Step) -> Step:
    way = draw(st.sampled_from(["many", "many", "patch", "update"]))
    timed = way == "many" and step.at_ms is not None and draw(st.booleans())
    now, items = step.at_ms or 0, []
    # Few triples, so that they come and go, come twice, and go in vain.
    few = draw(st.lists(triples, min_size=1, max_size=4))
    for _ in range(draw(st.integers(1, 14))):
        now += draw(st.sampled_from([0, 0, 0, 1, 2, -1]))
        count = draw(st.integers(0, 2)) if way == "many" else 1
        text = "\n".join(draw(st.sampled_from(few)) for _ in range(count))
        op, graph = draw(st.sampled_from(["insert", "insert", "delete"])), draw(st.sampled_from([*GRAPHS, step.target]))
        items.append((op, text, now if timed else None, graph))
    return Many(way, None, (), None, tuple(items))


@settings(some, max_examples=150)
@given(with_many(sessions()), st.booleans())
def test_patterns_answer_as_recomputed_after_each_change(session: Session, take_each: bool) -> None:
    run_session(session, take_each=take_each)


@settings(some, max_examples=150)
@given(with_many(st.one_of(any_sessions(), family_sessions(), sharing_sessions())), st.booleans())
def test_any_queries_answer_as_recomputed_after_each_change(session: Session, take_each: bool) -> None:
    run_session(session, take_each=take_each)


@some
@given(with_many(feeding_sessions()))
def test_queries_that_feed_others_answer_as_recomputed_after_each_change(session: Session) -> None:
    run_session(session)


@some
@given(with_many(st.one_of(sessions(), any_sessions())), st.booleans())
def test_no_term_is_forgotten_while_it_is_needed(session: Session, take_each: bool) -> None:
    compare_runs(session, forget_all_that_may_be, take_each=take_each)


@settings(some, max_examples=150)
@given(with_many(st.one_of(sessions(), any_sessions())), st.sampled_from([None, 3]), st.sampled_from([5, 10_000]))
def test_an_engine_tells_the_same_of_changes_made_one_by_one(session: Session, jump: int | None, most: int) -> None:
    options: dict[str, Any] = {"lateness_ms": session.lateness_ms, "max_jump_ms": jump, "max_pending": most}
    for step in session.steps:
        if isinstance(step, Many):
            together, alone = told(options, step.take), told(options, partial(one_by_one, items=step.items))
            assert together == alone


_ODD_TEXTS = st.sampled_from(
    [
        "",
        "\n",
        nt("a p b"),
        nt("a p b") + "\n",
        nt("a p c") + "\n\n# a comment\n" + nt("b p c"),
        nt("a p b") + "\r\n" + nt("d p c"),
        nt("a p c").encode(),
        "_:x <http://example.org/p> <http://example.org/b> .",
        '<http://example.org/a> <http://example.org/p> "\u00e9\u4e2d" .',
        '<http://example.org/a> <http://example.org/p> "\ud800" .',
        "<http://example.org/a> .",
        nt("b p c") + "\n" + nt("b p c") + "\n",
    ]
)
_ODD_ITEMS = st.tuples(
    st.sampled_from(["insert", "insert", "delete"]),
    st.one_of(st.just(nt("a p b")), _ODD_TEXTS),
    st.sampled_from([None, 3, 3, 3, 4, True]),
    st.sampled_from([None, None, "http://example.org/g", NamedNode("http://example.org/g"), "no IRI"]),
)


@settings(some, max_examples=300)
@given(st.lists(_ODD_ITEMS, max_size=30), st.booleans())
def test_odd_items_are_made_as_by_single_calls(items: list[Any], plain: bool) -> None:
    """Texts with and without line ends, bytes, labels, surrogates, with and without times; the first error ends all."""
    if plain:
        items = [("insert" if op == "insert" else "delete", text, 3, None) for op, text, _, _ in items]

    def until_an_error(make: Callable[[Engine], None]) -> str:
        failed: list[str] = []

        def make_some(engine: Engine) -> None:
            try:
                make(engine)
            except MillstreamError as error:
                failed.append(f"{type(error).__name__} {error}")

        # Each engine has labels of its own.
        return re.sub(r"x[0-9a-f]{8}s", "xs", f"{told({}, make_some)} {failed}")

    together = until_an_error(lambda engine: engine.change_many(items))
    assert together == until_an_error(partial(one_by_one, items=items))


def told(options: dict[str, Any], make: Callable[[Engine], None]) -> tuple[object, ...]:
    """All that an engine tells after changes; how many terms it knows depends on when it last looked."""
    engine = Engine(**options)
    query = engine.register("SELECT CHANGES * WHERE { ?a ?b ?c } ORDER BY ?a ?b ?c LIMIT 2")
    too_many = False
    try:
        make(engine)
    except PendingLimitError:
        too_many = True
    stats = {name: count for name, count in engine.stats.items() if name != "terms"}
    # Answers of one change come in no order that means anything: by ids, and a term that was forgotten gets another.
    answers = sorted(emitted(query), key=lambda answer: (int(answer.split()[0]), answer))
    return too_many, stats, [str(r) for r in engine.rejected()], engine.clock_ms, answers


PATTERN = "SELECT CHANGES ?x ?y WHERE { ?x <http://example.org/p> ?y }"


def many(*edits: str, at_ms: int | None = None) -> list[Item]:
    return [("insert" if edit[0] == "+" else "delete", nt(edit[1:]), at_ms, None) for edit in edits]


def test_a_triple_that_comes_and_goes_in_one_call_is_told_each_time() -> None:
    engine = Engine()
    query = engine.register(PATTERN)
    engine.change_many(many("+a p b", "-a p b", "+a p b", "+a p b", "-c p d", "-a p b", "+c p d", at_ms=3))
    assert emitted(query) == ["3 +a b", "3 -a b", "3 +a b", "3 -a b", "3 +c d"]
    assert engine.stats["changes"] == 5


@pytest.mark.parametrize("place", [0, 3, 8])
def test_changes_before_one_that_is_malformed_stand(place: int) -> None:
    engine = Engine()
    query = engine.register(PATTERN)
    items = many(*(f"+a{n} p b" for n in range(9)))
    items[place] = ("insert", f"{nt('x p y')}\n<http://example.org/a> .", None, None)
    with pytest.raises(DataError, match="line 2") as caught:
        engine.change_many(items)
    assert emitted(query) == [f"0 +a{n} b" for n in range(place)]
    with pytest.raises(DataError) as alone:
        Engine().insert(items[place][1])
    assert str(caught.value) == str(alone.value)


@pytest.mark.parametrize(
    "bad", [("add", "", None, None), (["insert"], "", None, None), ("insert", "", 0.5, None), ("insert", "", None, ["g"])]
)
def test_changes_before_one_that_cannot_be_stand(bad: Any) -> None:
    engine = Engine()
    query = engine.register(PATTERN)
    with pytest.raises(MillstreamError):
        engine.change_many([*many(*(f"+a{n} p b" for n in range(8))), bad, *many("+c p d")])
    assert emitted(query) == [f"0 +a{n} b" for n in range(8)]


def test_labels_of_blank_nodes_are_nodes_of_their_change() -> None:
    engine = Engine()
    query = engine.register("SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE { ?x <http://example.org/p> ?y }")
    engine.change_many([("insert", "_:a <http://example.org/p> <http://example.org/b> .", None, None)] * 9)
    assert [str(row["n"].value) for row in query.solutions()] == ["9"]
