"""Late elements of a job: they go to dead letters and are counted, wherever their triples went."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from millstream import pipeline
from millstream.pipeline.job.specification import StreamedSource, job_spec
from tests.pipeline.feeding import written
from tests.pipeline.job.test_metrics import metrics_of, run
from tests.pipeline.simulation import Element, Job

STREAM = "http://e/s"
SCHEMA = "s string, p string, o string, at_ms long"
PAIRS = "SELECT * { STREAM <http://e/s> [RANGE 1s] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } }"


def letters_in(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for path in sorted(folder.iterdir()) for line in path.read_text().splitlines()]


def streamed(spark: SparkSession, folder: Path, triggers: list[list[tuple[str, str, str, int]]]) -> DataFrame:
    """Rows as a DataFrame that streams, so many a trigger."""
    for number, rows in enumerate(triggers):
        spark.createDataFrame(rows, SCHEMA).coalesce(1).write.mode("append").parquet(str(folder / str(number)))
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).option("recursiveFileLookup", True)
    return reader.parquet(str(folder))


def test_a_partition_that_is_a_trigger_behind_is_late_and_told(spark: SparkSession, tmp_path: Path) -> None:
    #   trigger 1   p0 p1 p2 ... p9
    #   trigger 2                    q0 q1 ... q9    of the same times: all but the last had passed
    first = [(f"<http://e/a{i}>", "<http://e/p>", f"<http://e/b{i}>", i * 10) for i in range(10)]
    second = [(f"<http://e/b{i}>", "<http://e/q>", f"<http://e/c{i}>", i * 10) for i in range(10)]
    frame = streamed(spark, tmp_path / "in", [first, second])
    answers = pipeline.continuous(PAIRS, {STREAM: frame}, cells=2, dead_letter=str(tmp_path / "letters"), spark=spark)
    query = run(answers, tmp_path)
    assert sum(written(spark, tmp_path).values()) == 1
    letters = letters_in(tmp_path / "letters")
    wanted = {(f"late: its time is {at_ms} ms, which had passed", f"{s} {p} {o} .") for s, p, o, at_ms in second[:9]}
    assert {(letter["reason"], letter["text"]) for letter in letters} == wanted
    assert len(letters) == 9
    assert {letter["file"] for letter in letters} == {STREAM}
    # Elements, though cells have triples of them apart.
    assert [metrics["late"] for metrics in metrics_of(query)] == [0, 9]


STARS = "SELECT * { STREAM <http://e/s> [RANGE 9] { ?a <http://e/p> ?b . ?b <http://e/q> ?c . ?c <http://e/p> ?a } }"


@pytest.mark.parametrize("cells", [1, 4, 8])
@pytest.mark.parametrize("changes", [False, True])
def test_a_late_triple_is_told_by_one_of_the_cells_it_goes_to(cells: int, changes: bool) -> None:
    chance = random.Random(cells)
    sources = [StreamedSource(STREAM), StreamedSource(None, changes=True)][: 2 if changes else 1]
    text = STARS.replace("?c <http://e/p> ?a }", "}  ?c <http://e/p> ?a") if changes else STARS
    job = Job(job_spec(text, sources, cells=cells), None, 1, calm=True)
    told: list[tuple[int, int, int, str]] = []
    late: list[tuple[int, str]] = []
    newest = 0
    for _ in range(20):
        arrived: list[list[Element]] = []
        for source in range(len(sources)):
            triples = {
                f"<http://e/{chance.randrange(4)}> <http://e/{chance.choice('pq')}> <http://e/{chance.randrange(4)}> ."
                for _ in range(3)
            }
            if source:
                triples = {triple for triple in triples if "/p>" in triple}
            arrived.append([Element(tuple(sorted(triples)), newest - (3 if newest else 0))] if triples else [])
            late += [(source, triple) for triple in triples if newest]
        job.trigger(arrived)
        job.trigger([[Element(("<http://e/x> <http://e/p> <http://e/y> .",), newest + 5)] for _ in sources])
        newest += 5
        told += job.take_late()
    assert sorted((source, triple) for source, _, _, triple in told) == sorted(late)
    assert len(late) > 20
