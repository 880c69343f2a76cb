"""State partitions: each job has its own number, the caller's session keeps its, and answers depend on neither."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from millstream import Engine, pipeline
from tests.pipeline.feeding import run, written
from tests.pipeline.simulation import Row

NAME = "spark.sql.shuffle.partitions"
STREAM = "http://e/s"
QUERY = "SELECT CHANGES * { STREAM <http://e/s> [RANGE 3s] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } }"


def write_file(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    lines = [f"<http://e/n{i}> <http://e/{'pq'[i % 2]}> <http://e/n{(i + 1) % 5}> .\n" for i in range(number, number + 8)]
    (folder / f"{number}.nt").write_text("".join(lines))


def planned(spark: SparkSession, folder: Path, cells: int) -> DataFrame:
    return pipeline.continuous(QUERY, {STREAM: pipeline.files(str(folder), time="rate:1")}, cells=cells, spark=spark)


def expected(folder: Path) -> Counter[Row]:
    engine = Engine()
    query = engine.register(QUERY)
    engine.read(STREAM, str(folder), time="rate:1")
    return Counter((r["at_ms"], r["weight"], tuple(r[v] for v in query.variables)) for r in query.take_table().to_pylist())


def partitions_of(folder: Path) -> set[int]:
    """The numbers that a checkpoint's batches were run with."""
    offsets = [path for path in (folder / "checkpoint" / "offsets").iterdir() if path.name.isdigit()]
    return {int(json.loads(path.read_text().splitlines()[1])["conf"][NAME]) for path in offsets}


@pytest.fixture
def five(spark: SparkSession) -> Iterator[SparkSession]:
    """A session whose user wants five partitions."""
    before = spark.conf.get(NAME)
    spark.conf.set(NAME, "5")
    yield spark
    spark.conf.set(NAME, str(before))


def test_jobs_planned_side_by_side_have_their_own_partitions_and_the_session_keeps_its(
    five: SparkSession, tmp_path: Path
) -> None:
    write_file(tmp_path / "in", 1)
    jobs = {cells: planned(five, tmp_path / "in", cells) for cells in (3, 1)}
    assert five.conf.get(NAME) == "5"
    run(jobs[3].where("weight <> 0").withColumn("a", f.col("a")), tmp_path / "three")
    run(jobs[1], tmp_path / "one")
    assert five.conf.get(NAME) == "5"
    assert partitions_of(tmp_path / "three") == {3}
    assert partitions_of(tmp_path / "one") == {1}
    assert written(five, tmp_path / "three") == written(five, tmp_path / "one") == expected(tmp_path / "in")


def test_a_job_keeps_the_partitions_it_began_with_and_answers_do_not_depend_on_them(
    five: SparkSession, tmp_path: Path
) -> None:
    write_file(tmp_path / "in", 1)
    # Spark's own DataFrame of the job: as where the number is lost on the way.
    plain = type(five.range(1))
    run(plain(planned(five, tmp_path / "in", 3)._jdf, five), tmp_path)
    write_file(tmp_path / "in", 2)
    five.conf.set(NAME, "1")
    run(planned(five, tmp_path / "in", 3), tmp_path)
    assert partitions_of(tmp_path) == {5}
    assert written(five, tmp_path) == expected(tmp_path / "in")


def test_a_session_without_a_number_has_none_afterwards(spark: SparkSession, tmp_path: Path) -> None:
    write_file(tmp_path / "in", 1)
    before = spark.conf.get(NAME)
    spark.conf.unset(NAME)
    try:
        query = planned(spark, tmp_path / "in", 2).writeStream.format("noop").start()
        assert spark.conf.get(NAME, None) is None
        # It is a query of the caller's session like any other.
        assert query.id in [each.id for each in spark.streams.active]
        query.stop()
    finally:
        spark.conf.set(NAME, str(before))
