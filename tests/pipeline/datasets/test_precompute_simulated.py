"""Parts of queries that only read datasets, evaluated before the stream, without Spark: the answers of one engine.

Datasets are cut into parts as tasks would read them, shuffled to cells of their own, and what these find is put together
or goes through a second stage; then the job runs in its cells over the rows that came of it. Queries with each operator over
datasets are written out; others are drawn from the whole language, and every part that could be taken out is.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from millstream.errors import MillstreamError
from millstream.limits import DEFAULT_LIMITS
from millstream.pipeline.datasets.datasets import AHEAD, KEPT, DatasetPacker, packed_quads
from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.exchange.cell_keys import keys_of
from millstream.pipeline.job.specification import JobSpec, StreamedSource, job_spec, precompute_spec
from millstream.pipeline.state import change_log
from millstream.pipeline.state.bucket import Bucket
from millstream.pipeline.state.cell import Cell
from millstream.plan.distribute import precompute as planning
from tests.engine.scenarios import GRAPHS, queries
from tests.pipeline.simulation import Element
from tests.pipeline.state.test_any_query_simulated import C0, PREFIX, S0, S1, cells, checks, cuts, seeds, timed_queries
from tests.pipeline.state.test_cells_simulated import SOURCES, Setting, expected, simulated, some_settings

STREAM = f"{S0} {{ ?a :p0 ?b }}"
JOINED = "?b :p1 ?c . ?c :p0 ?d"
AHEAD_QUERIES = {
    "optional join": f"SELECT * {{ {STREAM} OPTIONAL {{ {JOINED} }} }}",
    "optional join of another variable": f"SELECT * {{ {STREAM} OPTIONAL {{ ?c :p1 ?d . ?d :p0 ?e FILTER (?d != ?a) }} }}",
    "minus a join": f"SELECT * {{ {STREAM} MINUS {{ {JOINED} }} }}",
    "exists": f"SELECT ?a {{ {STREAM} FILTER EXISTS {{ {JOINED} }} }}",
    "counts": f"SELECT * {{ {STREAM} {{ SELECT ?b (COUNT(*) AS ?n) {{ ?b :p1 ?c }} GROUP BY ?b }} }}",
    "counts of a join by another": f"SELECT * {{ {STREAM} {{ SELECT ?b (SUM(?d) AS ?n) {{ {JOINED} }} GROUP BY ?b }} }}",
    "count of everything": f"SELECT * {{ {STREAM} {{ SELECT (COUNT(*) AS ?n) {{ ?c :p1 ?d . ?d :p0 ?e }} }} }}",
    "first of an order": f"SELECT * {{ {STREAM} {{ SELECT ?b ?c {{ {JOINED} }} ORDER BY DESC(?d) LIMIT 2 }} }}",
    "paths": f"SELECT * {{ {STREAM} OPTIONAL {{ ?b :p1+ ?c }} }}",
    "paths that are asked for": f"SELECT * {{ {STREAM} ?b (:p0|:p1)* ?c }}",
    "any graph": f"SELECT * {{ {STREAM} GRAPH ?g {{ ?b :p1 ?c . ?c ?p ?d }} }}",
    "graphs, grouped": f"SELECT * {{ {STREAM} {{ SELECT ?g (MAX(?c) AS ?b) {{ GRAPH ?g {{ ?d :p1 ?c }} }} GROUP BY ?g }} }}",
    "optional in a dataset": f"SELECT * {{ {STREAM} {{ SELECT * {{ ?b :p1 ?c OPTIONAL {{ ?c :p0 ?d }} }} }} }}",
    "a column that may be unbound": f"SELECT * {{ {STREAM} OPTIONAL {{ ?x :p1 ?y OPTIONAL {{ ?y :p0 ?b }} }} }}",
    "distinct": f"SELECT * {{ {STREAM} {{ SELECT DISTINCT ?b {{ ?b ?p ?c }} }} }}",
    "union": f"SELECT * {{ {STREAM} {{ {{ {JOINED} }} UNION {{ ?b :p0 ?d }} }} }}",
    "union with the stream": f"SELECT * {{ {{ {STREAM} }} UNION {{ ?a :p1 ?c . ?c :p0 ?d }} }}",
    "values": f"SELECT * {{ {STREAM} OPTIONAL {{ {JOINED} VALUES ?d {{ :n0 1 }} }} }}",
    "binds": f"SELECT * {{ {STREAM} OPTIONAL {{ {JOINED} BIND (STR(?d) AS ?k) FILTER (?k != '') }} }}",
    "optional stream of a dataset": f"SELECT * {{ {{ ?a :p0 ?b . ?b :p1 ?d }} OPTIONAL {{ {S0} {{ ?a :p1 ?c }} }} }}",
    "dataset when windows close": f"SELECT * {{ {{ ?a :p0 ?b . ?b :p1 ?d }} OPTIONAL {{ {C0} {{ ?a :p1 ?c }} }} }}",
    "counts of both": f"SELECT ?b (COUNT(*) AS ?n) {{ {STREAM} OPTIONAL {{ {JOINED} }} }} GROUP BY ?b",
    "counts in stages": f"SELECT (COUNT(*) AS ?n) {{ {STREAM} {S1} {{ ?b :p1 ?e }} OPTIONAL {{ {JOINED} }} }}",
    "rstream": f"SELECT * {{ STREAM :s0 [RANGE 6] {{ ?a :p0 ?b }} OPTIONAL {{ {JOINED} }} }}",
    "a count of triples": f"SELECT * {{ STREAM :s0 [TRIPLES 3] {{ ?a :p0 ?b }} OPTIONAL {{ {JOINED} }} }}",
    "fresh values": f"SELECT * {{ {STREAM} OPTIONAL {{ SELECT ?b (UUID() AS ?u) {{ {JOINED} }} }} }}",
    "construct": f"CONSTRUCT {{ ?a :x ?b . ?b :y ?d }} {{ {STREAM} OPTIONAL {{ {JOINED} }} }}",
    "ask": f"ASK {{ {STREAM} FILTER NOT EXISTS {{ {JOINED} }} }}",
    "merged graphs": f"SELECT * FROM :g0 FROM :g1 {{ {STREAM} OPTIONAL {{ {JOINED} }} }}",
}


def loaded_in_cells(batch_cells: int, seed: int, setting: Setting, plan: JobSpec) -> StaticData:
    """The datasets as tasks read them, and what cells of a batch make of them."""
    chance = random.Random(seed)
    ahead = precompute_spec(plan, batch_cells)
    chunks: list[bytes] = []
    shuffled: dict[int, list[bytes]] = {}
    for graph in GRAPHS:
        lines = list(setting.loaded)
        while True:
            size = chance.randint(0, len(lines))
            text, lines = "\n".join(lines[:size]).encode(), lines[size:]
            packer = DatasetPacker(plan, ahead)
            for kind, cell, blob in packed_quads(packer, graph, text, "nt", None, lambda r: None, DEFAULT_LIMITS):
                if kind == KEPT:
                    chunks.append(blob)
                elif kind == AHEAD:
                    shuffled.setdefault(cell, []).append(blob)
            if not lines:
                break
    if ahead is None:
        return StaticData(chunks)
    keys = keys_of(ahead.cells.count)
    assert sorted(shuffled) == sorted(keys)
    found = [Cell(ahead, keys.index(key), StaticData(blobs)).at_start() for key, blobs in shuffled.items()]
    chance.shuffle(found)
    if ahead.stages is not None:
        found = [Bucket(ahead).at_start(found)]
    return StaticData(chunks, found)


def check(setting: Setting, cells: int, batch_cells: int, seed: int, cuts: list[int]) -> None:
    job = simulated(setting, cells, seed, cuts, ends=seed % 4, load=partial(loaded_in_cells, batch_cells, seed))
    assume(job is not None)
    assert job is not None
    answers, _ = expected(setting)
    assert Counter(job.answers) == answers


@pytest.mark.parametrize("name", AHEAD_QUERIES)
def test_what_only_reads_datasets_is_evaluated_before_the_stream(name: str) -> None:
    text = PREFIX + AHEAD_QUERIES[name]
    assert job_spec(text, SOURCES[:2], cells=4).ahead is not None

    @settings(max_examples=5, deadline=None, suppress_health_check=checks, database=None)
    @given(some_settings(st.just(text), changing=False), cells, cells, seeds, cuts)
    def checked(setting: Setting, cells: int, batch_cells: int, seed: int, cuts: list[int]) -> None:
        check(setting, cells, batch_cells, seed, cuts)

    checked()


@pytest.mark.parametrize("name", ["optional join", "counts", "counts in stages", "a count of triples"])
def test_rows_that_were_given_are_part_of_the_state(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # So the whole state of a cell takes the place of its slices now and then.
    monkeypatch.setattr(change_log, "MOST_SLICES", 2)

    @settings(max_examples=5, deadline=None, suppress_health_check=checks, database=None)
    @given(some_settings(st.just(PREFIX + AHEAD_QUERIES[name]), changing=False), cells, seeds)
    def checked(setting: Setting, cells: int, seed: int) -> None:
        check(setting, cells, 2, seed, [1])

    checked()


@pytest.fixture
def always_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "_working", set)


@pytest.mark.usefixtures("always_ahead")
def test_any_query_answers_with_parts_evaluated_before_the_stream_as_in_one_engine() -> None:
    @settings(max_examples=40, deadline=None, suppress_health_check=checks)
    @given(some_settings(st.one_of(timed_queries(), queries()), changing=False), cells, cells, seeds, cuts)
    def checked(setting: Setting, cells: int, batch_cells: int, seed: int, cuts: list[int]) -> None:
        try:
            check(setting, cells, batch_cells, seed, cuts)
        except MillstreamError:
            assume(False)

    checked()


def test_where_graphs_may_change_nothing_is_evaluated_before() -> None:
    text = PREFIX + AHEAD_QUERIES["optional join"]
    sources = [*SOURCES[:2], StreamedSource("http://example.org/elsewhere", changes=True)]
    assert job_spec(text, sources, cells=4).ahead is None


def test_what_datasets_gave_is_told_once_though_no_row_of_the_stream_is_kept() -> None:
    triple = "<http://example.org/n0> <http://example.org/p0> <http://example.org/n0> ."
    elements = tuple(Element((triple,), at_ms, 1) for at_ms in (-2, 0, 0))
    loaded = (triple, triple.replace("p0", "p1"))
    query = PREFIX + AHEAD_QUERIES["dataset when windows close"]
    setting = Setting(query, None, 0, loaded, tuple(SOURCES[:1]), (elements,))
    job = simulated(setting, 1, 0, [0], ends=0, load=partial(loaded_in_cells, 1, 0))
    assert job is not None
    assert Counter(job.answers) == expected(setting)[0]
