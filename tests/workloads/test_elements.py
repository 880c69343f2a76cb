"""Generated streams: the same bytes for the same seed, of the size asked for, well-formed, as large as documented."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path

import pyoxigraph as ox
import pytest

from benchmarks.workloads import WORKLOADS, Element, conference, meters, snb, social, taxi
from benchmarks.workloads.elements import grouped, joined, one_by_one
from benchmarks.workloads.patterns import lines
from benchmarks.workloads.universities import real_university
from tests.suites import suite

GENERATORS: dict[str, Callable[[int, int], Iterator[Element]]] = {
    "meters": meters.elements,
    "taxi": taxi.elements,
    "social": social.elements,
    "conference": conference.elements,
}


def parsed(text: str) -> list[ox.Quad]:
    return list(ox.parse(text, format=ox.RdfFormat.N_TRIPLES))


@pytest.mark.parametrize("name", GENERATORS)
def test_a_seed_gives_the_same_bytes_and_another_seed_gives_others(name: str) -> None:
    def made(seed: int) -> list[Element]:
        return list(GENERATORS[name](3_000, seed))

    assert made(1) == made(1)
    assert joined(made(1)) != joined(made(2))


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("size", [1, 999, 5_000])
def test_elements_make_up_the_triples_asked_for_or_just_more(name: str, size: int) -> None:
    made = list(WORKLOADS[name].elements(size))
    assert sum(element.triples for element in made) >= size
    assert sum(element.triples for element in made[:-1]) < size


@pytest.mark.parametrize("name", WORKLOADS)
def test_elements_are_n_triples_without_repeats_and_their_times_do_not_go_back(name: str) -> None:
    latest = 0
    for element in WORKLOADS[name].elements(2_000):
        triples = parsed(element.text)
        assert len(set(triples)) == len(triples) == element.triples
        assert element.at_ms >= latest
        latest = element.at_ms


@pytest.mark.parametrize("name", WORKLOADS)
def test_graphs_at_rest_are_n_triples_without_repeats(name: str) -> None:
    for graph in WORKLOADS[name].background(20_000).values():
        text = "".join(graph)
        assert len(set(parsed(text))) == text.count("\n")


def test_an_observation_has_twenty_triples_and_a_trip_twenty_four() -> None:
    assert {element.triples for element in meters.elements(500)} == {meters.TRIPLES} == {20}
    assert {element.triples for element in taxi.elements(500)} == {taxi.TRIPLES} == {24}


def test_trips_go_on_after_a_block() -> None:
    made = list(taxi.elements(taxi.TRIPLES * 20_100))
    assert len(made) == 20_100
    assert all(a.at_ms <= b.at_ms for a, b in pairwise(made))


def test_a_post_has_all_that_its_star_asks_for() -> None:
    posts = [e for e in social.elements(5_000, apart=True) if "/post" in e.text and "vocabulary/Post>" in e.text]
    predicates = {q.predicate.value for q in parsed(posts[0].text)}
    assert {str(ox.NamedNode(p)) for p in predicates} >= {p for _, p, _ in social.STAR}
    assert {e.stream for e in social.elements(5_000, apart=True)} == set(social.STREAMS.values())


def test_a_week_has_the_triples_asked_for() -> None:
    weeks = list(islice(social.weekly(10_000), 3))
    assert [week.at_ms for week in weeks] == [0, social.WEEK_MS, 2 * social.WEEK_MS]
    assert all(10_000 <= week.triples < 10_020 for week in weeks)


def test_friends_are_each_others() -> None:
    assert all(n in social.friends(friend, 50) for n in range(50) for friend in social.friends(n, 50))


@pytest.mark.parametrize("size", [10_000, 50_000])
def test_a_bibliography_is_about_as_large_as_asked_for_and_begins_like_a_larger_one(size: int) -> None:
    text, larger = "".join(conference.bibliography(size)), "".join(conference.bibliography(2 * size))
    assert size <= text.count("\n") < size + 20_000
    assert larger.startswith(text)


def test_the_floor_plan_has_as_many_triples_as_the_papers() -> None:
    assert "".join(conference.floor_plan()).count("\n") == 172


def test_elements_can_be_taken_apart_and_put_together() -> None:
    made = list(meters.elements(200))
    assert all(element.triples == 1 for element in one_by_one(made))
    assert joined(one_by_one(made)) == joined(made) == joined(grouped(made, 3))
    assert [element.triples for element in grouped(made, 3)] == [60, 60, 60, 20]


def test_real_trips_have_as_many_triples() -> None:
    suite("debs2015")
    made = list(taxi.elements(2_000, real=True))
    assert {element.triples for element in made} == {24}
    assert made[0].at_ms == 120_000


def test_the_papers_own_conference_can_be_used() -> None:
    suite("cqels-conference")
    assert "".join(conference.real_background()[conference.PLAN]).count("\n") == 172
    assert len(list(conference.real_elements(20_000))) == 10_000
    assert conference.real_names()[0] == "Paul Erdoes"


def test_the_ldbcs_own_stream_is_read_in_the_words_of_the_seeded_one() -> None:
    suite("ldbc-snb")
    made = list(snb.elements(1_000_000))
    assert len(made) == 818 + 656 + 1_271 + 1_296 + 189
    assert all(a.at_ms <= b.at_ms for a, b in pairwise(made))
    for element in made[::50]:
        triples = parsed(element.text)
        assert len(set(triples)) == len(triples)
    people = "".join(snb.people())
    assert people.count("/knows>") == 2 * 825


def test_lubms_own_university_has_all_its_triples(tmp_path: Path) -> None:
    unpacked = tmp_path / "lubm1.nt"
    unpacked.write_bytes(gzip.decompress((suite("lubm") / "lubm1.nt.gz").read_bytes()))
    triples = list(real_university())
    assert len(triples) > 100_000
    assert set(parsed("".join(lines(iter(triples))))) == set(ox.parse(path=unpacked, format=ox.RdfFormat.N_TRIPLES))
