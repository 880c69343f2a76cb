"""Every query of every workload has answers over a small instance, and they are those of the reference evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

import pyoxigraph as ox
import pytest

from benchmarks.workloads import Element, conference, edits, meters, snb, social, taxi
from millstream import Engine
from millstream.ingest.triples import coerce_triples
from tests.reference import ELEMENT, Reference
from tests.suites import suite

DECIMAL = ox.NamedNode("http://www.w3.org/2001/XMLSchema#decimal")


def by_value(term: Any) -> Any:
    """Decimals by their value: the judge's store does not keep their spelling."""
    return Decimal(term.value) if isinstance(term, ox.Literal) and term.datatype == DECIMAL else term


def agree(text: str, elements: Iterable[Element], background: Mapping[str | None, Iterable[str]], every: int) -> int:
    """Compares answer sets after every so many elements; gives how many answers there were."""
    return agree_at(text, list(elements), background, lambda number, _: number % every == 0)


def agree_at(
    text: str,
    elements: Iterable[Element],
    background: Mapping[str | None, Iterable[str]],
    sampled: Callable[[int, Element], bool],
) -> int:
    """The same after some elements."""
    engine, reference = Engine(), Reference()
    for graph, pieces in background.items():
        triples = "".join(pieces)
        engine.insert(triples, graph=graph)
        reference.load(coerce_triples(triples), graph=graph)
    query, expected = engine.register(text), reference.register(text)
    # Its windows are filled by hand: only sampled answer sets are recomputed.
    seen = 0
    for number, element in enumerate(elements, 1):
        stream, at_ms, triples = element
        engine.push(stream, triples, at_ms)
        for window in expected.windows.values():
            if window.window.stream.value == stream:
                window.arrive(tuple(coerce_triples(triples)), at_ms)
        if sampled(number, element):
            if "CONSTRUCT" in text:
                found = Counter((triple,) for triple in query.solutions())
            else:
                found = Counter(tuple(by_value(row.get(v)) for v in query.variables) for row in query.solutions())
            wanted = expected.evaluate((at_ms, ELEMENT))
            assert found == Counter({tuple(map(by_value, row)): n for row, n in wanted.items()})
            seen += len(found)
    return seen


@pytest.mark.parametrize("name", ["Q1", "Q2"])
def test_power_meters(name: str) -> None:
    assert agree(meters.queries("RANGE 10m")[name], meters.elements(8_000, meters=20), {}, every=57)


def test_the_second_query_over_meters_selects_a_few_of_the_first() -> None:
    counts = {}
    for name, text in meters.queries("RANGE 365d").items():
        engine = Engine()
        query = engine.register(text)
        for stream, at_ms, triples in meters.elements(40_000):
            engine.push(stream, triples, at_ms)
        counts[name] = len(query.take())
    assert counts["Q1"] == 2_000
    assert 0.01 < counts["Q2"] / counts["Q1"] < 0.1


@pytest.mark.parametrize("name", list(taxi.PATTERNS))
@pytest.mark.parametrize("window", ["EVENT", "RANGE 10m"])
def test_taxi_trips(name: str, window: str) -> None:
    assert agree(taxi.queries(window)[name], taxi.elements(5_000), {}, every=13)


@pytest.mark.parametrize("name", list(social.PATTERNS))
def test_the_social_network(name: str) -> None:
    made = social.elements(8_000, persons=100)
    assert agree(social.queries("RANGE 5m")[name], made, {None: social.people(100)}, every=191)


@pytest.mark.parametrize("count", [1, 6, 14])
def test_any_first_part_of_a_posts_star_is_a_query(count: int) -> None:
    text = f"SELECT * {{ STREAM <{social.STREAM}> [EVENT] {{ {social.body(social.STAR[:count])} }} }}"
    assert agree(text, social.elements(2_000), {}, every=3)


def test_the_ldbcs_own_social_network() -> None:
    suite("ldbc-snb")
    assert agree(social.queries("EVENT")["star"], snb.elements(8_000), {}, every=5)


@pytest.mark.parametrize("name", ["posts", "tags", "likes"])
def test_the_social_network_in_streams_of_its_own(name: str) -> None:
    made = social.elements(20_000, persons=60, apart=True)
    assert agree(social.apart_queries("RANGE 5m")[name], made, {None: social.people(60)}, every=397)


@pytest.mark.parametrize("name", ["Q1", "Q2", "Q3", "Q4", "Q5"])
def test_the_conference(name: str) -> None:
    # Windows of one triple show something when the one whom the queries ask about is detected.
    asked = conference.author_iri(0)
    found = agree_at(
        conference.queries()[name],
        conference.elements(160),
        conference.background(3_000),
        lambda _, element: asked in element.text,
    )
    assert found


@pytest.mark.parametrize("name", list(edits.PATTERNS))
def test_a_graph_that_is_edited(name: str) -> None:
    assert edited(edits.seeded_edits(10_000, 1_000), name, every=100)


@pytest.fixture(scope="module")
def wikidata() -> edits.Edited:
    """The first quarter of the edits."""
    suite("wikidata-updates")
    given = edits.wikidata_edits()
    return edits.Edited(given.base, given.edits[:6_000], given.patterns)


@pytest.mark.parametrize("name", ["ground", *edits.WIKIDATA])
def test_the_edits_of_wikidata(name: str, wikidata: edits.Edited) -> None:
    assert edited(wikidata, name, every=1_000)


def edited(given: edits.Edited, name: str, every: int) -> int:
    """Compares the answers with those of a store after every so many edits; gives how many changes there were."""
    text = edits.query(given.patterns[name])
    engine, store = Engine(), ox.Store()
    engine.insert("".join(given.base))
    store.extend(ox.parse("".join(given.base), format=ox.RdfFormat.N_TRIPLES))
    query = engine.register(text)
    query.take()
    for number, (insert, line) in enumerate(given.edits, 1):
        (engine.insert if insert else engine.delete)(line)
        (store.add if insert else store.remove)(quad(line))
        if number % every == 0:
            result: Any = store.query(text)
            if isinstance(result, ox.QueryBoolean):
                assert query.solutions() == bool(result)
            else:
                names = [v.value for v in result.variables]
                wanted = Counter(tuple(row[v] for v in names) for row in result)
                assert Counter(tuple(row[v] for v in names) for row in query.solutions()) == wanted
    return len(query.take())


def quad(line: str) -> ox.Quad:
    return next(iter(ox.parse(line, format=ox.RdfFormat.N_TRIPLES)))


def test_every_seeded_edit_changes_the_graph() -> None:
    given = edits.seeded_edits(1_000, 2_000)
    present = set(given.base)
    assert len(present) == 1_000
    for insert, line in given.edits:
        assert (line in present) != insert
        (present.add if insert else present.remove)(line)
    assert 950 < len(present) < 1_050
