"""`millstream demo`: taxi rides, made up as one goes along, through Spark on this machine, with answers as they appear.

The rides are written as small files, and Spark reads a few of them in each trigger, as it would from a folder that grows.
What is told are the answers of the query, nothing else.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.rule import Rule
from rich.status import Status
from rich.text import Text

from millstream.cli.terminal import output
from millstream.language import parse_query
from millstream.plan.cells import explain_cells

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TAXI = "http://example.org/taxi/"
PROV, XSD = "http://www.w3.org/ns/prov#", "http://www.w3.org/2001/XMLSchema#"
CELLS = 2
FILES, EVENTS_A_FILE, FILES_A_TRIGGER = 10, 20, 2
PLACES = (
    "Bay_Street", "Castle", "Docks", "East_Gate", "Fair_Ground", "Harbour", "Hill_Top", "Market", "Museum", "North_Bridge",
    "Old_Town", "Park", "Station", "Theatre", "University", "Zoo",
)  # fmt: skip
QUERY = """\
PREFIX : <http://example.org/taxi/>

SELECT ?free ?place ?called WHERE {
  STREAM :rides [RANGE 30s] {
    ?free   :setDownAt ?place .
    ?called :pickedUpAt ?place
  }
  FILTER (?free != ?called)
}"""
_START = datetime(2013, 1, 1, 9, 0, tzinfo=UTC)
_STEP = timedelta(seconds=4)


def show() -> None:
    """Says what is asked, runs it, and tells the answers."""
    console = output()
    _heading(console, "Which taxi was free where another one was just called?")
    console.print(_indented(QUERY))
    _heading(console, "How it is spread")
    console.print(_indented(explain_cells(parse_query(QUERY), CELLS)))
    folder = Path(tempfile.mkdtemp(prefix="millstream-demo-"))
    try:
        write_rides(folder / "rides")
        _run(console, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_rides(folder: Path, seed: int = 9) -> None:
    """Files of rides: each event a named graph, with the time it was generated at."""
    folder.mkdir(parents=True)
    chance = random.Random(seed)
    number = 0
    for file in range(FILES):
        lines = []
        for _ in range(EVENTS_A_FILE):
            at = (_START + _STEP * number).isoformat().replace("+00:00", "Z")
            event, taxi, place = f"<{TAXI}event/{number}>", chance.randrange(1, 21), chance.choice(PLACES)
            verb = chance.choice(("pickedUpAt", "setDownAt"))
            lines.append(f"<{TAXI}taxi_{taxi}> <{TAXI}{verb}> <{TAXI}{place}> {event} .\n")
            lines.append(f'{event} <{PROV}generatedAtTime> "{at}"^^<{XSD}dateTime> .\n')
            number += 1
        (folder / f"rides-{file:03d}.nq").write_text("".join(lines))


def _run(console: Console, folder: Path) -> None:
    # Only here, since Spark takes a while to come up and may not be there at all.
    from millstream import pipeline
    from millstream.pipeline.quiet import said_to

    _heading(console, "The answers, as they appear")
    began = time.monotonic()
    with Status("starting Spark on this machine ...", console=console) if console.is_terminal else _said(console):
        with said_to(folder / "spark.log"):
            spark = pipeline.session(os.environ.get("MILLSTREAM_MASTER", "local[2]"))
        ready = time.monotonic()
    told = _Told(console)
    try:
        _follow(spark, folder, told)
    finally:
        with said_to(folder / "spark.log"):
            spark.stop()
    _heading(console, "That was all")
    events = FILES * EVENTS_A_FILE
    console.print(f"{events} events in {FILES} files, {told.answers} answers in {told.triggers} triggers.")
    console.print(f"Spark took {ready - began:.0f} s to start, the query {time.monotonic() - ready:.0f} s.")
    console.print("Next: millstream run --help, or millstream demo --engine embedded.")


def _follow(spark: SparkSession, folder: Path, told: _Told) -> None:
    from millstream import pipeline

    rides = pipeline.files(str(folder / "rides"), time="prov", maxFilesPerTrigger=FILES_A_TRIGGER)
    answers = pipeline.continuous(QUERY, {TAXI + "rides": rides}, cells=CELLS, once=True, spark=spark)
    writer = answers.writeStream.foreachBatch(told.batch).option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


class _Told:
    """Tells answers batch by batch."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.answers = 0
        self.triggers = 0

    def batch(self, answers: DataFrame, number: int) -> None:
        self.triggers += 1
        for row in answers.orderBy("at_ms", "place", "free", "called").collect():
            self.answers += 1
            at = datetime.fromtimestamp(row["at_ms"] / 1000, UTC)
            free, place, called = (_name(row[name]) for name in ("free", "place", "called"))
            told = f"  {free} set someone down at {place}, where {called} was called"
            self._console.print(Text.assemble((f"{at:%H:%M:%S}", "cyan"), told))


def _name(term: str) -> str:
    return term[1:-1].removeprefix(TAXI).replace("_", " ")


@contextmanager
def _said(console: Console) -> Iterator[None]:
    console.print("starting Spark on this machine ...")
    yield


def _heading(console: Console, title: str) -> None:
    console.print()
    if console.is_terminal:
        console.print(Rule(Text(title, "bold"), align="left"))
    else:
        console.print(f"{title}\n")


def _indented(text: str) -> Text:
    return Text("\n".join(f"  {line}" if line else "" for line in text.split("\n")))
