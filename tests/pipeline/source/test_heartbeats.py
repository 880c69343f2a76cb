"""A DataFrame that is silent does not hold the others back for ever: cells are told the time, and find it idle."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable

from millstream import pipeline
from millstream.errors import OptionError
from millstream.pipeline.exchange.blobs import Header, read_headers
from millstream.pipeline.job.specification import StreamedSource, job_spec
from millstream.pipeline.source.heartbeats import BeatReader
from millstream.pipeline.state.clock import Clock

S0, S1 = "http://e/s0", "http://e/s1"
SCHEMA = "s string, p string, o string, at_ms long"
WINDOWS = ["{ STREAM <http://e/s0> [RANGE 1s] { ?a <http://e/p> ?b } }", "{ STREAM <http://e/s1> [RANGE 1s] { ?a ?q ?b } }"]
EITHER = f"SELECT * {{ {' UNION '.join(WINDOWS)} }}"


def brings(source: int, at_ms: int) -> Header:
    return Header(source, 0, 0, 0, 1, at_ms, (at_ms,), (0,))


def beat(now_ms: int, idle_ms: int | None = 1000) -> list[Header]:
    return [Header(source, (1 << 31) - 1, 0, 0, 0, None, now_ms=now_ms, idle_ms=idle_ms) for source in (0, 1)]


def points(*triggers: list[Header]) -> list[int | None]:
    """How far a clock of two sources is after each trigger; half of the time as another one that goes on from it."""
    clock = Clock([None, None], [False, False], 0)
    found = []
    for number, headers in enumerate(triggers):
        if number % 2:
            kept = clock.dump()
            clock = Clock([None, None], [False, False], 0)
            clock.load(kept)
        clock.see(headers)
        clock.advance()
        found.append(clock.at_ms)
    return found


def test_a_source_that_is_silent_for_the_timeout_holds_nobody_back() -> None:
    #  clock    0   500   1000   1500
    #  s0       5          6      7
    #  s1                                 never brings anything, and is heard of from the first beat on
    assert points([brings(0, 5), *beat(0)], beat(500), [brings(0, 6), *beat(1000)], [brings(0, 7)]) == [None, None, 6, 7]


def test_a_source_that_goes_on_is_waited_for_again() -> None:
    silent = [beat(0), beat(500), [brings(0, 5), *beat(1000)]]
    assert points(*silent, [brings(1, 8)], [brings(0, 20)]) == [None, None, 5, 5, 8]


def test_what_comes_between_beats_is_heard_of() -> None:
    assert points([brings(0, 5), *beat(0)], [brings(1, 3)], beat(900), [brings(0, 9)], beat(1800)) == [None, 3, 3, 3, 3]


def test_the_time_in_which_nothing_ran_is_no_silence() -> None:
    assert points([brings(0, 5), brings(1, 3), *beat(0)], beat(1_000_000, None), beat(1_000_500)) == [3, 3, 3]


def test_beats_come_while_a_job_waits_and_with_its_start() -> None:
    pack = job_spec(EITHER, [StreamedSource(S0, ordered=False), StreamedSource(S1, ordered=False)], cells=2).to_json()
    reader = BeatReader(60, [0, 1], pack)
    start = reader.initialOffset()
    assert reader.latestOffset(start, ReadAllAvailable()) == start
    time.sleep(0.04)
    end = reader.latestOffset(start, ReadAllAvailable())
    (partition,) = reader.partitions(start, end)
    blobs = [blob.as_py() for batch in reader.read(partition) for blob in batch.column("blob")]
    headers = [header for blob in blobs for header in read_headers(blob)]
    assert {(h.source, h.now_ms, h.idle_ms) for h in headers} == {(0, end["now_ms"], 60), (1, end["now_ms"], 60)}
    again = BeatReader(60, [0], pack)
    (partition,) = again.partitions(end, again.latestOffset(end, ReadAllAvailable()))
    assert partition.value[1]
    again.prepareForTriggerAvailableNow()
    assert again.latestOffset(end, ReadAllAvailable()) == end


@pytest.mark.long
def test_a_silent_dataframe_is_idle_after_a_while(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.readStream.schema(SCHEMA).parquet(str(tmp_path))
    with pytest.raises(OptionError, match=r"idle is a duration such as 5s, got 'soon'"):
        pipeline.continuous(EITHER, {S0: frame, S1: frame}, idle="soon", spark=spark)
    with pytest.raises(OptionError, match=r"lateness is a duration such as 5s, got 'soon'"):
        pipeline.continuous(EITHER, {S0: frame, S1: frame}, lateness="soon", spark=spark)
    rows = [(f"<http://e/a{i}>", "<http://e/p>", "<http://e/b>", i) for i in range(5)]
    spark.createDataFrame(rows, SCHEMA).coalesce(1).write.parquet(str(tmp_path / "s0"))
    (tmp_path / "s1").mkdir()
    frames = {S0: "s0", S1: "s1"}
    streams = {name: spark.readStream.schema(SCHEMA).parquet(str(tmp_path / folder)) for name, folder in frames.items()}
    answers = pipeline.continuous(EITHER, streams, cells=2, idle="1s", spark=spark)
    query = answers.writeStream.format("memory").queryName("either").start()
    try:
        until = time.monotonic() + 120
        while spark.table("either").count() < 5 and time.monotonic() < until:
            time.sleep(0.5)
        assert spark.table("either").count() == 5
    finally:
        query.stop()
