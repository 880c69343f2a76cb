"""The seven join queries of LUBM, on one university: streamed, and as a dataset that changes until it is whole.

The expected counts are those that the suite records for the data without inferences.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from millstream import ContinuousQuery, Engine
from tests.engine.changing_dataset import fill
from tests.suites import suite

EXPECTED = {1: 0, 2: 828, 3: 0, 4: 10, 5: 10, 6: 125, 7: 30}
S = "http://example.org/lubm"


@pytest.fixture(scope="module")
def lubm() -> Path:
    return suite("lubm")


def lines(lubm: Path) -> list[str]:
    return gzip.decompress((lubm / "lubm1.nt.gz").read_bytes()).decode().splitlines()


def text(lubm: Path, number: int) -> str:
    return (lubm / "wukong_L1_L7" / f"lubm_q{number}.rq").read_text()


def over_stream(query: str, window: str) -> str:
    head, body = query.split("WHERE {", 1)
    return f"{head}WHERE {{ STREAM <{S}> [{window}] {{ {body.rstrip().removesuffix('}')} }} }}"


def check(queries: dict[int, ContinuousQuery], *, only_new: bool) -> None:
    solutions = {number: len(query.solutions()) for number, query in queries.items()}
    assert solutions == EXPECTED
    tables = {number: query.take_table() for number, query in queries.items()}
    assert {number: sum(table["weight"].to_pylist()) for number, table in tables.items()} == EXPECTED
    if only_new:
        assert {number: table.num_rows for number, table in tables.items()} == EXPECTED


@pytest.mark.parametrize("output", ["istream", "changes"])
def test_streamed_under_all_it_has_the_recorded_answers(lubm: Path, output: str) -> None:
    engine = Engine()
    queries = {n: engine.register(over_stream(text(lubm, n), "ALL"), output=output) for n in EXPECTED}
    engine.read(S, str(lubm / "lubm1.nt.gz"), time="rate:1000")
    engine.finish()
    assert engine.stats["triples"] == len(lines(lubm))
    check(queries, only_new=True)


def test_all_answers_of_a_window_that_holds_everything_disappear_in_the_end(lubm: Path) -> None:
    engine = Engine()
    queries = {n: engine.register(over_stream(text(lubm, n), "RANGE 1h"), output="changes") for n in EXPECTED}
    engine.read(S, str(lubm / "lubm1.nt.gz"), time="rate:1000")
    check(queries, only_new=True)
    engine.finish()
    for number, query in queries.items():
        assert query.take_table()["weight"].to_pylist() == [-1] * EXPECTED[number]
        assert query.stats["stored"] == 0


@pytest.mark.parametrize("seed", [1, 2])
def test_a_dataset_that_comes_and_goes_has_the_recorded_answers_once_it_is_whole(lubm: Path, seed: int) -> None:
    whole = lines(lubm)
    engine = Engine()
    queries = {number: engine.register(text(lubm, number), output="changes") for number in EXPECTED}
    assert fill(engine, whole, seed=seed) > len(whole)
    check(queries, only_new=False)
