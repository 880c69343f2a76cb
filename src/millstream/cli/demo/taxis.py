"""`millstream demo`: the ten most frequent routes of taxis in the last half hour, kept up to date by Spark on this machine.

Trips are made up and written as small files, and Spark reads a few of them in each trigger, as it would from a folder that
grows. What is shown is the query's answer set, put together from nothing but the changes that it emits.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from millstream.cli.terminal import heading, indented, output
from millstream.plan.explain.cells import explain_cells
from millstream.plan.passes import query_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TAXI = "http://example.org/taxi/"
PROV, XSD = "http://www.w3.org/ns/prov#", "http://www.w3.org/2001/XMLSchema#"
CELLS = 2
FILES, TRIPS_A_FILE, FILES_A_TRIGGER = 12, 150, 2
PLACES = (
    "Bay_Street", "Castle", "Docks", "East_Gate", "Fair_Ground", "Harbour", "Hill_Top", "Market", "Museum", "North_Bridge",
    "Old_Town", "Park", "Station", "Theatre", "University", "Zoo",
)  # fmt: skip
QUERY = """\
PREFIX : <http://example.org/taxi/>

SELECT ?from ?to (COUNT(?trip) AS ?trips) WHERE {
  STREAM :trips [RANGE 30m] { ?trip :from ?from ; :to ?to }
}
GROUP BY ?from ?to
ORDER BY DESC(?trips)
LIMIT 10"""
_START = datetime(2013, 1, 1, 7, 0, tzinfo=UTC)
_STEP = timedelta(seconds=4)


def show() -> None:
    """Says what is asked, runs it, and tells the answers."""
    console = output()
    heading(console, "Which ten routes did taxis take most often in the last half hour?")
    console.print(indented(QUERY))
    heading(console, "How it is spread")
    console.print(indented(explain_cells(query_of(QUERY), CELLS)))
    folder = Path(tempfile.mkdtemp(prefix="millstream-demo-"))
    try:
        write_trips(folder / "trips")
        _run(console, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_trips(folder: Path, seed: int = 9) -> None:
    """Files of trips: each a named graph, with the time it was generated at. Where people go changes as the day goes on."""
    folder.mkdir(parents=True)
    chance = random.Random(seed)
    number = 0
    for file in range(FILES):
        lines = []
        for _ in range(TRIPS_A_FILE):
            at = (_START + _STEP * number).isoformat().replace("+00:00", "Z")
            trip = f"<{TAXI}trip/{number}>"
            start, end = _route(chance, number / (FILES * TRIPS_A_FILE))
            lines.append(f"{trip} <{TAXI}from> <{TAXI}{start}> {trip} .\n")
            lines.append(f"{trip} <{TAXI}to> <{TAXI}{end}> {trip} .\n")
            lines.append(f'{trip} <{PROV}generatedAtTime> "{at}"^^<{XSD}dateTime> .\n')
            number += 1
        (folder / f"trips-{file:03d}.nq").write_text("".join(lines))


def _route(chance: random.Random, day: float) -> tuple[str, str]:
    """In the morning from a few places to a few others, later the other way round; now and then from anywhere."""
    homes, works = PLACES[:5], PLACES[11:15]
    if chance.random() < 0.25:
        start, end = chance.sample(PLACES, 2)
        return start, end
    home = homes[min(int(chance.expovariate(0.7)), len(homes) - 1)]
    work = works[min(int(chance.expovariate(0.9)), len(works) - 1)]
    return (home, work) if chance.random() > day else (work, home)


def _run(console: Console, folder: Path) -> None:
    # Only here, since Spark takes a while to come up and may not be there at all.
    from millstream import pipeline
    from millstream.pipeline.runtime.java_output import said_to

    heading(console, "The answer, as it changes")
    began = time.monotonic()
    starting = "starting Spark on this machine ..."
    if not console.is_terminal:
        console.print(starting)
    with Status(starting, console=console) if console.is_terminal else nullcontext():
        with said_to(folder / "spark.log"):
            spark = pipeline.session(os.environ.get("MILLSTREAM_MASTER", "local[2]"), dedicated=True)
        ready = time.monotonic()
    told = _Told(console)
    try:
        _follow(spark, folder, told)
    finally:
        with said_to(folder / "spark.log"):
            spark.stop()
    heading(console, "That was all")
    trips = FILES * TRIPS_A_FILE
    console.print(f"{trips:,} trips in {FILES} files, {told.changes:,} changes of the answer in {told.triggers} triggers.")
    console.print(f"Spark took {ready - began:.0f} s to start, the query {time.monotonic() - ready:.0f} s.")
    console.print("Next: millstream run --help, or millstream demo --engine embedded.")


def _follow(spark: SparkSession, folder: Path, told: _Told) -> None:
    from millstream import pipeline

    trips = pipeline.files(str(folder / "trips"), time="prov", maxFilesPerTrigger=FILES_A_TRIGGER)
    answers = pipeline.continuous(QUERY, {TAXI + "trips": trips}, cells=CELLS, output="changes", once=True, spark=spark)
    writer = answers.writeStream.foreachBatch(told.batch).option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


class _Told:
    """Keeps the answer set by the changes of each batch, and shows it while there is one."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._routes: Counter[Route] = Counter()
        self.changes = 0
        self.triggers = 0

    def batch(self, answers: DataFrame, number: int) -> None:
        self.triggers += 1
        before = ranked(self._routes)
        rows = answers.select("at_ms", "weight", "from", "to", "trips").collect()
        for row in rows:
            self._routes[_name(row["from"]), _name(row["to"]), _number(row["trips"])] += row["weight"]
        self.changes += len(rows)
        after = ranked(self._routes)
        if after:
            at = datetime.fromtimestamp(max(row["at_ms"] for row in rows) / 1000, UTC)
            self._console.print(_table(f"{at:%H:%M:%S}", before, after))


Route = tuple[str, str, int]
"""From, to, and how many trips."""


def ranked(routes: Counter[Route]) -> list[Route]:
    """The routes of an answer set, the most frequent first."""
    return sorted((route for route, count in routes.items() if count > 0), key=lambda r: (-r[2], r[0], r[1]))


def _table(title: str, before: list[Route], after: list[Route]) -> Table:
    """The ten routes, those that were not among them the last time marked."""
    known = {(start, end) for start, end, _ in before}
    table = Table(title=title, title_justify="left", title_style="cyan", box=None, show_header=False, padding=(0, 1))
    for column, justify in (("place", "right"), ("trips", "right"), ("route", "left"), ("new", "left")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    for place, (start, end, trips) in enumerate(after, 1):
        is_new = before and (start, end) not in known
        table.add_row(f"{place}.", str(trips), f"{start} to {end}", Text("new", "green") if is_new else "")
    return table


def _name(term: str) -> str:
    return term[1:-1].removeprefix(TAXI).replace("_", " ")


def _number(term: str) -> int:
    return int(term.split('"')[1])
