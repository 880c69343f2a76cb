"""On a cluster, as far as one machine can be one: executors are processes of their own, and get the package themselves."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

import millstream
from tests.pipeline.feeding import written
from tests.pipeline.victims import MOST_SECONDS, QUERY, SCRIPT, Victim, batches, expected, wait_for, write_input

ROOT = Path(__file__).resolve().parents[3]
SPARK_HOME = Path(pyspark.__path__[0])
CLUSTER = "local-cluster[2,1,1024]"
BARE = Path(sys.base_prefix) / "bin"
PACKED = ("millstream", "pyoxigraph")


@pytest.fixture(autouse=True)
def _swept() -> Iterator[None]:
    """Executors work in folders below Spark's own, and leave them."""
    work = SPARK_HOME / "work"
    before = set(work.glob("*"))
    yield
    for left in set(work.glob("*")) - before:
        shutil.rmtree(left, ignore_errors=True)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_an_executor_that_is_lost_loses_no_answer(spark: SparkSession, tmp_path: Path) -> None:
    write_input(tmp_path, 10, seed=5)
    (tmp_path / "job.py").write_text(SCRIPT)
    chance = random.Random(5)
    job = Victim(sys.executable, tmp_path / "job.py", tmp_path, CLUSTER, QUERY, log=tmp_path / "job.log")
    killed = 0
    for wanted in (2, 5):
        assert wait_for(lambda wanted=wanted: batches(tmp_path / "checkpoint") >= wanted, job)  # type: ignore[misc]
        time.sleep(chance.random())
        killed += job.kill_an_executor(chance)
    assert job.wait() == 0, (tmp_path / "job.log").read_text()[-3000:]
    assert killed == 2
    answers = expected(tmp_path)
    assert len(answers) > 100
    assert written(spark, tmp_path) == answers


def submit(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The example by spark-submit, with executors whose Python has what machines of clusters have, and no millstream."""
    packages = folder / "packages"
    packages.mkdir()
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if not each.name.startswith((*PACKED, "__editable__")):
            (packages / each.name).symlink_to(each)
    # One name for two Pythons, as on two machines: that of this environment here, the machine's own where executors work.
    either = folder / "python3"
    either.write_text(
        f'#!/bin/sh\ncase "$PWD" in */work/app-*) exec {BARE}/python3 "$@";; esac\nexec {sys.executable} "$@"\n'
    )
    either.chmod(0o755)
    settings = {
        "spark.master": CLUSTER,
        "spark.executorEnv.PYTHONPATH": f"millstream-packed:{packages}",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    given = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    return subprocess.run(
        [SPARK_HOME / "bin" / "spark-submit", *given, *options, ROOT / "examples" / "cluster.py"],
        cwd=folder,
        env={**os.environ, "PYSPARK_PYTHON": str(either), "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=2 * MOST_SECONDS,
        check=False,
    )


@pytest.fixture
def bare_python() -> None:
    """The Python of the machine, which knows nothing of millstream."""
    found = subprocess.run([BARE / "python3", "-c", "import millstream"], capture_output=True, check=False)
    if found.returncode == 0:
        pytest.skip("the machine's own Python has millstream")


@pytest.mark.long
@pytest.mark.usefixtures("bare_python")
def test_executors_get_the_package_as_an_archive(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    for name in PACKED:
        where = Path(millstream.__file__).parent if name == "millstream" else Path(sysconfig.get_path("purelib")) / name
        shutil.copytree(where, folder / name)
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", folder)
    done = submit(tmp_path, "--archives", f"{archive}#millstream-packed")
    assert done.returncode == 0, done.stdout[-3000:]
    assert done.stdout.splitlines()[-1] == "4 answers"
    assert spark.read.parquet(str(tmp_path / "answers")).count() == 4


@pytest.mark.long
@pytest.mark.usefixtures("bare_python")
def test_executors_without_the_package_are_noticed_at_once(tmp_path: Path) -> None:
    done = submit(tmp_path)
    assert done.returncode != 0
    message = "Spark's workers cannot import millstream: No module named 'millstream'. docs/cluster.md says how"
    assert message in done.stdout
