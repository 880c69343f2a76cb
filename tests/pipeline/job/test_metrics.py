"""What can be seen of a running job: counts in Spark's progress, names in its plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from millstream import pipeline

STREAM = "http://e/s"
COUNTED = "SELECT (COUNT(*) AS ?n) { STREAM <http://e/s> [RANGE 20s] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } }"
PAIRS = "SELECT * { STREAM <http://e/s> [RANGE 20s] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } }"


def write_files(folder: Path) -> None:
    """Two files of ten lines, a second each: six match a pattern, three none, and the last of the second is malformed."""
    folder.mkdir()
    for number in range(2):
        places = [f"{number}{i}" for i in range(3)]
        pairs = [
            f"<http://e/a{i}> <http://e/p> <http://e/b{i}> .\n<http://e/b{i}> <http://e/q> <http://e/c> .\n" for i in places
        ]
        others = [f"<http://e/a{i}> <http://e/other> <http://e/b{i}> .\n" for i in places]
        (folder / f"{number}.nt").write_text("".join([*pairs, *others, "oops\n" if number else "<a:a> <a:b> <a:c> .\n"]))


def run(answers: DataFrame, folder: Path) -> StreamingQuery:
    writer = answers.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(folder / "answers"))
    query.awaitTermination()
    return query


def metrics_of(query: StreamingQuery, name: str = "millstream") -> list[dict[str, Any]]:
    return [progress["observedMetrics"][name].asDict() for progress in query.recentProgress if progress["numInputRows"]]


EVENTS = "SELECT * { STREAM <http://e/s> [EVENT] { ?a <http://e/p> ?b } }"


@pytest.mark.parametrize(
    ("query", "answers", "kept"),
    [
        pytest.param(PAIRS, 3, 6, id="cells"),
        # A count of nothing is there first; then each pair takes a count back and gives the next.
        pytest.param(COUNTED, None, 6, id="two stages"),
        pytest.param(EVENTS, 3, 3, id="elements alone"),
    ],
)
def test_progress_shows_what_a_trigger_read_and_gave(
    spark: SparkSession, tmp_path: Path, query: str, answers: int | None, kept: int
) -> None:
    write_files(tmp_path / "in")
    source = pipeline.files(str(tmp_path / "in"), time="rate:1", maxFilesPerTrigger=1)
    job = pipeline.continuous(query, {STREAM: source}, cells=2, dead_letter=str(tmp_path / "dead"), spark=spark)
    metrics = metrics_of(run(job, tmp_path))
    assert [each["elements"] for each in metrics] == [10, 9]
    assert [each["triples"] for each in metrics] == [10, 9]
    assert [each["set_aside"] for each in metrics] == [0, 1]
    assert [each["kept"] for each in metrics] == [kept, kept]
    assert [each["late"] for each in metrics] == [0, 0]
    written = spark.read.parquet(str(tmp_path / "answers")).count()
    assert sum(each["answers"] for each in metrics) == written
    assert answers is None or [each["answers"] for each in metrics] == [answers, answers]
    if query == EVENTS:
        # Every element is answered by itself: there is no state, and nothing that time waits for.
        assert {(each["state_bytes"], each["watermark_ms"], each["lag_ms"]) for each in metrics} == {(0, None, None)}
    else:
        assert [(each["watermark_ms"], each["lag_ms"]) for each in metrics] == [(9_000, 0), (18_000, 0)]
        assert all(each["state_bytes"] > 0 for each in metrics)


def test_the_watermark_lags_by_the_lateness_and_the_slower_source(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in")
    query = PAIRS.replace(". ?b", "} STREAM <http://e/t> [RANGE 20s] { ?b")
    paces = {STREAM: "rate:1", "http://e/t": "rate:2"}
    streams = {name: pipeline.files(str(tmp_path / "in"), time=time) for name, time in paces.items()}
    letters = str(tmp_path / "dead")
    job = pipeline.continuous(query, streams, cells=2, lateness="3s", dead_letter=letters, metrics="pairs", spark=spark)
    (metrics,) = metrics_of(run(job, tmp_path), "pairs")
    # The nineteen elements end at 18 s here and at 9 s there, of which the lateness holds three back.
    assert (metrics["elements"], metrics["watermark_ms"], metrics["lag_ms"]) == (38, 6_000, 12_000)


def test_plans_name_the_steps_of_a_job(spark: SparkSession, tmp_path: Path) -> None:
    schema = "s string, p string, o string, at_ms long"
    frame = spark.createDataFrame([("<http://e/a>", "<http://e/p>", "<http://e/b>", 0)], schema)
    job = pipeline.continuous(PAIRS, {STREAM: frame}, cells=2, spark=spark)
    plan = job._jdf.queryExecution().toString()
    assert "MapInArrow millstream_pack(" in plan
    assert "MapInArrow millstream_answers(" in plan
    assert "partial(" not in plan
