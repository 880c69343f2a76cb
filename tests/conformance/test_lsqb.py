"""The nine counts of the labelled subgraph benchmark over its example network, with OPTIONAL and negation, streamed.

The network's tables become triples, friendship both ways as the benchmark loads it; posts and comments are messages. The
queries say in SPARQL what the suite's say in SQL.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from millstream import ContinuousQuery, Engine
from tests.engine.changing_dataset import fill
from tests.suites import suite

N = "http://example.org/lsqb/"
S = "http://example.org/network"

QUERIES = {
    1: """?city :isPartOf ?country . ?person :isLocatedIn ?city . ?city a :City . ?forum :hasMember ?person .
          ?forum :containerOf ?post . ?comment :replyOf ?post . ?comment :hasTag ?tag .
          ?tag :hasType ?class . ?post a :Post . ?comment a :Comment""",
    2: "?a :knows ?b . ?comment a :Comment ; :hasCreator ?a ; :replyOf ?post . ?post a :Post ; :hasCreator ?b",
    3: """?cityA :isPartOf ?country . ?cityB :isPartOf ?country . ?cityC :isPartOf ?country . ?country a :Country .
          ?a :isLocatedIn ?cityA . ?b :isLocatedIn ?cityB . ?c :isLocatedIn ?cityC .
          ?a :knows ?b . ?b :knows ?c . ?c :knows ?a""",
    4: "?message :hasTag ?tag ; :hasCreator ?creator . ?comment :replyOf ?message . ?person :likes ?message",
    5: "?message :hasTag ?tag . ?comment :replyOf ?message ; :hasTag ?other FILTER(?tag != ?other)",
    6: "?a :knows ?b . ?b :knows ?c FILTER(?a != ?c) ?c :hasInterest ?tag",
    7: """?message :hasTag ?tag ; :hasCreator ?creator OPTIONAL { ?comment :replyOf ?message }
          OPTIONAL { ?person :likes ?message }""",
    8: """?message :hasTag ?tag . ?comment :replyOf ?message ; :hasTag ?other FILTER(?tag != ?other)
          FILTER NOT EXISTS { ?comment :hasTag ?tag }""",
    9: "?a :knows ?b . ?b :knows ?c FILTER(?a != ?c) ?c :hasInterest ?tag FILTER NOT EXISTS { ?a :knows ?c }",
}


@pytest.fixture(scope="module")
def lsqb() -> Path:
    return suite("lsqb")


def triples(lsqb: Path) -> list[str]:
    found = []
    for path in sorted((lsqb / "social-network-sfexample-projected-fk").glob("*.csv")):
        with path.open() as lines:
            rows = list(csv.reader(lines, delimiter="|"))[1:]
        match path.stem.split("_"):
            case [kind]:
                found += [f"<{N}{kind}{row[0]}> <{RDF_TYPE}> <{N}{kind}> ." for row in rows]
            case [first, predicate, second]:
                found += [f"<{N}{first}{row[0]}> <{N}{predicate}> <{N}{second}{row[1]}> ." for row in rows]
                if predicate == "knows":
                    found += [f"<{N}{second}{row[1]}> <{N}{predicate}> <{N}{first}{row[0]}> ." for row in rows]
    return found


RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def expected(lsqb: Path) -> dict[int, int]:
    with (lsqb / "expected-output" / "expected-output.csv").open() as lines:
        rows = [row for row in csv.reader(lines, delimiter="\t") if row[2] == "example"]
    return {int(row[3]): int(row[5]) for row in rows}


def counting(pattern: str) -> str:
    return f"PREFIX : <{N}> SELECT (COUNT(*) AS ?n) {{ {pattern} }}"


def counts(queries: dict[int, ContinuousQuery]) -> dict[int, int]:
    return {number: int(query.solutions()[0]["n"].value) for number, query in queries.items()}


def test_streamed_under_all_it_has_the_recorded_counts(lsqb: Path) -> None:
    engine = Engine()
    queries = {n: engine.register(counting(f"STREAM <{S}> [ALL] {{ {QUERIES[n]} }}")) for n in QUERIES}
    for at_ms, triple in enumerate(triples(lsqb)):
        engine.push(S, triple, at_ms=at_ms)
    engine.finish()
    assert counts(queries) == expected(lsqb)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_network_that_comes_and_goes_has_the_recorded_counts_once_it_is_whole(lsqb: Path, seed: int) -> None:
    engine = Engine()
    queries = {n: engine.register(counting(QUERIES[n]), output="changes") for n in QUERIES}
    fill(engine, triples(lsqb), seed=seed)
    assert counts(queries) == expected(lsqb)
