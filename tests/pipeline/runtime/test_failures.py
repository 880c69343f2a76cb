"""The cause of a failed job is told in one line: what Spark said, recorded, shortened where traces repeat themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from millstream.errors import MillstreamError, StorageError
from millstream.pipeline.job.checkpoints import damage_told
from millstream.pipeline.runtime.failures import cause_of, failure_of

APPENDED = """
=== Streaming Query ===
Identifier: 0-q [id = 33271780-d1aa-484e-8591-7ac50b6849a2, runId = dc2262b2-9f76-45f0-9620-b9c4b0a5d891]
Current Committed Offsets: {}
Current Available Offsets: {}

Current State: ACTIVE
Thread State: RUNNABLE

Logical Plan:
~WriteToMicroBatchDataSourceV1 ForeachBatchSink, 33271780-d1aa-484e-8591-7ac50b6849a2, [queryName=0-q], Append
+- ~TransformWithStateInPySpark transformWithStateUDF(cell#0, blob#1)#2, 1, [kind#3, blob#4], Append, NoTime, pandas
"""
IN_A_WORKER = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/pyspark/worker.py", line 4327, in invoke_udf
    run_process()
  File "/src/millstream/pipeline/state/processor.py", line 132, in handleInputRows
    outcome, living, end = self._take(cell_keeper(spread, number, self.static), number, blobs)
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
ValueError: the cell cannot do this
"""
IN_A_READER = """[PYTHON_EXCEPTION] An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/src/millstream/pipeline/source/data_source.py", line 291, in _read
    yield from packed_of(parts, options.pack, options.source, options.dead_letter)
KeyError: 'nothing here'
 SQLSTATE: 38000
"""
IN_THE_PLANNER = (
    """[STREAM_FAILED] Query [id = 33271780, runId = dc2262b2] terminated with exception: \
[PYTHON_DATA_SOURCE_ERROR] Failed when Python data source instance runs latestOffset: Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/pyspark/sql/streaming/python_streaming_source_runner.py", line 281, in main
  File "/src/millstream/pipeline/source/data_source.py", line 147, in latestOffset
    moved, complete = move_on(offset, found, lambda file: _cuts(options, file), max_files=files, max_bytes=bytes)
                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: planning went wrong
 SQLSTATE: 38000"""
    + APPENDED
)
VANISHED = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/src/millstream/pipeline/source/reading.py", line 107, in read_part
    with open_piece(part.path, part.start, part.end) as piece:
         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/src/millstream/pipeline/source/files.py", line 162, in open_piece
    raise DataError(f"cannot be read: {error.strerror or error}", source=path) from error
millstream.errors.DataError: /data/in/0.nt: cannot be read: No such file or directory
"""
KILLED = """An error occurred while calling o172.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult: 
	at org.apache.spark.util.SparkThreadUtils$.awaitResult(SparkThreadUtils.scala:53)
Caused by: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 1.0 failed 1 times, \
most recent failure: Lost task 1.0 in stage 1.0 (TID 2) (localhost executor driver): org.apache.spark.SparkException: \
Python worker exited unexpectedly (crashed). Consider setting 'spark.python.worker.faulthandler.enabled'.
	at org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handle(PythonRunner.scala:746)
Caused by: java.io.EOFException
	at java.base/java.io.DataInputStream.readInt(DataInputStream.java:386)
	... 29 more

Driver stacktrace:
	at org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2915)
Caused by: java.io.EOFException
	... 29 more
"""  # noqa: W291
OF_JAVA = (
    """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Job aborted due to stage failure: Task 0 in \
stage 3.0 failed 1 times, most recent failure: Lost task 0.0 in stage 3.0 (TID 5) (localhost executor driver): \
org.apache.spark.SparkException: [CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state.
	at org.apache.spark.sql.errors.QueryExecutionErrors$.cannotLoadStore(QueryExecutionErrors.scala:2278)
Caused by: java.lang.IllegalStateException: Error reading delta file /cp/0-q/state/0/1/2.changelog: not there
	at org.apache.spark.sql.execution.streaming.state.RocksDB.replayChangelog(RocksDB.scala:300)
Caused by: java.io.EOFException
	... 30 more
 SQLSTATE: XXKST"""
    + APPENDED
)
WITHOUT_A_FILE = """An error occurred while calling o399.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult:
	at org.apache.spark.util.SparkThreadUtils$.awaitResult(SparkThreadUtils.scala:53)
Caused by: org.apache.spark.SparkException: [CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state. \
 SQLSTATE: 58030
	at org.apache.spark.sql.errors.QueryExecutionErrors$.cannotLoadStore(QueryExecutionErrors.scala:2278)
Caused by: java.io.EOFException
	at java.base/java.io.DataInputStream.readInt(DataInputStream.java:386)
"""
WITH_A_THREAD_DUMP = (
    """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Job aborted.
org.apache.spark.SparkException: [CANNOT_LOAD_STATE_STORE.UNRELEASED_THREAD_ERROR] StateStoreId(opId=0,partId=1): RocksDB \
instance could not be acquired by [ThreadId: 71, TID 20] as it was not released by [ThreadId: 70] after 60009 ms.
Thread holding the lock has trace: java.base@17.0.11/sun.nio.ch.EPoll.wait(Native Method)
java.base@17.0.11/java.lang.Thread.run(Thread.java:840) SQLSTATE: 58030
	at org.apache.spark.sql.execution.streaming.state.RocksDB.acquire(RocksDB.scala:1230)"""
    + APPENDED
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (IN_A_WORKER, "ValueError: the cell cannot do this"),
        (IN_A_READER, "KeyError: 'nothing here'"),
        (IN_THE_PLANNER, "RuntimeError: planning went wrong"),
        (KILLED, "a Python worker was killed or crashed; mostly there was too little memory for it"),
        (
            OF_JAVA,
            "IllegalStateException: Error reading delta file /cp/0-q/state/0/1/2.changelog: not there (EOFException)",
        ),
        (WITHOUT_A_FILE, "SparkException: An error occurred during loading state (EOFException)"),
        ("", "no reason given"),
        ("Connection refused" + APPENDED, "Connection refused"),
    ],
)
def test_the_cause_is_told_in_one_line(text: str, cause: str) -> None:
    assert cause_of(text) == cause
    assert str(failure_of(Exception(text))) == f"the Spark job failed: {cause}"


def test_a_dump_of_threads_is_no_cause() -> None:
    cause = cause_of(WITH_A_THREAD_DUMP)
    assert "RocksDB instance could not be acquired" in cause
    assert "Thread State" not in cause
    assert "\n" not in cause


def test_what_millstream_said_is_said_without_spark() -> None:
    assert str(failure_of(Exception(VANISHED))) == "/data/in/0.nt: cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Traceback (most recent call last):\n  File\nOSError: [Errno 28] No space left on device: '/cp/letters/1.jsonl'",
            "/cp/letters/1.jsonl: cannot be written: No space left on device",
        ),
        (
            "org.rocksdb.RocksDBException: While appending to file: /tmp/spark/rocksdb/000012.log: No space left on device",
            "/tmp/spark/rocksdb/000012.log: cannot be written: No space left on device",
        ),
        (
            "Caused by: java.io.IOException: No space left on device\n\tat java.base/java.io.FileOutputStream.writeBytes",
            "the Spark job: cannot be written: No space left on device",
        ),
        (
            "Traceback (most recent call last):\nmillstream.errors.StorageError: x: cannot be written: Disk quota exceeded",
            "x: cannot be written: Disk quota exceeded",
        ),
    ],
)
def test_a_full_disk_is_told_as_such(text: str, told: str) -> None:
    found = failure_of(Exception(text + APPENDED))
    assert isinstance(found, StorageError)
    assert str(found) == told


def test_state_that_cannot_be_loaded_is_told_with_its_file() -> None:
    assert damage_told(OF_JAVA, Path("/cp")) == "/cp/0-q/state/0/1/2.changelog"
    assert damage_told(WITHOUT_A_FILE, Path("/cp")) == "/cp (its state)"
    assert damage_told(WITH_A_THREAD_DUMP, Path("/cp")) is None
    assert damage_told(IN_A_WORKER, Path("/cp")) is None


@pytest.mark.slow
def test_a_real_job_tells_its_cause(spark: SparkSession) -> None:
    def fails(rows: object) -> object:
        raise ZeroDivisionError("there is nothing to divide by")

    with pytest.raises(PySparkException) as caught:
        spark.range(2).mapInPandas(fails, "id long").collect()  # type: ignore[arg-type]
    found = failure_of(caught.value)
    assert type(found) is MillstreamError
    assert str(found) == "the Spark job failed: ZeroDivisionError: there is nothing to divide by"
