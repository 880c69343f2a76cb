"""Makes the checkpoints kept beside it, for each new layout of state: `python -m tests.pipeline.kept_checkpoints.make`.

Each is a small job that was stopped after some triggers, as an archive: Spark's checkpoint, the input (what was read and
what comes next) and the answers that were given. It is made with the oldest Spark that reads paths, from which newer ones
go on. Checkpoints name their own folder; in an archive that is `PLACE`.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import DataFrame, SparkSession

from millstream import __version__, pipeline
from millstream.pipeline.job.specification import LAYOUT

HERE = Path(__file__).parent
PLACE = b"/kept/checkpoints"
STREAM = "http://e/s"
JOIN = "{ STREAM <http://e/s> [RANGE 7s] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } ?c <http://e/r> ?d }"
JOBS = {
    "one-stage": f"SELECT CHANGES * {JOIN}",
    "two-stages": f"SELECT CHANGES (COUNT(DISTINCT ?c) AS ?n) {JOIN}",
}
FILES, READ = 5, 3
"""How many files of input there are, one a trigger, and how many were read before the job was stopped."""


def go_on(spark: SparkSession, name: str, folder: Path) -> list[list[Any]]:
    """The answers of a job to the files that came to a folder, a trigger each."""
    source = pipeline.files(str(folder / "in"), time="rate:1", maxFilesPerTrigger=1)
    answers = pipeline.continuous(JOBS[name], {STREAM: source}, {None: str(folder / "static.nt")}, cells=2, spark=spark)
    found: list[list[Any]] = []

    def take(batch: DataFrame, _: int) -> None:
        found.extend(list(row) for row in batch.collect())

    writer = answers.writeStream.foreachBatch(take).option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    return found


def write_input(folder: Path) -> None:
    """All files, to `input`: windows reach from each over the two before it."""
    (folder / "input").mkdir(parents=True)
    for file in range(FILES):
        lines = [
            f"<http://e/n{i % 5}> <http://e/{'pq'[i % 2]}> <http://e/n{i * i % 5}> .\n"
            for i in range(5 * file, 5 * file + 5)
        ]
        (folder / "input" / f"{file}.nt").write_text("".join(lines))
    (folder / "static.nt").write_text("".join(f"<http://e/n{i}> <http://e/r> <http://e/m{i % 3}> .\n" for i in range(5)))


def give(folder: Path, first: int, end: int) -> None:
    """Moves files on to where the job reads them."""
    (folder / "in").mkdir(exist_ok=True)
    for file in range(first, end):
        (folder / "in" / f"{file}.nt").write_bytes((folder / "input" / f"{file}.nt").read_bytes())


def renamed(folder: Path, before: bytes, now: bytes) -> None:
    """Has the texts of a checkpoint name another folder."""
    for path in (folder / "checkpoint").rglob("*"):
        if path.is_file() and before in (data := path.read_bytes()):
            path.write_bytes(data.replace(before, now))


def make(spark: SparkSession, name: str, folder: Path) -> Path:
    """One archive."""
    write_input(folder)
    give(folder, 0, READ)
    given = go_on(spark, name, folder)
    about = {"layout": LAYOUT, "millstream": __version__, "spark": pyspark.__version__, "answers": given}
    (folder / "about.json").write_text(json.dumps(about))
    # Of a folder that is somewhere else now; Hadoop does without its checksums.
    for path in folder.rglob(".*.crc"):
        path.unlink()
    renamed(folder, str(folder).encode(), PLACE)
    archive = HERE / f"{name}-layout-{LAYOUT}.tar.xz"
    with tarfile.open(archive, "w:xz") as file:
        for part in ("about.json", "static.nt", "input", "checkpoint"):
            file.add(folder / part, part)
    return archive


def restore(archive: Path, folder: Path) -> tuple[str, dict[str, Any]]:
    """A kept job in a folder of its own, with what it had not read yet: which it is, and what is known about it."""
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    renamed(folder, PLACE, str(folder).encode())
    give(folder, READ, FILES)
    about: dict[str, Any] = json.loads((folder / "about.json").read_text())
    return archive.name.partition("-layout-")[0], about


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        session = pipeline.session("local[2]", dedicated=True)
        for job in JOBS:
            print(made := make(session, job, Path(place, job)), made.stat().st_size)
        session.stop()
