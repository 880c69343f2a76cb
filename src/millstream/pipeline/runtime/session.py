"""Spark sessions in which millstream works: one of its own on this machine, or the caller's with the source registered."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from millstream.pipeline.runtime.connect import is_connect
from millstream.pipeline.runtime.java import find_java
from millstream.pipeline.runtime.spark_home import find_home
from millstream.pipeline.runtime.workers import check_workers
from millstream.pipeline.source.data_source import RdfSource
from millstream.pipeline.source.heartbeats import BeatSource
from millstream.pipeline.source.kafka_source import KafkaDataSource

# Partitions of a shuffle: each costs a task a trigger, whatever there is to do.
_MOST_PARTITIONS = 8
_CONNECT = "sc://"
_ONE_PROCESS = r"local(\[.*\])?"
_registered: WeakKeyDictionary[SparkSession, str] = WeakKeyDictionary()
# Spark speaks of its start before it knows which level it may speak at, unless Java is told from the beginning.
_LOGGING = Path(__file__).with_name("log4j2.properties")


def session(master: str | None = None, *, dedicated: bool = False, **conf: object) -> SparkSession:
    """A Spark session with the source `rdf`, on all cores of this machine unless `master` or spark-submit says otherwise.

    A `master` that begins with `sc://` is a server of Spark Connect.

    `dedicated`: nothing but continuous queries over files runs in it, on this machine. A trigger then costs less, whereas
    Spark's own work on many rows is slower.

    Settings go by keyword with `_` for `.` (`spark_driver_memory="4g"`), or as they are, `**{"spark.driver.memory": "4g"}`;
    they come before those chosen here. A session that is already running is taken as it is, with the settings that can
    still change.
    """
    given = {setting_name(name): _text(value) for name, value in conf.items()}
    if is_remote() or "SPARK_REMOTE" in os.environ or (master or "").startswith(_CONNECT):
        return _connected(master, given)
    from pyspark import SparkContext

    running = SparkContext._active_spark_context is not None
    if not running:
        find_java()
        if re.fullmatch(_ONE_PROCESS, master or "local") and "PYSPARK_GATEWAY_PORT" not in os.environ:
            find_home()
        for variable in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
            # Else workers take the first python3 of the path, which need not have millstream.
            os.environ.setdefault(variable, sys.executable)
    builder = SparkSession.builder.appName("millstream")
    submitted = {} if running else _submitted()
    settings = {**_settings(master or submitted.get("spark.master"), dedicated=dedicated), **submitted, **given}
    if master is not None:
        settings["spark.master"] = master
    if not running and settings["spark.master"].startswith("local"):
        # Spark's page shows queries and data, and asks nobody who they are: it is for this machine alone.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    for name, value in settings.items():
        # Those of a running context cannot change, and Spark warns of each.
        if not running or name.startswith("spark.sql."):
            builder = builder.config(name, value)
    spark = builder.getOrCreate()
    register(spark)
    if dedicated and not running and str(spark.sparkContext.master).startswith("local"):
        write_no_checksums(spark)
    if not running and not re.fullmatch(_ONE_PROCESS, str(spark.sparkContext.master)):
        check_workers(spark)
    return spark


def _connected(master: str | None, given: Mapping[str, str]) -> SparkSession:
    """A session of Spark Connect, which runs elsewhere: it is taken as it is, with the settings that can still change."""
    builder = SparkSession.builder
    if master is not None and master.startswith(_CONNECT):
        builder = builder.remote(master)
    spark = builder.getOrCreate()
    for name, value in {**_settings(_CONNECT, dedicated=False), **given}.items():
        if name.startswith("spark.sql.") and (name in given or spark.conf.isModifiable(name)):
            spark.conf.set(name, value)
    register(spark)
    if not os.environ.get("SPARK_LOCAL_REMOTE"):
        check_workers(spark)
    return spark


def register(spark: SparkSession) -> None:
    """Make the source `rdf` known to a session: `spark.read.format("rdf")`, `spark.readStream.format("rdf")`.

    Relative paths are then relative to the working folder of now: the process that lists files is not the caller's.
    """
    here = os.getcwd()
    # Once a session and folder: query functions of declarative pipelines may plan, and not register.
    if _registered.get(spark) == here:
        return

    class Here(RdfSource):
        folder = here

    spark.dataSource.register(Here)
    spark.dataSource.register(BeatSource)
    spark.dataSource.register(KafkaDataSource)
    _registered[spark] = here


def cores_of(spark: SparkSession) -> int | None:
    """How many tasks run at once, where that cannot change: in a session on this machine."""
    if is_connect(spark) or not re.fullmatch(_ONE_PROCESS, str(spark.sparkContext.master)):
        return None
    return spark.sparkContext.defaultParallelism


def write_no_checksums(spark: SparkSession) -> None:
    """Has Hadoop write local files alone: a checksum is one more file, and each file one more process, its chmod."""
    context = spark.sparkContext
    java: Any = context._jvm
    java.org.apache.hadoop.fs.FileSystem.getLocal(context._jsc.hadoopConfiguration()).setWriteChecksum(False)


def _submitted() -> dict[str, str]:
    """What spark-submit was told: it has started Java already, and its settings are there."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def _settings(master: str | None, *, dedicated: bool) -> dict[str, str]:
    where = master or "local[*]"
    cores = os.cpu_count() or 2
    settings = {
        "spark.master": where,
        # A run of its own is short mostly, and its page would take longer to start than it takes to be seen.
        "spark.ui.enabled": str(not dedicated).lower(),
        # Each session has a page of its own, on the next port that is free.
        "spark.port.maxRetries": "100",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.defaultJavaOptions": f'-Dlog4j2.configurationFile="{_LOGGING.as_uri()}"',
        "spark.driver.memory": "2g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(max(2, min(cores, _MOST_PARTITIONS))),
        # What transformWithState keeps its state in.
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        # A commit writes what changed instead of RocksDB's files: half the time of a small one.
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        # Time is told by the sources' own parts, so a batch without any has nothing to do.
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Else readers have it and cells do not, and Spark starts workers of either kind.
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    }
    if where.startswith("local"):
        # A machine whose own name does not resolve would not start.
        settings["spark.driver.host"] = "localhost"
        settings["spark.driver.bindAddress"] = "127.0.0.1"
        # The other one starts a process for every question about a file of this machine, forty a trigger.
        settings["spark.sql.streaming.checkpointFileManagerClass"] = (
            "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
        )
        if dedicated:
            # Java only hands bytes on here. Its second compiler takes half of a trigger's processor time for minutes, and
            # what it makes of the little that is left to Java is no faster.
            settings["spark.driver.defaultJavaOptions"] += " -XX:TieredStopAtLevel=1"
    return settings


def setting_name(keyword: str) -> str:
    """The setting that a keyword means: one with a dot is a name already, whose `_` are its own."""
    return keyword if "." in keyword else keyword.replace("_", ".")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
