"""Current answers in a Delta table, where delta-spark and its jars can be had; in a session and process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SCRIPT = """
import os, random, sys
from collections import Counter
from pathlib import Path

from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession

from millstream import pipeline
from tests.pipeline.changes import SCHEMA, drawn, give, merge

folder = Path(sys.argv[1])
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.sql.shuffle.partitions", "2")
builder = builder.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
builder = builder.config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
jars = os.environ.get("MILLSTREAM_DELTA_JARS")
builder = builder.config("spark.jars", jars) if jars else configure_spark_with_delta_pip(builder)
spark = builder.getOrCreate()


def held():
    rows = spark.read.format("delta").load(str(folder / "table")).collect()
    assert len({(row.a, row.b) for row in rows}) == len(rows)
    return Counter({(row.a, row.b): row.weight for row in rows}), {(row.a, row.b): row.at_ms for row in rows}


def versions():
    return spark.sql(f"DESCRIBE HISTORY delta.`{folder / 'table'}`").count()


chance, content, times = random.Random(7), Counter(), {}
for number in range(4):
    changes = drawn(chance, content, 100 * number)
    times.update({(a, b): at_ms for at_ms, _, a, b in changes})
    give(spark, folder, number, changes)
    if number == 1:
        merge(spark, folder, format="delta")
        before = versions()
        for path in (folder / "checkpoint" / "commits").glob("*1*"):
            path.unlink()
        merge(spark, folder, format="delta")
        assert versions() == before
merge(spark, folder, format="delta")
assert held() == (+content, {row: times[row] for row in +content})
try:
    merge(spark, folder, format="delta", checkpoint="another")
except Exception as error:
    assert "go on from that query's checkpoint, or begin a new table" in str(error)
else:
    raise AssertionError("a table of another query was taken")
print("done")
"""


@pytest.mark.long
@pytest.mark.skipif(find_spec("delta") is None, reason="delta-spark is not installed: it wants pyspark up to 4.2")
def test_a_delta_table_is_what_random_changes_add_up_to(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(SCRIPT)
    root = Path(__file__).resolve().parents[3]
    path = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    found = subprocess.run(
        [sys.executable, str(tmp_path / "job.py"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert found.stdout.endswith("done\n"), found.stderr[-3000:]
