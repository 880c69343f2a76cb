"""Spark Connect: a session without Java on this side gives the answers of one engine, whatever the sources are.

The session is in a process of its own, since a process has either a Connect session or one of Spark's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from millstream import Engine, OptionError
from millstream.pipeline.runtime import broadcast
from tests.pipeline.simulation import Row

pytest.importorskip("grpc", reason="Spark Connect needs pyspark[connect]")

STREAM = "http://e/s"
JOIN = "SELECT CHANGES * { STREAM <http://e/s> [RANGE 3s] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } ?c <http://e/r> ?d }"
EVENT = "SELECT * { STREAM <http://e/s> [EVENT] { ?a <http://e/p> ?b } OPTIONAL { ?b <http://e/r> ?d } }"
KEPT = JOIN.replace("3s", "6s")
CASES = {"paths": JOIN, "untouched": EVENT, "frames": JOIN, "at rest": JOIN}
SCRIPT = """
import json, os, sys
from pyspark.sql import SparkSession
from millstream import MillstreamError, pipeline

folder, cases = sys.argv[1], json.loads(sys.argv[2])
fast = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", "spark.ui.enabled": "false"}
builder = SparkSession.builder.remote("local[2]").config(map=fast)
builder.getOrCreate()
spark = pipeline.session(**{"spark.sql.shuffle.partitions": 5})
assert type(spark).__module__ == "pyspark.sql.connect.session"

rows = spark.readStream.format("rdf").option("time", "rate:1").option("maxFilesPerTrigger", "1").load(f"{folder}/in")
sources = {
    "paths": pipeline.files(f"{folder}/in", time="rate:1"),
    "untouched": rows,
    "frames": rows.where("s is not null"),
    "at rest": spark.read.format("rdf").option("time", "rate:1").load(f"{folder}/in").coalesce(1),
}
found = {}
for case, query in cases.items():
    answers = pipeline.continuous(query, {"http://e/s": sources[case]}, {None: f"{folder}/static.nt"}, cells=2)
    if case != "at rest":
        name = case.replace(" ", "_")
        started = answers.where("weight <> 0").writeStream.format("memory").queryName(name)
        started = started.option("checkpointLocation", f"{folder}/{name}").trigger(availableNow=True).start()
        started.awaitTermination()
        answers = spark.table(name)
    found[case] = [list(row) for row in answers.collect()]
found["partitions"] = spark.conf.get("spark.sql.shuffle.partitions")


def merge(checkpoint):
    source = pipeline.files(f"{folder}/in", time="rate:1", maxFilesPerTrigger=1)
    answers = pipeline.continuous(sys.argv[3], {"http://e/s": source}, {None: f"{folder}/static.nt"}, cells=2)
    writer = pipeline.merge_into(answers, f"{folder}/table").option("checkpointLocation", checkpoint)
    try:
        writer.trigger(availableNow=True).start().awaitTermination()
    except Exception as error:
        found["refused"] = str(error)
    rows = spark.read.parquet(f"{folder}/table/current").collect()
    return os.readlink(f"{folder}/table/current"), [list(row) for row in rows]


found["table"] = merge(f"{folder}/merged")
# A batch that Spark does not know to be done comes again.
os.remove(f"{folder}/merged/commits/1")
found["again"] = merge(f"{folder}/merged")
found["other"] = merge(f"{folder}/another")
try:
    pipeline.merge_into(answers.select("*"), f"{folder}/table").start()
except MillstreamError as error:
    found["nowhere"] = str(error)
with open(f"{folder}/found.json", "w") as file:
    json.dump(found, file)
"""


def expected(folder: Path, query: str, *, ended: bool) -> Counter[Row]:
    engine = Engine()
    engine.load(str(folder / "static.nt"))
    registered = engine.register(query)
    engine.read(STREAM, str(folder / "in"), time="rate:1")
    if ended:
        engine.finish()
    table = registered.take_table().to_pylist()
    return Counter((r["at_ms"], r["weight"], tuple(r[v] for v in registered.variables)) for r in table)


def write_input(folder: Path) -> None:
    (folder / "in").mkdir()
    for file in range(2):
        lines = [f"<http://e/n{i}> <http://e/{'pq'[i % 2]}> <http://e/n{(i + 1) % 7}> .\n" for i in range(file, file + 9)]
        (folder / "in" / f"{file}.nt").write_text("".join(lines))
    (folder / "static.nt").write_text("".join(f"<http://e/n{i}> <http://e/r> <http://e/m{i % 3}> .\n" for i in range(7)))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_connect_session_gives_the_answers_of_one_engine(tmp_path: Path) -> None:
    write_input(tmp_path)
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), json.dumps(CASES), KEPT]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (tmp_path / "found.json").exists(), ran.stderr
    found: dict[str, Any] = json.loads((tmp_path / "found.json").read_text())
    for case, query in CASES.items():
        wanted = expected(tmp_path, query, ended=case == "at rest")
        assert wanted
        assert Counter((row[0], row[1], tuple(row[2:])) for row in found[case]) == wanted, case
    assert found["partitions"] == "5"
    offsets = (tmp_path / "paths" / "offsets" / "0").read_text().splitlines()
    assert json.loads(offsets[1])["conf"]["spark.sql.shuffle.partitions"] == "2"
    check_table(tmp_path, found)


def check_table(folder: Path, found: dict[str, Any]) -> None:
    """What a table of current answers holds, after two batches, one of them twice, and one of another query."""
    wanted = Counter[tuple[str, ...]]()
    for (_, weight, row), times in expected(folder, KEPT, ended=False).items():
        wanted[row] += weight * times
    version, rows = found["table"]
    assert Counter({tuple(row[2:]): row[1] for row in rows}) == +wanted
    assert +wanted
    assert version.endswith("-000000001")
    assert found["again"] == [version, rows] == found["other"]
    assert "go on from that query's checkpoint, or begin a new table" in found["refused"]
    assert "give the option checkpointLocation" in found["nowhere"]


DEFINITIONS = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession
from millstream import pipeline

spark = SparkSession.active()
pipeline.register(spark)
static = {None: "static.nt"}

@dp.table
def seen():
    return spark.readStream.format("rdf").option("time", "rate:1").load("in")

@dp.table
def paths():
    return pipeline.continuous(JOIN, {"http://e/s": pipeline.files("in", time="rate:1")}, static)

@dp.table
def counted():
    return pipeline.continuous(COUNT, {"http://e/s": pipeline.files("in", time="rate:1")}, static)

@dp.table
def frames():
    rows = spark.readStream.format("rdf").option("time", "rate:1").load("in").where("s is not null")
    return pipeline.continuous(JOIN, {"http://e/s": rows}, static)

@dp.table
def events():
    return pipeline.continuous(EVENT, {"http://e/s": spark.readStream.table("seen")}, static)
"""
COUNT = "SELECT CHANGES (COUNT(*) AS ?n) { STREAM <http://e/s> [RANGE 3s] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } }"
SPECIFICATION = """
name: tried
storage: {folder}/storage
libraries: [{{glob: {{include: definitions/**}}}}]
configuration:
  spark.sql.streaming.stateStore.providerClass: {provider}
  spark.sql.shuffle.partitions: "2"
"""


# Its server has the same port as the one above, which lets go of it late.
@pytest.mark.long
@pytest.mark.timeout(600)
def test_continuous_queries_are_tables_of_a_declarative_pipeline(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="declarative pipelines need pyspark[pipelines]")
    write_input(tmp_path)
    queries = {"paths": JOIN, "counted": COUNT, "frames": JOIN, "events": EVENT}
    (tmp_path / "definitions").mkdir()
    (tmp_path / "definitions" / "tables.py").write_text(f"{JOIN=}\n{COUNT=}\n{EVENT=}\n{DEFINITIONS}")
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    specification = tmp_path / "spark-pipeline.yml"
    specification.write_text(SPECIFICATION.format(folder=tmp_path.as_uri(), provider=provider))
    command = [Path(sys.executable).with_name("spark-pipelines"), "run", "--spec", specification]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    # Not the exit code: the command of Spark 4.3.0 stumbles over counters of Python functions when all is done.
    assert "Run is COMPLETED" in ran.stdout + ran.stderr, ran.stdout + ran.stderr
    for name, query in queries.items():
        table = pyarrow.parquet.read_table(tmp_path / "spark-warehouse" / name).to_pylist()
        wanted = expected(tmp_path, query, ended=False)
        assert wanted
        assert Counter((row["at_ms"], row["weight"], tuple(row.values())[2:]) for row in table) == wanted, name


def test_datasets_that_a_connect_server_would_not_take_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "is_connect", lambda _: True)
    monkeypatch.setattr(broadcast, "MOST_CARRIED_BYTES", 1 << 20)
    spark: Any = None
    assert broadcast.broadcast(spark, b"x" * (1 << 20)).value == b"x" * (1 << 20)
    with pytest.raises(OptionError, match="is 3 MB, and Spark Connect takes at most 1 MB"):
        broadcast.broadcast(spark, b"x" * (3 << 20))
