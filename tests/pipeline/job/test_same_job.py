"""A checkpoint of another job is refused in the driver, before anything is started, in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable

from millstream import pipeline
from millstream.errors import OptionError, SnapshotError
from millstream.pipeline.job.same_job import check_plan, short_text
from millstream.pipeline.job.specification import LAYOUT, StreamedSource, job_spec
from millstream.pipeline.runtime.failures import complaint_of
from millstream.pipeline.source.options import read_options
from millstream.pipeline.source.stream_reader import RdfStreamReader
from tests.cli.running import millstream
from tests.pipeline.feeding import run

STREAM = "http://e/s"
QUERY = "SELECT CHANGES * { STREAM <http://e/s> [RANGE 3s] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } }"
OTHER = QUERY.replace("3s", "4s")
REFUSED = "Go on with the job as it was, or start the new one with a new checkpoint."
SCHEMA = "s string, p string, o string, at_ms long"


def planned(query: str = QUERY, cells: int = 2) -> str:
    return job_spec(query, [StreamedSource(STREAM, rate="1")], cells=cells).to_json()


def reader(folder: Path, job: str) -> RdfStreamReader:
    return RdfStreamReader(read_options({"path": str(folder), "time": "rate:1", "pack": job}))


def test_a_job_in_short_tells_what_changed_and_is_short() -> None:
    assert len(short_text(planned())) < 500
    assert short_text(planned()) == short_text(planned())
    assert short_text(planned()) != short_text(planned(OTHER))


def test_an_offset_of_another_job_is_refused_where_batches_are_planned(tmp_path: Path) -> None:
    (tmp_path / "1.nt").write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    mine = reader(tmp_path, planned())
    start = mine.initialOffset()
    end = mine.latestOffset(start, ReadAllAvailable())
    assert mine.partitions(start, end)
    assert mine.latestOffset(end, ReadAllAvailable()) == end
    changed = {OTHER: "the query changed. ", QUERY: r"the number of cells changed \(it had 2 cells, now 3\). "}
    for query, cells in ((OTHER, 2), (QUERY, 3)):
        theirs = reader(tmp_path, planned(query, cells))
        message = "the checkpoint was written by another job: " + changed[query] + REFUSED
        with pytest.raises(SnapshotError, match=message):
            theirs.latestOffset(end, ReadAllAvailable())
        # A batch that was begun and not done is planned again from its offsets, without asking for the latest.
        with pytest.raises(SnapshotError, match=message):
            theirs.partitions(start, end)
    # As an earlier version wrote it: nobody knows yet, and cells look at their state.
    assert theirs.latestOffset({**end, "job": None}, ReadAllAvailable())


def test_a_kept_plan_is_compared_without_spark() -> None:
    kept = planned()
    check_plan(kept, text=QUERY, cells=2, lateness_ms=0)
    for told, arguments in {
        "the query changed": (OTHER, 2, 0),
        r"the number of cells changed \(it had 2 cells, now 3\)": (QUERY, 3, 0),
        "the lateness changed": (QUERY, 2, 5),
    }.items():
        text, cells, lateness_ms = arguments
        with pytest.raises(SnapshotError, match=told):
            check_plan(kept, text=text, cells=cells, lateness_ms=lateness_ms)
    earlier = json.dumps({**json.loads(kept), "layout": LAYOUT - 1})
    with pytest.raises(SnapshotError, match="the layout of millstream's state changed"):
        check_plan(earlier, text=QUERY, cells=2, lateness_ms=0)


def test_a_run_is_refused_before_spark_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in.nt").write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    (tmp_path / "q.rq").write_text(OTHER)
    plan = tmp_path / "cp" / "0-q" / "millstream.json"
    plan.parent.mkdir(parents=True)
    plan.write_text(planned())
    # With this Java Spark could not start.
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    told = millstream(
        "run", "--engine", "spark", "q.rq", "--stream", f"{STREAM}=in.nt", "--time", "rate:1", "--checkpoint", "cp",
        cwd=tmp_path, code=2,
    )  # fmt: skip
    line = told.stderr.splitlines()[-1]
    assert line.endswith(f"cp: the checkpoint was written by another job: the query changed. {REFUSED}")


def test_a_checkpoint_can_be_asked_whether_it_is_this_jobs(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.nt").write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    checkpoint = str(tmp_path / "checkpoint")
    files = pipeline.files(str(tmp_path / "in"), time="rate:1")
    mine, theirs = (pipeline.continuous(q, {STREAM: files}, cells=2, spark=spark) for q in (QUERY, OTHER))
    pipeline.check_checkpoint(mine, checkpoint)
    run(mine, tmp_path)
    pipeline.check_checkpoint(mine, checkpoint)
    with pytest.raises(SnapshotError, match=r"^the checkpoint was written by another job: the query changed\."):
        pipeline.check_checkpoint(theirs, checkpoint)
    with pytest.raises(OptionError, match=r"answers is the DataFrame that pipeline\.continuous gave"):
        pipeline.check_checkpoint(theirs.select("a"), checkpoint)
    # Who does not ask is told by the process that plans the first batch: no task of Spark's has run.
    before = spark.sparkContext.statusTracker().getJobIdsForGroup(None)
    with pytest.raises(StreamingQueryException) as caught:
        run(theirs, tmp_path)
    assert complaint_of(caught.value) == f"the checkpoint was written by another job: the query changed. {REFUSED}"
    assert spark.sparkContext.statusTracker().getJobIdsForGroup(None) == before


@pytest.mark.long
def test_a_checkpoint_of_dataframes_is_asked_by_its_state(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("<http://e/a>", "<http://e/p>", "<http://e/b>", 1)]
    spark.createDataFrame(rows, SCHEMA).write.parquet(str(tmp_path / "in"))
    frame = spark.readStream.schema(SCHEMA).parquet(str(tmp_path / "in"))
    mine, theirs = (pipeline.continuous(QUERY, {STREAM: frame}, cells=cells, spark=spark) for cells in (2, 3))
    run(mine, tmp_path)
    pipeline.check_checkpoint(mine, str(tmp_path / "checkpoint"))
    with pytest.raises(SnapshotError, match=r"the number of cells changed \(it had 2 cells, now 3\)"):
        pipeline.check_checkpoint(theirs, str(tmp_path / "checkpoint"))
