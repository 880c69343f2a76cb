"""Sessions, and the Java they need."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

from millstream import JavaMissingError, pipeline
from millstream.pipeline.runtime.java import find_java
from millstream.pipeline.runtime.session import _settings, setting_name


def fake_java(folder: Path, says: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\n{says}\n")
    java.chmod(0o755)
    return folder


def test_importing_millstream_does_not_import_spark() -> None:
    subprocess.run([sys.executable, "-c", "import millstream, sys; assert 'pyspark' not in sys.modules"], check=True)


def test_a_session_that_runs_is_taken_as_it_is(spark: SparkSession) -> None:
    again = pipeline.session("local[1]", **{"spark.sql.shuffle.partitions": 3})
    try:
        assert again.sparkContext is spark.sparkContext
        assert again.sparkContext.master == "local[2]"
        assert again.conf.get("spark.sql.shuffle.partitions") == "3"
        assert again.conf.get("spark.sql.session.timeZone") == "UTC"
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")


def test_a_setting_with_an_underscore_in_its_name_can_be_set(spark: SparkSession) -> None:
    name = "spark.sql.catalog.spark_catalog.tried"
    try:
        assert pipeline.session(**{name: "yes"}).conf.get(name) == "yes"
    finally:
        spark.conf.unset(name)


@pytest.mark.parametrize(
    ("keyword", "name"),
    [
        ("spark_driver_memory", "spark.driver.memory"),
        ("spark.sql.catalog.spark_catalog", "spark.sql.catalog.spark_catalog"),
        ("spark.driver.memory", "spark.driver.memory"),
    ],
)
def test_only_a_keyword_without_a_dot_has_underscores_for_dots(keyword: str, name: str) -> None:
    assert setting_name(keyword) == name


def test_java_is_found() -> None:
    assert find_java().name == "java"


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ("echo 'openjdk version \"1.8.0_402\"' >&2", r"needs Java 17 or newer, and JAVA_HOME, .*, is Java 8\."),
        ("echo 'openjdk version \"11.0.2\" 2019' >&2", r"is Java 11\. Install Java 17 or newer"),
        ("exit 1", "does not run"),
    ],
)
def test_a_java_that_will_not_do_is_named(tmp_path: Path, says: str, message: str) -> None:
    home = fake_java(tmp_path / "home", says)
    with pytest.raises(JavaMissingError, match=message):
        find_java({"JAVA_HOME": str(home)})


def test_a_java_that_is_not_there_is_missed(tmp_path: Path) -> None:
    with pytest.raises(JavaMissingError, match=r"JAVA_HOME is .*nowhere, which has no bin/java\. Install"):
        find_java({"JAVA_HOME": str(tmp_path / "nowhere")})
    with pytest.raises(JavaMissingError, match=r"JAVA_HOME is not set, no java in PATH\. Install"):
        find_java({"PATH": str(tmp_path)})
    home = fake_java(tmp_path / "home", "echo 'openjdk version \"21\" 2023-09-19' >&2")
    assert find_java({"PATH": str(home / "bin")}) == home / "bin" / "java"


def test_checkpoints_on_this_machine_need_no_processes() -> None:
    # Where files may be elsewhere, Spark's own choice stays: it knows which file systems rename at once.
    name = "spark.sql.streaming.checkpointFileManagerClass"
    assert _settings("local[2]", dedicated=False)[name].endswith(".FileSystemBasedCheckpointFileManager")
    assert name not in _settings("spark://elsewhere:7077", dedicated=True)


def test_only_a_dedicated_session_on_this_machine_does_without_the_second_compiler() -> None:
    def has_it(master: str, *, dedicated: bool) -> bool:
        return "TieredStopAtLevel" not in _settings(master, dedicated=dedicated)["spark.driver.defaultJavaOptions"]

    assert not has_it("local[2]", dedicated=True)
    assert has_it("local[2]", dedicated=False)
    # Elsewhere others have a driver's time.
    assert has_it("spark://elsewhere:7077", dedicated=True)


def test_sparks_page_is_on_and_for_this_machine_alone(spark: SparkSession) -> None:
    assert _settings("local[2]", dedicated=False)["spark.ui.enabled"] == "true"
    assert _settings("local[2]", dedicated=True)["spark.ui.enabled"] == "false"
    # Spark takes the address of its page from here, and else listens on all of them.
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert spark.sparkContext.uiWebUrl is not None


def homes(tmp_path: Path, **environment: str) -> str | None:
    """What SPARK_HOME is after looking for one, in a process of its own."""
    code = (
        "import os; from millstream.pipeline.runtime.spark_home import find_home; find_home(); "
        "print(os.environ.get('SPARK_HOME', ''))"
    )
    given = {name: value for name, value in os.environ.items() if name not in ("SPARK_HOME", "PYSPARK_PYTHON")}
    given |= {"XDG_CACHE_HOME": str(tmp_path), **environment}
    said = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True)
    return said.stdout.strip() or None


def test_a_home_of_spark_has_its_jars_and_no_zips_of_pyspark(tmp_path: Path) -> None:
    found = homes(tmp_path)
    assert found is not None
    assert sorted(path.name for path in Path(found).iterdir()) == ["bin", "jars"]
    assert list(Path(found, "jars").glob("spark-core_*.jar"))
    assert homes(tmp_path) == found


def test_a_spark_or_a_python_that_somebody_chose_stays(tmp_path: Path) -> None:
    assert homes(tmp_path, SPARK_HOME="/opt/spark") == "/opt/spark"
    assert homes(tmp_path, PYSPARK_PYTHON="/usr/bin/python3") is None


def test_where_no_home_can_be_made_spark_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert homes(tmp_path, XDG_CACHE_HOME=str(tmp_path / "file")) is None


def test_workers_import_pyspark_as_it_is_installed(spark: SparkSession) -> None:
    def where(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        here = importlib.import_module("pyspark").__path__[0]
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"path": [here]})

    found = {row.path for row in spark.range(2).mapInArrow(where, "path string").collect()}
    assert found == {pyspark.__path__[0]}
