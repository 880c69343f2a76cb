"""Current answers as a table: it holds what the changes add up to, whatever is stopped and comes again."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from millstream import Engine, pipeline
from millstream.errors import OptionError
from millstream.pipeline.job.tables import merge_statement
from tests.pipeline.changes import SCHEMA, drawn, give, merge


def held(spark: SparkSession, folder: Path) -> Counter[tuple[str | None, str | None]]:
    rows = spark.read.parquet(str(folder / "table" / "current")).collect()
    found = Counter({(row.a, row.b): row.weight for row in rows})
    assert len(found) == len(rows)
    return found


def test_a_table_is_what_random_changes_add_up_to(spark: SparkSession, tmp_path: Path) -> None:
    chance, content, times = random.Random(7), Counter[tuple[str | None, str | None]](), {}
    for number in range(3):
        changes = drawn(chance, content, 100 * number)
        times.update({(a, b): at_ms for at_ms, _, a, b in changes})
        give(spark, tmp_path, number, changes)
    merge(spark, tmp_path)
    assert held(spark, tmp_path) == +content
    rows = spark.read.parquet(str(tmp_path / "table" / "current")).collect()
    assert {(row.a, row.b): row.at_ms for row in rows} == {row: times[row] for row in +content}
    # A batch that Spark does not know to be done comes again, as after a crash, and changes nothing.
    version = os.readlink(tmp_path / "table" / "current")
    for path in (tmp_path / "checkpoint" / "commits").glob("*2*"):
        path.unlink()
    merge(spark, tmp_path)
    assert held(spark, tmp_path) == +content
    assert os.readlink(tmp_path / "table" / "current") == version
    # A restart goes on, and what was left of an attempt that was stopped is no hindrance.
    give(spark, tmp_path, 3, drawn(chance, content, 300))
    left = tmp_path / "table" / (version[:-1] + "3")
    shutil.copytree(tmp_path / "table" / version, left)
    merge(spark, tmp_path)
    assert held(spark, tmp_path) == +content
    versions = [path.name for path in (tmp_path / "table").iterdir() if path.name[0] not in "._"]
    assert sorted(versions) == sorted([version, left.name, "current"])


def test_a_table_of_another_query_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    give(spark, tmp_path, 0, [(1, 1, '"a"', '"b"')])
    merge(spark, tmp_path)
    with pytest.raises(StreamingQueryException, match=r"go on from that query's checkpoint, or begin a new table"):
        merge(spark, tmp_path, checkpoint="another")
    assert held(spark, tmp_path) == {('"a"', '"b"'): 1}


def test_a_key_has_one_row_and_one_that_has_two_is_told(spark: SparkSession, tmp_path: Path) -> None:
    give(spark, tmp_path, 0, [(1, 1, '"a"', '"1"'), (2, 1, '"z"', '"1"'), (3, -1, '"a"', '"1"'), (3, 1, '"a"', '"2"')])
    merge(spark, tmp_path, key=["a"])
    assert held(spark, tmp_path) == {('"a"', '"2"'): 1, ('"z"', '"1"'): 1}
    give(spark, tmp_path, 1, [(4, 1, '"a"', '"3"')])
    with pytest.raises(StreamingQueryException, match=r'the key does not tell answers apart: there are several with a "a"'):
        merge(spark, tmp_path, key=["a"])
    assert held(spark, tmp_path) == {('"a"', '"2"'): 1, ('"z"', '"1"'): 1}


COUNTED = "SELECT ?b (COUNT(*) AS ?n) { STREAM <http://e/s> [RANGE 3s] { ?a <http://e/p> ?b } } GROUP BY ?b"


@pytest.mark.long
def test_a_table_of_a_continuous_query_has_its_current_solutions(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(3):
        lines = [f"<http://e/a{i}> <http://e/p> <http://e/b{i * i % 3}> .\n" for i in range(5 * number, 5 * number + 5)]
        (tmp_path / "in" / f"{number}.nt").write_text("".join(lines))
    source = pipeline.files(str(tmp_path / "in"), time="rate:2", maxFilesPerTrigger=1)
    answers = pipeline.continuous(COUNTED, {"http://e/s": source}, cells=2, output="changes", spark=spark)
    writer = pipeline.merge_into(answers, str(tmp_path / "table"), key=["b"])
    writer.option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True).start().awaitTermination()
    engine = Engine()
    query = engine.register(COUNTED)
    engine.read("http://e/s", str(tmp_path / "in"), time="rate:2")
    rows = spark.read.parquet(str(tmp_path / "table" / "current")).collect()
    wanted = {(str(solution["b"]), str(solution["n"])) for solution in query.solutions()}
    assert {(row.b, row.n) for row in rows} == wanted
    assert len(wanted) == len(rows) > 1


def test_what_cannot_be_a_table_is_told_before_anything_starts(spark: SparkSession) -> None:
    changes = spark.createDataFrame([(1, 1, "x", "y")], SCHEMA)
    with pytest.raises(OptionError, match=r"a key has columns of the answers, some of a, b; got \['c'\]"):
        pipeline.merge_into(changes, "t", key=["c"])
    with pytest.raises(OptionError, match="the format of a table is one of parquet, delta, got 'csv'"):
        pipeline.merge_into(changes, "t", format="csv")
    with pytest.raises(OptionError, match="weight is missing"):
        pipeline.merge_into(changes.drop("weight"), "t")
    answers = pipeline.continuous(COUNTED, {"http://e/s": "x"}, spark=spark)
    with pytest.raises(OptionError, match="the output of this query is ISTREAM: ask for SELECT CHANGES"):
        pipeline.merge_into(answers, "t")


def test_the_statement_for_delta_is_one_of_sparks(spark: SparkSession) -> None:
    statement = merge_statement("delta.`/tmp/t`", ["a", "b"])
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(statement)
    assert "MergeIntoTable" in plan.toString()
