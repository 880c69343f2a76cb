"""The source `rdf` in Spark: the same rows for every cut into files, parts and triggers, before and after a restart."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from millstream import pipeline
from millstream.pipeline.runtime.failures import complaint_of

LINES = [f'<http://e/s{i % 7}> <http://e/p{i % 3}> "{i}" .' for i in range(60)]
EXPECTED = [(f"<http://e/s{i % 7}>", f"<http://e/p{i % 3}>", f'"{i}"', None, i * 100) for i in range(60)]


def write_files(folder: Path, count: int, first: int = 0) -> None:
    """The lines in files of about the same length; each second one compressed."""
    folder.mkdir(exist_ok=True)
    for number in range(first, count):
        text = "\n".join(LINES[60 * number // count : 60 * (number + 1) // count]) + "\n"
        data = gzip.compress(text.encode()) if number % 2 else text.encode()
        (folder / f"{number:03d}.nt{'.gz' if number % 2 else ''}").write_bytes(data)


def in_order(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The rows in the order of their elements."""
    return [tuple(row)[:5] for row in frame.orderBy("element").collect()]


def stream(spark: SparkSession, folder: Path, output: Path, *, now: bool = True, **options: object) -> StreamingQuery:
    """A stream of a folder into another, as far as the files there are now unless told otherwise."""
    reader = spark.readStream.format("rdf").option("time", "rate:10").options(**options)  # type: ignore[arg-type]
    writer = reader.load(str(folder)).writeStream.format("parquet").option("checkpointLocation", str(output / "checkpoint"))
    return (writer.trigger(availableNow=True) if now else writer).start(str(output / "rows"))


def written(spark: SparkSession, output: Path) -> list[tuple[Any, ...]]:
    return in_order(spark.read.parquet(str(output / "rows")))


def batches(query: StreamingQuery) -> int:
    return sum(progress["numInputRows"] > 0 for progress in query.recentProgress)


@pytest.mark.parametrize(("files", "options"), [(1, {}), (7, {}), (2, {"splitBytes": "200"})])
def test_a_batch_has_the_same_rows_for_every_cut(
    spark: SparkSession, tmp_path: Path, files: int, options: dict[str, str]
) -> None:
    write_files(tmp_path / "in", files)
    frame = spark.read.format("rdf").option("time", "rate:10").options(**options).load(str(tmp_path / "in"))
    assert frame.columns == ["s", "p", "o", "g", "at_ms", "element"]
    assert in_order(frame) == EXPECTED
    assert frame.select("element").distinct().count() == 60


def test_several_paths_are_read_as_listed(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, 2)
    reader = spark.read.format("rdf").option("time", "rate:10")
    paths = [str(tmp_path / "001.nt.gz"), str(tmp_path / "0*0.nt")]
    assert [row[2] for row in in_order(reader.load(paths))] == [f'"{i}"' for i in (*range(30, 60), *range(30))]


@pytest.mark.parametrize(
    ("options", "triggers"), [({"maxFilesPerTrigger": "2"}, 3), ({"maxBytesPerTrigger": "900", "splitBytes": "200"}, 2)]
)
def test_a_stream_has_the_same_rows_for_every_cut(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], triggers: int
) -> None:
    write_files(tmp_path / "in", 5)
    query = stream(spark, tmp_path / "in", tmp_path / "out", **options)
    query.awaitTermination()
    assert written(spark, tmp_path / "out") == EXPECTED
    assert batches(query) >= triggers


def test_a_restart_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", 3)
    last = tmp_path / "in" / "002.nt"
    kept = last.read_bytes()
    last.unlink()
    stream(spark, tmp_path / "in", tmp_path / "out").awaitTermination()
    assert len(written(spark, tmp_path / "out")) == 40
    last.write_bytes(kept)
    # The batch was planned but not committed: it is read again.
    for name in ("0", ".0.crc"):
        (tmp_path / "out" / "checkpoint" / "commits" / name).unlink()
    stream(spark, tmp_path / "in", tmp_path / "out").awaitTermination()
    assert written(spark, tmp_path / "out") == EXPECTED
    again = stream(spark, tmp_path / "in", tmp_path / "out")
    again.awaitTermination()
    assert batches(again) == 0


def test_a_file_is_taken_while_the_stream_runs_and_only_once_it_is_in_place(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "all", 2)
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "all" / "000.nt").rename(folder / "000.nt")
    query = stream(spark, folder, tmp_path / "out", now=False)
    try:
        query.processAllAvailable()
        assert len(written(spark, tmp_path / "out")) == 30
        (folder / "_half.nt").write_text("<http://e/half")
        (tmp_path / "all" / "001.nt.gz").rename(folder / "001.nt.gz")
        deadline = time.monotonic() + 60
        while len(written(spark, tmp_path / "out")) < 60 and time.monotonic() < deadline:
            time.sleep(0.2)
    finally:
        query.stop()
    assert written(spark, tmp_path / "out") == EXPECTED


def test_what_is_malformed_is_set_aside_once_with_its_place(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.nt").write_text("\n".join([*LINES[:30], "no statement", *LINES[30:], "<http://e/x> ."]))
    reader = spark.read.format("rdf").option("time", "rate:10").option("splitBytes", "500")
    frame = reader.option("deadLetter", str(folder / "dead")).load(str(folder))
    for _ in range(2):
        assert in_order(frame) == EXPECTED
    letters = sorted((folder / "dead").iterdir())
    found = [json.loads(line) for path in letters for line in path.read_text().splitlines()]
    assert [(row["file"], row["line"], row["text"]) for row in found] == [
        (str(folder / "a.nt"), 31, "no statement"),
        (str(folder / "a.nt"), 62, "<http://e/x> ."),
    ]
    assert all(row["reason"] and row["column"] for row in found)


def test_relative_paths_are_those_of_the_caller(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "in", 1)
    monkeypatch.chdir(tmp_path)
    pipeline.register(spark)
    assert spark.read.format("rdf").option("time", "rate:10").load("in").count() == 60


def test_a_wrong_option_is_one_readable_message(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", 1)
    with pytest.raises(PySparkException, match=r"the source rdf has no option 'tyme'; did you mean 'time'\?"):
        spark.read.format("rdf").option("tyme", "rate:1").load(str(tmp_path / "in"))
    with pytest.raises(PySparkException, match="does not say when things happened"):
        spark.read.format("rdf").load(str(tmp_path / "in")).count()
    with pytest.raises(PySparkException) as caught:
        spark.readStream.format("rdf").load("/nowhere").writeStream.format("noop").start().awaitTermination()
    assert complaint_of(caught.value) == "/nowhere: no such file"
