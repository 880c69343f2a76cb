"""What readers, cells and restarts must agree on: keys, routes, blobs and the clock, each by itself."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from millstream.ingest import Columns
from millstream.ingest.intake import Encoder
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.pipeline.exchange.blobs import (
    Header,
    headers_to_bytes,
    ids_of,
    numbers_of,
    read_blob,
    read_headers,
    term_column,
    write_blob,
)
from millstream.pipeline.exchange.cell_keys import keys_of
from millstream.pipeline.exchange.packing import Packer
from millstream.pipeline.exchange.routing import Router
from millstream.pipeline.job.specification import JobSpec, StreamedSource, job_spec
from millstream.pipeline.source.reading import Reading
from millstream.pipeline.source.splits import Split
from millstream.pipeline.source.task_output import packed_of
from millstream.pipeline.state.clock import Clock, times_of

STREAM = StreamedSource("http://e/s")
NODES = [f"<http://e/n{i}>" for i in range(6)]


# Keys -------------------------------------------------------------------------------------------------------------------


def test_every_cell_has_a_key_of_its_own() -> None:
    for cells in range(1, 40):
        assert len(set(keys_of(cells))) == cells


def test_cells_go_round_any_number_of_partitions_in_turn_by_sparks_hash(spark: SparkSession) -> None:
    keys = list(enumerate(keys_of(40)))
    numbers = [(cell, key, partitions) for partitions in (1, 2, 3, 7, 16, 33, 200) for cell, key in keys]
    frame = spark.createDataFrame(numbers, "cell int, key int, partitions int")
    found = frame.withColumn("partition", f.expr("pmod(hash(key), partitions)")).collect()
    assert len(found) == len(numbers)
    assert all(row["partition"] == row["cell"] % row["partitions"] for row in found)


# Routes -----------------------------------------------------------------------------------------------------------------

SHAPES = {
    "a star": ["?a <http://e/p> ?b", "?a <http://e/q> ?c", "?a <http://e/r> ?d"],
    "a chain": ["?a <http://e/p> ?b", "?b <http://e/q> ?c", "?c <http://e/r> ?d"],
    "a triangle": ["?a <http://e/p> ?b", "?b <http://e/q> ?c", "?c <http://e/r> ?a"],
    "a self-join": ["?a <http://e/p> ?b", "?b <http://e/p> ?a"],
    "a loop and a constant": ["?a <http://e/p> ?a", "?a <http://e/q> <http://e/n1>", "<http://e/n0> <http://e/r> ?b"],
    "a variable predicate": ["?a ?p ?b", "?b ?p ?c"],
    "two parts": ["?a <http://e/p> ?b", "?c <http://e/q> ?d"],
}
LOOPS = (("n2", "p", "n2"), ("n2", "q", "n1"), ("n0", "r", "n3"), ("n2", "q", "n2"), ("n2", "r", "n2"))
# So that each shape is matched at least once.
MATCHES = [f"<http://e/{s}> <http://e/{p}> <http://e/{o}> ." for s, p, o in LOOPS]


def planned(patterns: list[str], cells: int) -> JobSpec:
    body = " . ".join(patterns)
    return job_spec(f"SELECT * {{ STREAM <http://e/s> [RANGE 9] {{ {body} }} }}", [STREAM], cells=cells, output="changes")


@pytest.mark.parametrize("cells", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_match_is_in_exactly_one_cell(shape: str, cells: int) -> None:
    plan = planned(SHAPES[shape], cells)
    chance = random.Random(1)
    drawn = [f"{chance.choice(NODES)} <http://e/{chance.choice('pqr')}> {chance.choice(NODES)} ." for _ in range(30)]
    texts = list(dict.fromkeys(MATCHES + drawn))
    dictionary = Dictionary()
    triples = Encoder(dictionary).encode("\n".join(texts).encode(), None).triples
    router = Router(plan, dictionary)
    routed = router.route(triples, router.matchers(STREAM))
    assert set(routed.cell.tolist()) <= set(range(plan.cells.count))
    whole = matches(plan, [split(text) for text in texts], everything=True)
    assert len(whole) > 0
    found = []
    for cell in range(plan.cells.count):
        ours = np.flatnonzero(routed.cell == cell)
        tagged = [(*split(texts[r]), int(p)) for r, p in zip(routed.row[ours], routed.pattern[ours], strict=True)]
        found += matches(plan, tagged, everything=False)
    assert sorted(found) == sorted(whole)


def split(text: str) -> tuple[str, ...]:
    return tuple(text.split()[:3])


def matches(plan: JobSpec, rows: Sequence[tuple[object, ...]], *, everything: bool) -> list[tuple[tuple[str, object], ...]]:
    """The solutions by trying everything: all rows for every pattern, or those that are tagged with it."""
    found: list[dict[str, object]] = [{}]
    for number, pattern in enumerate(plan.patterns):
        terms = (pattern.triple.subject, pattern.triple.predicate, pattern.triple.object)
        view = [row for row in rows if everything or row[3] == number]
        longer = []
        for bound, row in product(found, view):
            known = {**bound}
            pairs = [(str(term), value, term in pattern.variables) for term, value in zip(terms, row, strict=False)]
            if all(known.setdefault(name, value) == value if free else name == value for name, value, free in pairs):
                longer.append(known)
        found = longer
    return [tuple(sorted(bound.items())) for bound in found]


def test_routes_do_not_depend_on_the_process() -> None:
    plan = planned(SHAPES["a chain"], 4)
    texts = [f"{a} <http://e/p> {b} ." for a in NODES for b in NODES]
    routes = []
    for before in ([], ["<http://e/other> <http://e/p> <http://e/n3> ."]):
        dictionary = Dictionary()
        router = Router(plan, dictionary)
        Encoder(dictionary).encode("\n".join(before).encode(), None)
        triples = Encoder(dictionary).encode("\n".join(texts).encode(), None).triples
        routes.append(router.route(triples, router.matchers(STREAM)))
    assert np.array_equal(routes[0].cell, routes[1].cell)
    assert np.array_equal(routes[0].row, routes[1].row)


def test_a_plan_survives_as_text() -> None:
    plan = planned(SHAPES["a triangle"], 8)
    again = JobSpec.from_json(plan.to_json())
    assert again == plan
    assert again.to_json() == plan.to_json()


# Blobs ------------------------------------------------------------------------------------------------------------------


def test_a_blob_is_read_as_it_was_written() -> None:
    terms = ["<http://e/ä>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', '"tab\\t \\" and \\n"@en', "_:b0"]
    ours, theirs = Dictionary(), Dictionary()
    theirs.encode_one("<http://e/elsewhere>")
    ids = np.array([ours.encode_one(term) for term in terms], np.int64)
    column = term_column(np.append(np.tile(ids, 3), -1), ours)
    headers = [
        Header(3, 7, 1, 20, 13, -5, (-9, -5), (0, 3), triples=5, kept=4, set_aside=1),
        Header(3, 7, 2, 33, 0, None),
        Header(3, 8, 0, 0, 1, 0, (0,), (0,), idle=True, open=True, now_ms=1 << 60, idle_ms=0),
    ]
    blob = write_blob(headers_to_bytes(headers), [4, 0, 9], {"s": column, "at": pa.array(np.arange(13))})
    read, chunk, batch = read_blob(blob)
    assert read == read_headers(blob) == headers
    assert [header.place for header in read] == [(3, 7, 1), (3, 7, 2), (3, 8, 0)]
    assert chunk.tolist() == [0] * 4 + [2] * 9
    found = ids_of(batch, "s", theirs)
    assert theirs.decode(np.ascontiguousarray(found[:-1])).to_pylist() == terms * 3
    assert found[-1] == -1
    assert ids_of(batch, "p", theirs).tolist() == [-1] * 13
    assert numbers_of(batch, "at").tolist() == list(range(13))


def test_a_task_sends_every_cell_one_blob_with_all_its_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "SELECT * { STREAM <http://e/s> [RANGE 9] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } }"
    plan = job_spec(query, [replace(STREAM, rate="1")], cells=4)
    parts = []
    for number, size in enumerate((3, 0, 2)):
        path = tmp_path / f"{number}.nt"
        asked, other = "<http://e/{}> <http://e/p> <http://e/{}> .\n", "<http://e/a> <http://e/x> <http://e/b> .\n"
        path.write_text("".join(asked.format(i, i) + other for i in range(size)))
        parts.append((Split(path=str(path), end=path.stat().st_size, sequence=number, time="rate:1"), 0))

    def blobs() -> list[dict[str, Any]]:
        return [row for batch in packed_of(parts, plan.to_json(), 0, None) for row in batch.to_pylist()]

    found = blobs()
    assert sorted(row["cell"] for row in found) == sorted(keys_of(plan.cells.count))
    rows = []
    for row in found:
        headers, chunk, batch = read_blob(row["blob"])
        assert [(h.part, h.elements, h.triples, h.kept) for h in headers] == [(0, 6, 6, 3), (1, 0, 0, 0), (2, 4, 4, 2)]
        rows += zip(chunk.tolist(), numbers_of(batch, "element").tolist(), strict=True)
    assert sorted(rows) == [(0, 0), (0, 2), (0, 4), (2, 0), (2, 2)]
    # What is too much for one goes as several.
    monkeypatch.setattr("millstream.pipeline.exchange.packing.MOST_ROWS", 1)
    assert len(blobs()) == 2 * plan.cells.count


def test_a_blob_of_chunks_in_order_and_not_says_what_was_seen_before() -> None:
    packer = Packer(job_spec("SELECT * { STREAM <http://e/s> [RANGE 9] { ?a <http://e/p> ?b } }", [STREAM], cells=1), 0)
    term = packer.dictionary.encode_one("<http://e/n>"), packer.dictionary.encode_one("<http://e/p>")
    for number, times in enumerate(([5, 7, 7], [9, 8, 10])):
        triples = np.array([[term[0], term[1], term[0]]] * 3, np.int64)
        packer.add(0, number, Reading(Columns(triples, np.arange(3), 3, np.array(times)), 0))
    ((_, blob),) = packer.take()
    headers, _, batch = read_blob(blob)
    assert numbers_of(batch, "at").tolist() == [5, 7, 7, 9, 8, 10]
    assert numbers_of(batch, "seen").tolist() == [5, 7, 7, 9, 9, 10]
    assert [(h.largest_ms, h.least_ms, h.least_element) for h in headers] == [(7, (5, 7), (0, 1)), (10, (9, 10), (3, 5))]
    assert list(packer.take()) == []


# The clock --------------------------------------------------------------------------------------------------------------


def chunk(source: int, part: int, *times: int) -> Header:
    least = tuple(sorted(set(times)))
    return Header(source, part, 0, 0, len(times), max(times, default=None), least, tuple(times.index(t) for t in least))


def clock_of(sources: int, lateness_ms: int = 0, rate: Fraction | None = None) -> Clock:
    return Clock([rate] * sources, [True] * sources, lateness_ms)


def test_time_is_that_of_the_source_that_lags() -> None:
    clock = clock_of(2)
    clock.see([chunk(0, 0, 5, 9)])
    clock.advance()
    assert clock.point[0] < 0
    clock.see([chunk(1, 0, 3)])
    clock.advance()
    # What the first source brings at 3 comes before what the second does, and more may come of the second.
    assert clock.point == (3, 1, 0)
    clock.see([chunk(1, 1, 20)])
    clock.advance()
    assert clock.point == (9, 0, 0)


def test_a_source_that_is_idle_or_has_ended_holds_nobody_back() -> None:
    clock = clock_of(2)
    clock.see([chunk(0, 0, 9), Header(1, 0, 0, 0, 0, None, idle=True)])
    clock.advance()
    assert clock.point == (9, 0, 0)
    clock.see([chunk(1, 1, 4)])
    clock.advance()
    # It is back, and time does not go back.
    assert clock.point == (9, 0, 0)
    assert not clock.ended
    clock.see([Header(0, 2, 0, 0, 0, None, ended=True), Header(1, 2, 0, 0, 0, None, ended=True)])
    clock.advance()
    assert clock.ended
    assert clock.point == (9, 2, 0)


def test_lateness_holds_time_back() -> None:
    clock = clock_of(1, lateness_ms=5)
    clock.see([chunk(0, 0, 12, 10)])
    clock.advance()
    assert clock.point == (7, 0, 0)
    seen = clock.see([chunk(0, 1, 6, 8)])
    assert seen[0].before_ms == 12


def test_at_a_rate_times_follow_from_the_elements_before() -> None:
    clock = clock_of(1, rate=Fraction(10))
    seen = clock.see([chunk(0, 0, *range(4)), chunk(0, 1, *range(3))])
    rows = pa.RecordBatch.from_pydict({"element": [0, 1, 2, 0, 1, 2]})
    assert times_of(rows, np.repeat([0, 1], 3), seen).tolist() == [0, 100, 200, 400, 500, 600]
    clock.advance()
    assert clock.point == (600, 0, 0)
    again = clock_of(1, rate=Fraction(10))
    again.load(clock.dump())
    assert again.see([chunk(0, 2, 0)])[0].base == 7
