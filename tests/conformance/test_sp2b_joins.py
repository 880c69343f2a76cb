"""SP2Bench's queries that are conjunctive but for what is done to their rows last, streamed and over a changing dataset.

Where a query says DISTINCT the test counts distinct rows itself, and it leaves out OPTIONAL and ORDER BY, which change no
count of query 2. The expected counts are those of the suite.
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

NAMES = ("q1", "q2", "q3a", "q3b", "q3c", "q4", "q5a", "q5b", "q10")
S = "http://example.org/sp2b"


@pytest.fixture(scope="module")
def sp2b() -> Path:
    return suite("sp2b")


def expected(sp2b: Path) -> dict[str, int]:
    with (sp2b / "expected_rows.tsv").open() as lines:
        return {row["query"]: int(row["10k"]) for row in csv.DictReader(lines, delimiter="\t") if row["query"] in NAMES}


def conjunctive(sp2b: Path, name: str) -> str:
    """The query without what is done to its rows last."""
    text = (sp2b / f"{name}.sparql").read_text().replace("DISTINCT", "")
    text = re.sub(r"OPTIONAL \{[^}]*\}", "", text).replace("?abstract", "")
    return re.sub(r"ORDER BY.*", "", text, flags=re.DOTALL)


def over_stream(query: str) -> str:
    head, body = re.split(r"WHERE\s*\{", query, maxsplit=1)
    return f"{head}WHERE {{ STREAM <{S}> [ALL] {{ {body.rstrip().removesuffix('}')} }} }}"


def counts(sp2b: Path, queries: dict[str, ContinuousQuery]) -> dict[str, int]:
    found = {}
    for name, query in queries.items():
        rows = [tuple(str(solution[v]) for v in query.variables) for solution in query.solutions()]
        table = query.take_table()
        assert sum(table["weight"].to_pylist()) == len(rows)
        distinct = "DISTINCT" in (sp2b / f"{name}.sparql").read_text()
        found[name] = len(set(rows)) if distinct else len(rows)
    return found


def triples(sp2b: Path) -> list[ox.Triple]:
    data = gzip.decompress((sp2b / "sp2b_10000.ttl.gz").read_bytes())
    return [quad.triple for quad in ox.parse(data, format=ox.RdfFormat.TURTLE)]


def test_streamed_under_all_it_has_the_recorded_answers(sp2b: Path) -> None:
    engine = Engine()
    queries = {name: engine.register(over_stream(conjunctive(sp2b, name))) for name in NAMES}
    lines = "".join(f"{triple} .\n" for triple in triples(sp2b))
    engine.read(S, lines.encode(), format="nt", time="rate:1000")
    engine.finish()
    assert counts(sp2b, queries) == expected(sp2b)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_dataset_that_comes_and_goes_has_the_recorded_answers_once_it_is_whole(sp2b: Path, seed: int) -> None:
    engine = Engine()
    queries = {name: engine.register(conjunctive(sp2b, name), output="changes") for name in NAMES}
    found = triples(sp2b)
    assert fill(engine, found, seed=seed) > len(found)
    assert counts(sp2b, queries) == expected(sp2b)
