"""Continuous queries on Spark: the answers are those of one engine, however the input is cut into files and triggers.

The queries are chosen so that every kind of window, way of output and way of spreading is there once; the
elements are drawn from a seed. Random queries go through the same cells without Spark in `test_cells_simulated`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from millstream.pipeline.job.specification import StreamedSource, job_spec
from tests.engine.scenarios import NODES, NUMBERS, PREDICATES
from tests.pipeline.feeding import job_of, run, written
from tests.pipeline.simulation import Element
from tests.pipeline.state.test_cells_simulated import Setting, expected

PREFIX = "PREFIX : <http://example.org/>\n"
S0, S1 = StreamedSource("http://example.org/s0"), StreamedSource("http://example.org/s1")
CHANGES = StreamedSource(None, changes=True, rate="1000")


def drawn(chance: random.Random, count: int, *, pace: int = 1, late: int = 0) -> tuple[Element, ...]:
    """Elements of one to three triples that come in order of time, unless they are late by up to so much."""
    now, found = 0, []
    for _ in range(count):
        now += chance.randrange(2 * pace + 1)
        triples = tuple(dict.fromkeys(triple(chance) for _ in range(chance.randint(1, 3))))
        found.append(Element(triples, max(0, now - chance.choice([0, 0, 0, late]))))
    return tuple(found)


def drawn_changes(chance: random.Random, count: int) -> tuple[Element, ...]:
    """A change of one triple every millisecond."""
    return tuple(Element((triple(chance),), at_ms, chance.choice([1, 1, -1])) for at_ms in range(count))


def triple(chance: random.Random) -> str:
    return f"{chance.choice(NODES)} {chance.choice(PREDICATES)} {chance.choice(NODES[:3] + NUMBERS)} ."


def setting(
    seed: int, query: str, sources: Sequence[StreamedSource], *, output: str | None = None, paces: Sequence[int] = (1, 1, 1),
    lateness_ms: int = 0, late: int = 0, loaded: int = 0, count: int = 24,
) -> Setting:  # fmt: skip
    chance = random.Random(seed)
    elements = tuple(
        drawn_changes(chance, count) if s.changes else drawn(chance, count // pace, pace=pace, late=late)
        for s, pace in zip(sources, paces, strict=False)
    )
    static = tuple(triple(chance) for _ in range(loaded))
    return Setting(PREFIX + query, output, lateness_ms, static, tuple(sources), elements)


CASES = {
    "a chain over two streams of different pace": (
        4, (2, 4),
        setting(1, "SELECT * { STREAM :s0 [RANGE 6] { ?a :p0 ?b } STREAM :s1 [RANGE 9] { ?b :p1 ?c } }",
                [S0, S1], output="changes", paces=(1, 3), count=60),
    ),
    "windows that close": (
        3, (4,),
        setting(2, "SELECT ?a ?b { STREAM :s0 [RANGE 6 STEP 2] { ?a :p0 ?b . ?a :p1 ?c } }", [S0], output="changes"),
    ),
    "eviction on a grid, a star": (
        2, (3,),
        setting(3, "SELECT * { STREAM :s0 [RANGE 5 SLIDE 3] { ?a :p0 ?b . ?a :p1 ?c } }", [S0], output="changes"),
    ),
    "so far on a grid": (
        3, (3,),
        setting(18, "SELECT ?a ?c { STREAM :s0 [LANDMARK 7] { ?a :p0 ?b . ?b :p1 ?c } }", [S0], output="changes", count=60),
    ),
    "everything so far, with datasets": (
        4, (3,),
        setting(4, "SELECT * { STREAM :s0 [ALL] { ?a :p0 ?b } ?b :p1 ?c GRAPH :g0 { ?c :p0 ?d } }", [S0], loaded=12),
    ),
    "a count of triples": (
        4, (3,), setting(5, "SELECT * { STREAM :s0 [TRIPLES 4] { ?a :p0 ?b . ?b :p1 ?c } }", [S0], output="changes"),
    ),
    "a session, which any element puts off": (
        4, (3,),
        setting(19, "SELECT * { STREAM :s0 [SESSION 2] { ?a :p0 ?b . ?b :p1 ?c } }", [S0], output="changes", count=60),
    ),
    "elements alone": (
        4, (3,), setting(6, "SELECT * { STREAM :s0 [EVENT] { ?a :p0 ?b } ?b :p1 ?c }", [S0], loaded=12),
    ),
    "all answers of every window": (
        2, (3,),
        setting(7, "REGISTER RSTREAM <http://o> AS SELECT * FROM NAMED WINDOW :w ON :s0 [RANGE 4 STEP 2] "
                "{ WINDOW :w { ?a :p0 ?b . ?b ?p ?c } }", [S0]),
    ),
    "a dataset that changes": (
        3, (3, 2),
        setting(8, "SELECT * { STREAM :s0 [RANGE 5] { ?a :p0 ?b } ?b :p1 ?c }", [S0, CHANGES], output="changes", loaded=6),
    ),
    "late elements": (
        2, (4,),
        setting(9, "SELECT * { STREAM :s0 [RANGE 4] { ?a :p0 ?b . ?b :p1 ?c } }", [S0],
                output="changes", lateness_ms=2, late=4, count=40),
    ),
    "a triangle in one cell": (
        1, (3,),
        setting(10, "SELECT * { STREAM :s0 [RANGE 9] { ?a :p0 ?b . ?b ?p ?c . ?c :p1 ?a } }", [S0],
                output="dstream", count=90),
    ),
    "groups by a variable, with what may be missing": (
        4, (3, 3),
        setting(11, "SELECT ?a (COUNT(?c) AS ?n) (MEDIAN(?c) AS ?m) { STREAM :s0 [RANGE 9] { ?a :p0 ?b } "
                "OPTIONAL { STREAM :s1 [RANGE 6] { ?a :p1 ?c FILTER(isNumeric(?c)) } } } GROUP BY ?a",
                [S0, S1], output="changes", count=40),
    ),
    "the first of an order": (
        4, (3,),
        setting(12, "SELECT ?b (COUNT(*) AS ?n) { STREAM :s0 [RANGE 9] { ?a :p0 ?b } } GROUP BY ?b "
                "ORDER BY DESC(?n) LIMIT 2", [S0], output="changes", count=40),
    ),
    "what is there but not there, in a graph that changes": (
        3, (3, 2),
        setting(13, "SELECT * { STREAM :s0 [RANGE 6] { ?a :p0 ?b } FILTER NOT EXISTS { ?b :p1 ?c } }",
                [S0, CHANGES], output="changes", loaded=6),
    ),
    "triples constructed when windows close": (
        2, (3,),
        setting(14, "CONSTRUCT { ?c :near ?a } FROM NAMED WINDOW :w ON :s0 [RANGE 6 STEP 2] "
                "{ WINDOW :w { ?a :p0/:p1 ?c } }", [S0], output="changes", count=60),
    ),
    "whether there is a way, in any graph": (
        2, (3,),
        setting(15, "ASK { STREAM :s0 [RANGE 3] { ?a :p0+ ?b } GRAPH ?g { ?b :p1 ?c } }", [S0],
                output="changes", loaded=12, count=60),
    ),
    "the first of groups of what cells join": (
        3, (4, 2),
        setting(16, "SELECT ?c (COUNT(*) AS ?n) { STREAM :s0 [RANGE 6] { ?a :p0 ?b } STREAM :s1 [RANGE 9] { ?a :p1 ?c } } "
                "GROUP BY ?c ORDER BY DESC(?n) LIMIT 2", [S0, S1], output="changes", paces=(1, 2), count=60),
    ),
    "the order of windows that cells join": (
        2, (3,),
        setting(17, "SELECT ?c { STREAM :s0 [RANGE 6 STEP 2] { ?a :p0 ?b . ?b :p1 ?c } } ORDER BY DESC(?a)", [S0],
                output="rstream", count=60),
    ),
}  # fmt: skip


SLOW = ("eviction on a grid, a star", "a count of triples", "all answers of every window", "a triangle in one cell")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in CASES])
def test_answers_are_those_of_one_engine(spark: SparkSession, tmp_path: Path, name: str) -> None:
    cells, files, case = CASES[name]
    answers = job_of(case, tmp_path, cells, files, spark)
    batches = run(answers, tmp_path)
    wanted, _ = expected(case)
    assert len(wanted) > 10
    assert written(spark, tmp_path) == wanted
    assert batches >= max(files)


def test_the_cases_are_spread_as_they_should_be() -> None:
    found = {}
    for name, (cells, _, case) in CASES.items():
        grid = job_spec(case.query, case.sources, cells=cells, output=case.output).cells
        found[name] = "stateless" if grid.stateless else (grid.count, "staged") if grid.beyond is not None else grid.count
    one_stage = [4, 3, 2, 3, 4, 1, 1, "stateless", 2, 3, 2, 1, 4, 1, 3, 2, 1]
    assert list(found.values()) == [*one_stage, (3, "staged"), (2, "staged")]
