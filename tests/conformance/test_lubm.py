"""LUBM's fourteen queries on one university with its inferences: streamed, and over a dataset that comes and goes.

The expected numbers of rows are those of the suite's reference answers on the materialised data.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from millstream import Engine
from tests.engine.changing_dataset import fill
from tests.suites import suite

EXPECTED = dict(enumerate((4, 0, 6, 34, 719, 7790, 67, 7790, 208, 4, 224, 15, 1, 5916), 1))
S = "http://example.org/lubm"


@pytest.fixture(scope="module")
def lubm() -> Path:
    return suite("lubm")


def text(lubm: Path, number: int) -> str:
    return (lubm / "queries" / f"LUBM{number}.rq").read_text()


def over_stream(query: str) -> str:
    head, body = query.split("{", 1)
    inner, _, rest = body.rpartition("}")
    return f"{head}{{ STREAM <{S}> [ALL] {{ {inner} }} }}{rest}"


def test_streamed_under_all_it_has_the_recorded_answers(lubm: Path) -> None:
    engine = Engine()
    queries = {n: engine.register(over_stream(text(lubm, n)), output="changes") for n in EXPECTED}
    engine.read(S, str(lubm / "lubm1_materialised.nt.gz"), time="rate:1000")
    engine.finish()
    assert {n: len(query.solutions()) for n, query in queries.items()} == EXPECTED


@pytest.mark.slow
def test_a_dataset_that_comes_and_goes_has_the_recorded_answers_once_it_is_whole(lubm: Path) -> None:
    whole = gzip.decompress((lubm / "lubm1_materialised.nt.gz").read_bytes()).decode().splitlines()
    engine = Engine()
    queries = {n: engine.register(text(lubm, n), output="changes") for n in EXPECTED}
    assert fill(engine, whole, seed=3) > len(whole)
    assert {n: len(query.solutions()) for n, query in queries.items()} == EXPECTED
