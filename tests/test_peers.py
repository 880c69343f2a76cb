"""The peers of the benchmarks: each answers as pyoxigraph does, windows hold what they should, wrong answers are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.curves import Curves
from benchmarks.peers import ours
from benchmarks.peers.asking import Peer, Thoroughness, ask, ask_all, plan
from benchmarks.peers.contents import Element, changes, content, sliding, summarised, tumbling
from benchmarks.peers.question import Comparison, Question, Triple, connected
from benchmarks.peers.store import OXIGRAPH, REJOIN, Solutions, stores

INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
P, Q, R = (f"<http://example.org/{name}>" for name in "pqr")
QUESTIONS = {
    "chain": Question([("?a", P, "?b"), ("?b", Q, "?c")]),
    "star": Question([("?a", P, "?b"), ("?a", Q, "?c"), ("?a", R, "?d")]),
    "triangle": Question([("?a", P, "?b"), ("?b", Q, "?c"), ("?c", R, "?a")]),
    "constant": Question([("?a", P, "<http://example.org/n1>"), ("?a", Q, "?b")]),
    "same predicate": Question([("?a", P, "?b"), ("?b", P, "?c")]),
}
MAKES = stores()


def node(number: int) -> str:
    return f"<http://example.org/n{number}>"


triples = st.tuples(st.integers(0, 5).map(node), st.sampled_from([P, Q, R]), st.integers(0, 5).map(node))
graphs = st.lists(triples, unique=True, max_size=25)


def test_all_peers_of_the_extra_are_installed_or_said_to_be_absent() -> None:
    from benchmarks.peers.store import absent

    assert {REJOIN, OXIGRAPH} <= set(MAKES)
    assert len(MAKES) + len(absent()) == 4


@pytest.mark.parametrize("name", [name for name in MAKES if name != OXIGRAPH])
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
@settings(max_examples=15, deadline=None)
@given(before=graphs, after=graphs)
def test_a_store_that_changed_answers_as_another(
    name: str, question: Question, before: list[Triple], after: list[Triple]
) -> None:
    found: list[Solutions] = []
    for make in (MAKES[name], MAKES[OXIGRAPH]):
        store = make(question)
        store.insert(store.prepare(before))
        store.delete(store.prepare([triple for triple in before if triple not in after]))
        store.insert(store.prepare([triple for triple in after if triple not in before]))
        found.append(store.solutions())
        assert store.count() == found[-1].total()
    assert found[0] == found[1]


streams = st.lists(st.tuples(st.integers(0, 4), st.lists(triples, max_size=3)), min_size=2, max_size=12)


def elements_of(drawn: Sequence[tuple[int, list[Triple]]]) -> list[Element]:
    at_ms, found = 0, []
    for gap, some in drawn:
        at_ms += gap
        found.append(Element(at_ms, some))
    return found


@given(streams, st.integers(1, 6), st.booleans())
def test_changes_lead_from_one_content_to_the_next(drawn: list[tuple[int, list[Triple]]], length: int, slides: bool) -> None:
    elements = elements_of(drawn)
    first = sliding(elements, length) if slides else tumbling(elements, length)
    held = set(content(elements, first, 0))
    for change in changes(elements, first, 0, len(elements) - 1):
        assert not held & set(change.inserted)
        assert held >= set(change.deleted)
        held = (held - set(change.deleted)) | set(change.inserted)
        now = elements[change.number].at_ms
        begin = now - length if slides else (now - 1) // length * length
        visible = {t for e in elements[: change.number + 1] if e.at_ms > begin for t in e.triples}
        assert held == visible == set(content(elements, first, change.number))


@pytest.mark.parametrize("slides", [True, False], ids=["sliding", "tumbling"])
@settings(max_examples=20, deadline=None)
@given(drawn=streams, length=st.integers(1, 6))
def test_the_engine_holds_after_every_element_what_a_store_finds_in_the_window(
    slides: bool, drawn: list[tuple[int, list[Triple]]], length: int
) -> None:
    #  0   r   2r        RANGE 1ms SLIDE r:  ]---]---]   asked after every element
    #  x---)             RANGE r
    question = QUESTIONS["chain"]
    # One element a millisecond: answer sets are looked at by time.
    elements = [Element(number, e.triples) for number, e in enumerate(elements_of(drawn)) if e.triples]
    if len(elements) < 2:
        return
    query = question.over(ours.STREAM, f"RANGE {length}ms" if slides else f"RANGE 1ms SLIDE {length}ms")
    first = sliding(elements, length) if slides else tumbling(elements, length)
    held = ours.solutions_after(query, ours.as_table(elements), {element.at_ms for element in elements})
    for number, element in enumerate(elements):
        store = MAKES[OXIGRAPH](question)
        store.insert(store.prepare(content(elements, first, number)))
        assert held[element.at_ms] == store.solutions()


def stream_of_links(count: int) -> list[Element]:
    return [Element(k, [(node(k % 7), (P, Q)[k % 2], node(k * 3 % 7))]) for k in range(count)]


def test_all_peers_are_compared_at_the_same_places_and_timed() -> None:
    question, elements = QUESTIONS["chain"], stream_of_links(60)
    query, table = question.over(ours.STREAM, "RANGE 20ms"), ours.as_table(elements)
    asked = ask_all(
        {"each": Peer(OXIGRAPH), "tenth": Peer(REJOIN, 10)},
        *(question, elements, sliding(elements, 20), Thoroughness(3, 2, 10.0)),
        lambda instants: ours.solutions_after(query, table, instants),
    )
    assert [(len(a.seconds), a.stopped, a.wrong, a.every) for a in asked.values()] == [(3, False, "", 1), (3, False, "", 10)]
    assert all((a.second or 0) > 0 for a in asked.values())


def test_a_store_with_other_answers_is_told_and_not_timed() -> None:
    question, elements = QUESTIONS["chain"], stream_of_links(30)
    where = plan(30, 2, 3)
    expected: dict[int, Solutions] = {number: Counter({("<a:a>",) * 3: 1}) for number in where.compared}
    found = ask(MAKES[OXIGRAPH], question, elements, sliding(elements, 5), where, expected, Thoroughness(2, 3, 1.0))
    assert "solutions too many, 1 missing" in found.wrong
    assert found.second is None


def test_a_store_that_takes_too_long_is_stopped() -> None:
    class Slow:
        def __init__(self, _: Question) -> None: ...
        def prepare(self, some: Sequence[Triple]) -> Sequence[Triple]:
            return some

        def insert(self, _: object) -> None: ...
        def delete(self, _: object) -> None: ...
        def count(self) -> int:
            while True:
                pass

        def solutions(self) -> Solutions:
            return Counter()

    elements = stream_of_links(10)
    found = ask(
        Slow, QUESTIONS["chain"], elements, sliding(elements, 5), plan(10, 2, 1), {}, Thoroughness(2, 1, 0.1, patience_s=0.2)
    )
    assert (found.stopped, found.second) == (True, None)


def test_a_summary_keeps_what_a_pattern_matches_and_its_comparison_lets_through() -> None:
    low, high = (f'"{number}"^^<{INTEGER}>' for number in (3, 30))
    question = Question([("?a", P, "?b"), ("?a", Q, "?c")], [Comparison("b", ">", 10)])
    elements = [
        Element(0, [(node(0), P, low), (node(0), Q, low)]),
        Element(1, [(node(0), R, high)]),
        Element(2, [(node(1), P, high)]),
    ]
    assert summarised(elements, question) == [Element(0, [(node(0), Q, low)]), Element(2, [(node(1), P, high)])]
    assert question.plain() == f"SELECT ?a ?b ?c WHERE {{ ?a {P} ?b . ?a {Q} ?c . FILTER (?b > 10) }}"


def test_patterns_are_taken_in_a_connected_order() -> None:
    patterns = [("?a", P, "?b"), ("?c", Q, "?d"), ("?b", R, "?c")]
    assert [number for number, _ in connected(patterns)] == [0, 2, 1]


def test_curves_show_medians_spread_and_gaps() -> None:
    curves = Curves()
    curves.add("millstream", 10, [1.0, 3.0, 2.0])
    curves.add("peer", 10, [5.0], stopped=True)
    curves.add("millstream", 100, [4.0])
    first, second = curves.series()
    assert (list(first.ys), list(first.low), list(first.high)) == ([2.0, 4.0], [1.0, None], [3.0, None])
    assert (list(second.ys), list(second.stopped)) == ([5.0, None], [True, False])
    assert curves.best(10, without=("millstream",)) == 5.0
    assert curves.row(100) == [4.0, None]
    # Nothing at all before a limit is more than nothing known.
    curves.add("peer", 100, [None], stopped=True)
    assert curves.row(100) == [4.0, "time-out"]
