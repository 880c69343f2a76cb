"""What experiments compute by themselves, apart from measuring: tables of elements, powers of growth, the least to keep."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from benchmarks.experiments.dynamic import cached
from benchmarks.experiments.operators import _power
from benchmarks.recomputing import Recomputing, answer_set
from benchmarks.workloads import conference, social
from benchmarks.workloads.elements import Element, as_table
from benchmarks.workloads.grown import OPERATORS
from millstream import Engine

E = "http://example.org/"


def triple(text: str) -> str:
    return " ".join(f"<{E}{name}>" for name in text.split()) + " .\n"


def graph(*triples: str) -> ox.Store:
    store = ox.Store()
    store.load("".join(map(triple, triples)).encode(), format=ox.RdfFormat.N_TRIPLES)
    return store


def pattern(text: str) -> tuple[str, str, str]:
    s, p, o = (term if term.startswith("?") else f"<{E}{term}>" for term in text.split())
    return s, p, o


def test_a_table_of_elements_gives_the_answers_of_its_texts() -> None:
    made = list(social.elements(1_000))
    texts, table = Engine(), Engine()
    queries = [engine.register(social.queries("RANGE 1m")["star"], output="changes") for engine in (texts, table)]
    for stream, at_ms, text in made:
        texts.push(stream, text, at_ms)
    table.push_table(social.STREAM, as_table(made))
    assert queries[0].take_table().to_pylist() == queries[1].take_table().to_pylist()


def test_a_ground_pattern_needs_to_keep_which_of_its_triples_there_are() -> None:
    store = graph("a p b", "b q c", "x p y")
    assert cached(store, [pattern("a p b"), pattern("b q c"), pattern("c r d")]) == (2, 2)


def test_a_star_needs_a_row_for_each_value_that_any_pattern_matches() -> None:
    # x is matched twice, y once, z by a pattern that has it as object.
    store = graph("x p a", "x q b", "y p a", "c r z", "w p b")
    assert cached(store, [pattern("?v p a"), pattern("?v q b"), pattern("c r ?v")]) == (4, 3)


def test_loose_stars_need_the_sum_and_their_ground_triples() -> None:
    store = graph("x p a", "y p a", "z q b", "a r b")
    assert cached(store, [pattern("?v p a"), pattern("?w q b"), pattern("a r b")]) == (4, 4)


def test_connected_variables_need_every_triple_that_matches() -> None:
    store = graph("x p y", "y q z", "v p w", "x r y")
    assert cached(store, [pattern("?a p ?b"), pattern("?b q ?c")]) == (3, 3)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_the_power_of_growth_is_the_slope_of_logarithms(power: float) -> None:
    assert _power((10, 100, 1_000), [3 * n**power for n in (10, 100, 1_000)]) == pytest.approx(power)


@pytest.mark.parametrize("name", OPERATORS)
def test_changes_of_an_operators_state_are_new_to_it(name: str) -> None:
    grown = OPERATORS[name]
    rows = {line for i in range(200) for line in grown.row(i).splitlines()}
    changes = [line for k in range(300) for line in grown.change(k, 200).splitlines()]
    assert len(set(changes)) == len(changes)
    assert rows.isdisjoint(changes)


def test_a_store_that_is_asked_again_follows_windows_and_graphs() -> None:
    text = conference.query("Q2", "")
    engine, store = Engine(), Recomputing(text, conference.background(1_000))
    for name, pieces in conference.background(1_000).items():
        engine.insert("".join(pieces), graph=name)
    query = engine.register(text)
    seen = 0
    for stream, at_ms, element in conference.elements(60):
        engine.push(stream, element, at_ms)
        store.arrive(stream, element, at_ms)
        wanted, _ = store.ask(at_ms)
        assert answer_set(query) == wanted
        seen += len(wanted)
    assert seen
    # Nothing is seen any more once the window of three seconds has passed.
    assert store.ask(at_ms + 3_000)[0].total() == 0


def test_an_element_is_told_by_its_lines() -> None:
    assert Element("s", 0, triple("a b c") + triple("d e f")).triples == 2
