"""SP2Bench's seventeen queries as they are: streamed, and over a dataset that changes until it is whole.

The expected numbers of rows, and the truth of those that ask, are the suite's.
"""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import pyoxigraph as ox
import pytest

from millstream import ContinuousQuery, Engine
from tests.engine.changing_dataset import fill
from tests.suites import suite

S = "http://example.org/sp2b"


@pytest.fixture(scope="module")
def sp2b() -> Path:
    return suite("sp2b")


def expected(sp2b: Path, size: str) -> dict[str, int | bool]:
    with (sp2b / "expected_rows.tsv").open() as lines:
        found = {row["query"]: row[size] for row in csv.DictReader(lines, delimiter="\t")}
    return {name: int(text) if text.isdigit() else text == "true" for name, text in found.items()}


def text(sp2b: Path, name: str) -> str:
    return (sp2b / f"{name}.sparql").read_text()


def over_stream(query: str) -> str:
    """The query over all that a stream ever had: its outermost group becomes that of a STREAM block."""
    start = re.search(r"(?:WHERE|ASK)\s*\{", query)
    assert start is not None
    depth, place = 1, start.end()
    while depth:
        depth += {"{": 1, "}": -1}.get(query[place], 0)
        place += 1
    return f"{query[: start.end()]} STREAM <{S}> [ALL] {{ {query[start.end() : place]} {query[place - 1 :]}"


def outcome(query: ContinuousQuery) -> int | bool:
    found = query.solutions()
    weights = sum(query.take_table()["weight"].to_pylist())
    if isinstance(found, bool):
        assert weights == 1
        return found
    assert weights == len(found)
    return len(found)


def triples(sp2b: Path, size: int) -> list[ox.Triple]:
    data = gzip.decompress((sp2b / f"sp2b_{size}.ttl.gz").read_bytes())
    return [quad.triple for quad in ox.parse(data, format=ox.RdfFormat.TURTLE)]


@pytest.mark.parametrize(("size", "column"), [(10_000, "10k"), pytest.param(50_000, "50k", marks=pytest.mark.slow)])
def test_streamed_under_all_it_has_the_recorded_answers(sp2b: Path, size: int, column: str) -> None:
    wanted = expected(sp2b, column)
    engine = Engine()
    queries = {name: engine.register(over_stream(text(sp2b, name)), output="changes") for name in wanted}
    lines = "".join(f"{triple} .\n" for triple in triples(sp2b, size))
    engine.read(S, lines.encode(), format="nt", time="rate:1000")
    engine.finish()
    assert {name: outcome(query) for name, query in queries.items()} == wanted


@pytest.mark.parametrize("seed", [1, 2])
def test_a_dataset_that_comes_and_goes_has_the_recorded_answers_once_it_is_whole(sp2b: Path, seed: int) -> None:
    wanted = expected(sp2b, "10k")
    engine = Engine()
    queries = {name: engine.register(text(sp2b, name), output="changes") for name in wanted}
    found = triples(sp2b, 10_000)
    assert fill(engine, found, seed=seed) > len(found)
    assert {name: outcome(query) for name, query in queries.items()} == wanted
