"""Streams that are DataFrames, and files cut anywhere: the answers do not depend on the way in."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from millstream import Engine, pipeline
from millstream.errors import DataError, OptionError
from millstream.pipeline.exchange.blobs import read_blob
from millstream.pipeline.exchange.dataframes import pack_frame
from millstream.pipeline.job.specification import StreamedSource, job_spec
from millstream.pipeline.source import data_source
from tests.engine.scenarios import NODES, PREDICATES
from tests.pipeline.feeding import rows_of, run, written
from tests.pipeline.simulation import Row

STREAM = "http://example.org/s0"
SCHEMA = "s string, p string, o string, at_ms long, element string"
PREFIX = "PREFIX : <http://example.org/> "
CHAIN = PREFIX + "SELECT CHANGES * { STREAM :s0 [RANGE 40] { ?a :p0 ?b . ?b :p1 ?c } }"
EVENTS = PREFIX + "SELECT * { STREAM :s0 [EVENT] { ?a :p0 ?b . ?b :p1 ?c } }"


def drawn(seed: int, elements: int) -> list[tuple[str, str, str, int, str]]:
    """Rows of elements of one to three triples, ten milliseconds apart."""
    chance = random.Random(seed)
    rows = []
    for number in range(elements):
        triples = {
            (chance.choice(NODES), chance.choice(PREDICATES), chance.choice(NODES)) for _ in range(chance.randint(1, 3))
        }
        rows += [(*triple, number * 10, f"e{number:04d}") for triple in sorted(triples)]
    return rows


def expected(query: str, rows: list[tuple[str, str, str, int, str]], *, ended: bool) -> Counter[Row]:
    engine = Engine()
    registered = engine.register(query)
    by_element: dict[tuple[int, str], list[str]] = {}
    for s, p, o, at_ms, element in rows:
        by_element.setdefault((at_ms, element), []).append(f"{s} {p} {o} .")
    for (at_ms, _), triples in by_element.items():
        engine.push(STREAM, "\n".join(triples), at_ms=at_ms)
    if ended:
        engine.finish()
    table = registered.take_table().to_pylist()
    return Counter((r["at_ms"], r["weight"], tuple(r[v] for v in registered.variables)) for r in table)


@pytest.fixture
def small_batches(spark: SparkSession) -> Iterator[None]:
    """Spark hands rows on in fours, so that elements are cut."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    spark.conf.set(name, "4")
    yield
    spark.conf.set(name, str(before))


def arrow(rows: list[tuple[str, str, str, int, str]]) -> pa.RecordBatch:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("s", "p", "o", "at_ms", "element"))}
    return pa.RecordBatch.from_pydict(columns)


def test_a_spark_that_cannot_stream_files_says_so(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_source, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"^files as a stream need Spark 4\.2 or newer, and this is Spark 4\."):
        pipeline.continuous(CHAIN, {STREAM: "somewhere"}, spark=spark)
    rows = spark.readStream.format("rate").load().selectExpr("'' AS s", "'' AS p", "'' AS o", "0L AS at_ms")
    assert pipeline.continuous(CHAIN, {STREAM: rows}, spark=spark).isStreaming


def test_an_element_that_batches_cut_stays_one() -> None:
    rows = drawn(1, 30)
    pack = job_spec(EVENTS, [StreamedSource(STREAM, ordered=False)], cells=1).to_json()
    whole = list(pack_frame(pack, 0, iter([arrow(rows)])))
    cut = list(pack_frame(pack, 0, (arrow(rows[i : i + 4]) for i in range(0, len(rows), 4))))
    counted = [sum(header.elements for headers, _ in blobs_of(batches) for header in headers) for batches in (whole, cut)]
    assert counted == [30, 30]


def blobs_of(batches: list[pa.RecordBatch]) -> list[Any]:
    found = [read_blob(blob.as_py()) for batch in batches for blob in batch.column("blob")]
    return [(headers, rows) for headers, _, rows in found]


def test_what_is_no_stream_is_told(spark: SparkSession) -> None:
    pack = job_spec(CHAIN, [StreamedSource(STREAM, ordered=False)], cells=1).to_json()
    with pytest.raises(DataError, match=r"a stream has the columns s, p, o and at_ms; at_ms is missing"):
        list(pack_frame(pack, 0, iter([arrow(drawn(1, 1)).select(["s", "p", "o"])])))
    with pytest.raises(OptionError, match=r"the query reads the stream <http://example.org/s0>, for which no source"):
        pipeline.continuous(CHAIN, {}, spark=spark)
    with pytest.raises(OptionError, match=r"cells is a whole number of at least 1, got 0"):
        pipeline.continuous(CHAIN, {STREAM: "x"}, cells=0, spark=spark)
    frame = spark.createDataFrame(drawn(1, 1), SCHEMA)
    with pytest.raises(OptionError, match=r"some sources are DataFrames that do not stream, others stream"):
        pipeline.continuous(CHAIN, {STREAM: frame, "http://example.org/s1": "x"}, spark=spark)


FAULTS: dict[str, tuple[Any, str]] = {
    "s": ('"a literal"', "not a triple"),
    "p": ("_:b", "not a triple"),
    "o": ("oops", "not one N-Triples term"),
    "at_ms": (None, "no time in the column at_ms"),
}


@pytest.mark.parametrize("column", FAULTS)
def test_a_malformed_row_is_set_aside_and_its_element_goes_on(tmp_path: Path, column: str) -> None:
    good = [(f"<http://example.org/{i}>", "<http://example.org/p0>", '"x"', 10 * (i // 2), f"e{i // 2}") for i in range(8)]
    value, reason = FAULTS[column]
    bad = dict(zip(("s", "p", "o", "at_ms", "element"), good[3], strict=True)) | {column: value}
    rows = [*good[:3], tuple(bad.values()), *good[4:]]
    pack = job_spec(PREFIX + "SELECT * { STREAM :s0 [RANGE 40] { ?a :p0 ?b } }", [StreamedSource(STREAM)], cells=1).to_json()
    whole = [arrow(rows)]  # type: ignore[arg-type]
    cut = [whole[0].slice(i, 3) for i in range(0, 8, 3)]
    for number, batches in enumerate((whole, cut)):
        folder = tmp_path / str(number)
        found = blobs_of(list(pack_frame(pack, 0, iter(batches), str(folder))))
        assert sum(batch.num_rows for _, batch in found) == 7
        assert sum(header.elements for headers, _ in found for header in headers) == 4
        (letters,) = folder.iterdir()
        (letter,) = map(json.loads, letters.read_text().splitlines())
        assert (letter["file"], letter["line"]) == (STREAM, 4)
        assert reason in letter["reason"]
        assert letter["text"].split() == [text for text in (bad["s"], bad["p"], bad["o"]) for text in text.split()]


def test_rows_without_a_fault_are_never_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millstream.pipeline.exchange.row_validation.read_rows", None)
    pack = job_spec(CHAIN, [StreamedSource(STREAM, ordered=False)], cells=1).to_json()
    assert blobs_of(list(pack_frame(pack, 0, iter([arrow(drawn(1, 30))]))))


def test_an_element_of_two_times_is_set_aside_whole(tmp_path: Path) -> None:
    rows = [("<http://example.org/a>", "<http://example.org/p0>", f'"{i}"', 10 * (i // 3), f"e{i // 3}") for i in range(9)]
    rows[4] = (*rows[4][:3], 11, "e1")
    pack = job_spec(CHAIN, [StreamedSource(STREAM, ordered=False)], cells=1).to_json()
    found = blobs_of(list(pack_frame(pack, 0, iter([arrow(rows)]), str(tmp_path))))
    assert sum(header.elements for headers, _ in found for header in headers) == 2
    letters = [json.loads(line) for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    assert [letter["line"] for letter in letters] == [4, 5, 6]


def test_times_of_a_frame_may_be_timestamps() -> None:
    rows = drawn(1, 20)
    pack = job_spec(CHAIN, [StreamedSource(STREAM, ordered=False)], cells=1).to_json()
    plain = arrow(rows)
    for unit in ("s", "ms", "us", "ns"):
        times = pa.array([row[3] * 1000 for row in rows], pa.int64()).cast(pa.timestamp("ms")).cast(pa.timestamp(unit))
        as_ms = pa.array([row[3] * 1000 for row in rows], pa.int64())
        place = plain.schema.get_field_index("at_ms")
        stamped, numbered = (plain.set_column(place, "at_ms", column) for column in (times, as_ms))
        found, wanted = (blobs_of(list(pack_frame(pack, 0, iter([each])))) for each in (stamped, numbered))
        assert [header for header, _ in found] == [header for header, _ in wanted]


def test_a_change_that_says_not_what_it_does_is_set_aside(tmp_path: Path) -> None:
    query = PREFIX + "SELECT * { STREAM :s0 [RANGE 40] { ?a :p0 ?b } ?b :p1 ?c }"
    sources = [StreamedSource(STREAM, ordered=False), StreamedSource(None, changes=True, ordered=False)]
    pack = job_spec(query, sources, cells=1).to_json()
    rows = [("<http://example.org/a>", "<http://example.org/p1>", f'"{i}"', i, None) for i in range(4)]
    batch = arrow(rows).append_column("op", pa.array(["A", "nonsense", None, "D"]))  # type: ignore[arg-type]
    found = blobs_of(list(pack_frame(pack, 1, iter([batch]), str(tmp_path))))
    assert [op for _, table in found for op in table.column("op").to_pylist()] == [1, -1]
    letters = [json.loads(line) for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    assert [(letter["file"], letter["line"], letter["reason"]) for letter in letters] == [
        ("graph default", line, "op is A or insert, D or delete") for line in (2, 3)
    ]


@pytest.mark.parametrize("cells", [1, 2])
def test_a_frame_of_changes_answers_as_a_table_does(spark: SparkSession, cells: int) -> None:
    """Also where one element inserts and deletes; a count over all runs in one cell, as a whole."""
    rows = [
        ("<http://e/a>", "<http://e/p>", '"1"', 1, 7, "A"),
        ("<http://e/b>", "<http://e/p>", '"1"', 1, 7, "A"),
        ("<http://e/a>", "<http://e/p>", '"1"', 2, 8, "D"),
        ("<http://e/c>", "<http://e/p>", '"1"', 2, 8, "A"),
        ("<http://e/b>", "<http://e/p>", '"1"', 2, 8, "D"),
    ]
    schema = "s string, p string, o string, at_ms long, element long, op string"
    frame = spark.createDataFrame(rows, schema).coalesce(1)
    for text in (
        "SELECT CHANGES ?s WHERE { ?s <http://e/p> ?o }",
        "SELECT CHANGES ?o (COUNT(*) AS ?n) WHERE { ?s <http://e/p> ?o } GROUP BY ?o",
    ):
        engine = Engine()
        query = engine.register(text)
        engine.read_changes(frame.toArrow())
        engine.finish()
        expected = sorted(zip(*(column.to_pylist() for column in query.take_table().columns), strict=True))
        answers = pipeline.continuous(text, {}, changes={None: frame}, cells=cells, spark=spark)
        assert sorted(map(tuple, answers.collect())) == expected
        assert expected


def test_a_stream_with_malformed_rows_is_answered_without_them(spark: SparkSession, tmp_path: Path) -> None:
    rows = drawn(7, 40)
    faulty: list[Any] = [*rows[:10], ("oops", "<http://example.org/p0>", '"x"', rows[10][3], rows[10][4]), *rows[10:]]
    frame = spark.createDataFrame(faulty, SCHEMA).coalesce(1)
    letters = tmp_path / "letters"
    answers = pipeline.continuous(CHAIN, {STREAM: frame}, cells=2, dead_letter=str(letters), spark=spark)
    assert rows_of(answers) == expected(CHAIN, rows, ended=True)
    assert [path.read_text().count('"line": 11,') for path in letters.iterdir()] == [1]


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("query", [CHAIN, EVENTS])
def test_a_frame_of_rows_is_a_stream_that_has_ended(spark: SparkSession, query: str) -> None:
    rows = drawn(2, 120)
    frame = spark.createDataFrame(rows, SCHEMA).repartitionByRange(3, "element").sortWithinPartitions("element")
    answers = pipeline.continuous(query, {STREAM: frame}, cells=2, spark=spark)
    wanted = expected(query, rows, ended=True)
    assert len(wanted) > 10
    assert rows_of(answers) == wanted


def test_a_frame_that_streams_is_answered_as_far_as_it_came(spark: SparkSession, tmp_path: Path) -> None:
    rows = drawn(3, 60)
    for number in range(3):
        some = [row for row in rows if number * 200 <= row[3] < (number + 1) * 200]
        spark.createDataFrame(some, SCHEMA).coalesce(1).write.mode("append").parquet(str(tmp_path / f"in/{number}"))
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).option("recursiveFileLookup", True)
    frame: DataFrame = reader.parquet(str(tmp_path / "in"))
    answers = pipeline.continuous(CHAIN, {STREAM: frame}, cells=2, spark=spark)
    assert run(answers, tmp_path) >= 3
    wanted = expected(CHAIN, rows, ended=False)
    assert written(spark, tmp_path) == wanted


def write_lines(folder: Path, seed: int, files: int) -> list[tuple[str, str, str, int, str]]:
    rows = drawn(seed, 90)
    folder.mkdir()
    for number in range(files):
        some = rows[len(rows) * number // files : len(rows) * (number + 1) // files]
        (folder / f"{number}.nt").write_text("".join(f"{s} {p} {o} .\n" for s, p, o, _, _ in some))
    return [(s, p, o, number * 10, str(number)) for number, (s, p, o, _, _) in enumerate(rows)]


def test_lines_at_a_rate_may_be_cut_anywhere(spark: SparkSession, tmp_path: Path) -> None:
    rows = write_lines(tmp_path / "in", 4, 3)
    # Each file in several parts, and two of them a trigger.
    files = pipeline.files(str(tmp_path / "in"), time="rate:100", splitBytes=700, maxFilesPerTrigger=2)
    answers = pipeline.continuous(CHAIN, {STREAM: files}, cells=3, once=True, spark=spark)
    assert run(answers, tmp_path) >= 2
    wanted = expected(CHAIN, rows, ended=True)
    assert len(wanted) > 20
    assert written(spark, tmp_path) == wanted


@pytest.mark.long
def test_elements_at_a_rate_are_counted_where_they_are_matched_alone(spark: SparkSession, tmp_path: Path) -> None:
    rows = write_lines(tmp_path / "in", 5, 3)
    query = PREFIX + "SELECT * { STREAM :s0 [EVENT] { ?a :p0 ?b } }"
    files = pipeline.files(str(tmp_path / "in"), time="rate:100", splitBytes=700, maxFilesPerTrigger=2)
    answers = pipeline.continuous(query, {STREAM: files}, cells=3, once=True, spark=spark)
    run(answers, tmp_path)
    assert written(spark, tmp_path) == expected(query, rows, ended=True)


@pytest.mark.long
def test_rows_of_the_source_are_a_stream_like_any_other(spark: SparkSession, tmp_path: Path) -> None:
    rows = write_lines(tmp_path / "in", 6, 3)
    reader = spark.readStream.format("rdf").option("time", "rate:100").option("maxFilesPerTrigger", "1")
    answers = pipeline.continuous(CHAIN, {STREAM: reader.load(str(tmp_path / "in"))}, cells=2, spark=spark)
    run(answers, tmp_path)
    assert written(spark, tmp_path) == expected(CHAIN, rows, ended=False)
