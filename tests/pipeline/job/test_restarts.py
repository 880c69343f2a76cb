"""A checkpoint belongs to the job that wrote it: that job goes on, another is refused in one line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from millstream import Engine, pipeline
from millstream.pipeline.runtime.failures import complaint_of
from tests.cli.running import millstream
from tests.pipeline.feeding import run, written

STREAM = "http://e/s"
QUERY = "SELECT CHANGES * { STREAM <http://e/s> [RANGE 3s] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } }"
OTHER = QUERY.replace("3s", "4s")
REFUSED = "Go on with the job as it was, or start the new one with a new checkpoint."


def write_file(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    lines = [f"<http://e/n{i}> <http://e/{'pq'[i % 2]}> <http://e/n{(i + 1) % 5}> .\n" for i in range(number, number + 8)]
    (folder / f"{number}.nt").write_text("".join(lines))


def go_on(spark: SparkSession, folder: Path, query: str, cells: int) -> None:
    source = pipeline.files(str(folder / "in"), time="rate:1")
    run(pipeline.continuous(query, {STREAM: source}, cells=cells, spark=spark), folder)


@pytest.mark.long
def test_a_job_goes_on_and_another_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    write_file(tmp_path / "in", 1)
    go_on(spark, tmp_path, QUERY, 2)
    write_file(tmp_path / "in", 2)
    go_on(spark, tmp_path, QUERY, 2)
    engine = Engine()
    query = engine.register(QUERY)
    engine.read(STREAM, str(tmp_path / "in"), time="rate:1")
    rows = query.take_table().to_pylist()
    wanted = Counter((r["at_ms"], r["weight"], tuple(r[v] for v in query.variables)) for r in rows)
    assert wanted
    assert written(spark, tmp_path) == wanted
    write_file(tmp_path / "in", 3)
    with pytest.raises(StreamingQueryException) as caught:
        go_on(spark, tmp_path, OTHER, 2)
    message = complaint_of(caught.value)
    assert message == f"the checkpoint was written by another job: the query changed. {REFUSED}"
    with pytest.raises(StreamingQueryException) as caught:
        go_on(spark, tmp_path, QUERY, 3)
    message = complaint_of(caught.value)
    assert message is not None
    assert "changed (it had 2 cells, now 3)" in message
    assert message.endswith(REFUSED)


CLOSING = "SELECT RSTREAM ?b (COUNT(*) AS ?n) { STREAM <http://e/s> [RANGE 5s STEP 5s] { ?a <http://e/p> ?b } } GROUP BY ?b"


@pytest.mark.long
def test_a_run_goes_on_with_files_that_came_behind_its_end(tmp_path: Path) -> None:
    # Of the first eight seconds the last three are in a window that only the end closes: the next run opens it again.
    (tmp_path / "q.rq").write_text(CLOSING)
    files = ["--stream", f"{STREAM}=in", "--time", "rate:1", "--format", "csv"]
    for number in (1, 2):
        write_file(tmp_path / "in", number)
        ran = millstream("run", "q.rq", *files, "--checkpoint", "cp", "--output", "out.csv", cwd=tmp_path)
        # What Java and Spark's own processes say is in a file of the checkpoint.
        assert [line.partition(":")[0] for line in ran.stderr.splitlines()] == ["done"]
        millstream("run", "--engine", "embedded", "q.rq", *files, "--output", "at-once.csv", cwd=tmp_path)
        found, wanted = ((tmp_path / name).read_text().splitlines() for name in ("out.csv", "at-once.csv"))
        assert sorted(found) == sorted(wanted)
        assert len(found) > 2
    # Hadoop's checksums are files of their own, and processes: a run does without.
    assert not list((tmp_path / "cp").rglob("*.crc"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "options", "told"),
    [(OTHER, ["--cells", "2"], "the query changed"), (QUERY, ["--cells", "3"], "(it had 2 cells, now 3)")],
)
def test_a_run_with_another_query_or_other_cells_is_refused(
    tmp_path: Path, query: str, options: list[str], told: str
) -> None:
    write_file(tmp_path / "in", 1)
    files = ["--stream", f"{STREAM}=in", "--time", "rate:1", "--checkpoint", "cp", "--output", "out.csv"]
    (tmp_path / "q.rq").write_text(QUERY)
    millstream("run", "--engine", "spark", "q.rq", *files, "--cells", "2", cwd=tmp_path)
    before = (tmp_path / "out.csv").read_text()
    write_file(tmp_path / "in", 2)
    (tmp_path / "q.rq").write_text(query)
    again = millstream("run", "--engine", "spark", "q.rq", *files, *options, cwd=tmp_path, code=2)
    [line] = [line for line in again.stderr.splitlines() if "the checkpoint was written by another job" in line]
    assert told in line
    assert line.endswith(REFUSED)
    assert (tmp_path / "out.csv").read_text() == before
