"""`millstream demo`: taxis are warned of jams on their way, by Spark on this machine, and nothing is lost on the way.

Two streams are joined with a street map that changes, spread over four cells. Spark reads a file of each in every trigger,
as it would from folders that grow. One report comes late and counts, another too late; a process is killed while it works.
In the end the answers are compared with those of one engine in one process.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from millstream.cli.demo import city, live
from millstream.cli.demo.workers import Killing, can_be_seen
from millstream.cli.terminal import fail, heading, indented, output
from millstream.plan.explain.cells import explain_cells
from millstream.plan.passes import query_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

CELLS = 4
KILLED_IN = 3
"""The trigger from which on a process is killed, until one is missed."""
MASTER = "local[2,4]"
"""Two tasks at a time, each tried up to four times."""
Change = tuple[int, int, str, str, str]
"""A change of the answer: when, +1 or -1, taxi, place, street."""


def show() -> None:
    """Says what is asked, runs it, tells what happens, and compares."""
    console = output()
    heading(console, "Which taxis are heading for a jam?")
    console.print("Taxis say where they are going, streets report jams, and the street map")
    console.print("changes: streets are closed and opened. An answer is a warning; it comes (+)")
    console.print("and goes (-) by itself.\n")
    console.print(indented(city.QUERY))
    heading(console, f"How Spark spreads it over {CELLS} cells")
    console.print("A ride goes to the cells of its place, a report to those of its street, a line")
    console.print("of the map to the one of both: there they meet, and an answer is found once.\n")
    console.print(Text(explain_cells(query_of(city.QUERY), CELLS).partition("\n")[2]))
    folder = Path(tempfile.mkdtemp(prefix="millstream-demo-"))
    try:
        city.write(folder)
        told = _run(console, folder)
        _compare(console, folder, told)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    live.offer(console)


def _run(console: Console, folder: Path) -> Told:
    # Only here, since Spark takes a while to come up and may not be there at all.
    from millstream import pipeline
    from millstream.pipeline.runtime.java_output import said_to

    # What the pipeline uses of pandas is the same in 2 and 3.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    heading(console, "What happens")
    began = time.monotonic()
    starting = "starting Spark on this machine ..."
    if not console.is_terminal:
        console.print(starting)
    status = Status(starting, console=console) if console.is_terminal else None
    with status or nullcontext():
        with said_to(folder / "spark.log"):
            spark = pipeline.session(os.environ.get("MILLSTREAM_MASTER", MASTER), dedicated=True)
        ready = time.monotonic()
        console.print(
            f"Spark is up after {ready - began:.0f} s. Each trigger reads what {city.FILE_S // 60} minutes brought, and"
        )
        console.print(f"answers {city.LATENESS_S // 60} minutes behind: so late may a report be.\n")
        told = Told(console, spark, status)
        try:
            _follow(spark, folder, told)
        finally:
            with said_to(folder / "spark.log"):
                spark.stop()
    console.print(f"\nThat took {time.monotonic() - ready:.0f} s.")
    return told


def _follow(spark: SparkSession, folder: Path, told: Told) -> None:
    from pyspark.sql import functions as f

    from millstream import pipeline

    def files(name: str, when: str) -> Any:
        return pipeline.files(str(folder / name), time=when, maxFilesPerTrigger=1)

    answers = pipeline.continuous(
        city.QUERY,
        {city.RIDES: files("rides", "prov"), city.JAMS: files("jams", "prov")},
        {None: str(folder / "map.nt")},
        changes={None: files("changes", city.CHANGES_TIME)},
        cells=CELLS,
        lateness=city.LATENESS,
        once=True,
        dead_letter=str(folder / "late"),
        spark=spark,
    )
    # A cell has a partition of its own.
    found = answers.withColumn("cell", f.spark_partition_id())
    writer = found.writeStream.foreachBatch(told.trigger).option("checkpointLocation", str(folder / "checkpoint"))
    told.query = writer.trigger(availableNow=True).start()
    told.query.awaitTermination()


class Told:
    """Tells what each trigger brought, and keeps all changes of the answer."""

    def __init__(self, console: Console, spark: SparkSession, status: Status | None) -> None:
        self._console = console
        self._spark = spark
        self._status = status
        self.query: StreamingQuery | None = None
        self.changes: Counter[Change] = Counter()
        self._say(1)

    def _say(self, number: int) -> None:
        if self._status is not None:
            self._status.update(f"trigger {number} of {city.FILES} ..." if number <= city.FILES else "Spark ends ...")

    def trigger(self, answers: DataFrame, number: int) -> None:
        """What Spark calls with the answers of a trigger, which are found when they are asked for."""
        # Another master, which the environment may name, need not try a task again.
        tries_again = self._spark.sparkContext.master == MASTER and can_be_seen()
        if number >= KILLED_IN and tries_again and not self.failed_tasks:
            with Killing(lambda: self.failed_tasks > 0) as killing:
                rows = answers.collect()
        else:
            killing, rows = None, answers.collect()
        found = [(_change(row), row["cell"]) for row in rows]
        self.changes.update(change for change, _ in found)
        self._tell_input(number)
        if killing is not None and killing.pids:
            self._tell_killed(killing.pids)
        self._tell_answers(found)
        self._say(number + 2)

    def _tell_input(self, number: int) -> None:
        until = city.clock(1000 * city.FILE_S * (number + 1))
        brought = (
            f"{4 * city.FILE_S} rides, {city.FILE_S // 15} reports, {city.FILE_S // city.CHANGE_EVERY_S} changes of the map"
        )
        self._console.print(Text.assemble((f"{until[:5]}  ", "cyan"), brought))
        for late in (city.SLOW, city.TOO_LATE):
            if late.file == number:
                self._line("late", _late(late), "yellow")

    def _tell_answers(self, found: list[tuple[Change, int]]) -> None:
        if counted := sum(1 for change, _ in found if _of_slow(change)):
            at, street = city.clock(city.SLOW.at_ms), city.SLOW.street
            self._line("late", f"the report of {at} counts: {counted} warnings of {street}", "yellow")
        self._tell_map([change for change, _ in found])
        for weight, style in ((1, "green"), (-1, "red")):
            if some := [each for each in found if each[0][1] == weight]:
                (at_ms, _, taxi, place, street), cell = some[len(some) // 2]
                said = f"{taxi} to {place}: jam on {street}"
                self._line("+" if weight > 0 else "-", f"{said:<46}  {city.clock(at_ms)} in cell {cell}", style)
        cells = Counter(cell for _, cell in found)
        shares = ", ".join(f"{cell}: {cells[cell]:,}" for cell in range(CELLS))
        self._line("", f"{len(found):,} changes, found by cell {shares}", "dim")

    def _tell_map(self, found: list[Change]) -> None:
        """The change of the map that did most, among those that have been answered."""
        effects = Counter((at_ms, street, weight) for at_ms, weight, _, _, street in found)
        changes = [(effects[c.at_ms, c.street, 1 if c.opens else -1], c) for c in city.map_changes()]
        many, change = max(changes, key=lambda each: each[0])
        if many:
            done = f"leads to {change.place} now" if change.opens else "is closed"
            ends = "come" if change.opens else "go"
            self._line("map", f"{city.clock(change.at_ms)} {change.street} {done}: {many} warnings {ends}", "magenta")

    def _tell_killed(self, pids: list[int]) -> None:
        for pid in pids:
            self._line("kill", f"process {pid}, a Python worker of Spark, is killed at its work", "bold red")
        failed = self.failed_tasks
        said = f"{failed} task{'' if failed == 1 else 's'} failed, and ran again from the state on disk"
        self._line("", said if failed else "it had just finished its task: none had to run again", "bold red")

    @property
    def failed_tasks(self) -> int:
        """Tasks of this query that failed so far, by Spark's own count."""
        if self.query is None:
            return 0
        tracker = self._spark.sparkContext.statusTracker()
        jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(str(self.query.runId)))
        stages = {stage for job in jobs if job is not None for stage in job.stageIds}
        return sum(info.numFailedTasks for stage in stages if (info := tracker.getStageInfo(stage)) is not None)

    def _line(self, kind: str, said: str, style: str) -> None:
        self._console.print(Text.assemble(f"{'':5}  ", (f"{kind:<4}  {said}", style)))


def _change(row: Any) -> Change:
    names = (city.name_of(row[name]) for name in ("taxi", "place", "street"))
    taxi, place, street = names
    return row["at_ms"], row["weight"], taxi, place, street


def _late(report: city.Report) -> str:
    newest = 1000 * (city.FILE_S * (report.file + 1) - 15)
    behind = (newest - report.at_ms) // 1000
    said = f"a report of {city.clock(report.at_ms)} comes {behind} s late:"
    return f"{said} it still counts" if behind <= city.LATENESS_S else f"{said} too late, set aside"


def _of_slow(change: Change) -> bool:
    at_ms, weight, _, _, street = change
    return at_ms == city.SLOW.at_ms and weight > 0 and street == city.SLOW.street


# The comparison -------------------------------------------------------------------------------------------------------


def command() -> list[str]:
    """The same files through one engine in one process, on the command line."""
    streams = ["--stream", f"{city.RIDES}=rides", "--stream", f"{city.JAMS}=jams", "--time", "prov"]
    changes = ["--dataset", "map.nt", "--changes", "changes", "--changes-time", city.CHANGES_TIME]
    more = ["--lateness", city.LATENESS, "--output", "answers.csv", "--dead-letter", "late.jsonl"]
    return ["run", "jams.rq", "--engine", "embedded", *streams, *changes, *more]


def alone(folder: Path) -> Counter[Change]:
    """What that gives."""
    done = subprocess.run([sys.executable, "-m", "millstream", *command()], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        fail(f"the embedded engine failed: {done.stderr.strip()}")
    with (folder / "answers.csv").open(newline="") as file:
        rows = ({**row, "at_ms": int(row["at_ms"]), "weight": int(row["weight"])} for row in csv.DictReader(file))
        return Counter(map(_change, rows))


def _compare(console: Console, folder: Path, told: Told) -> None:
    heading(console, "Was anything lost?")
    console.print("The same files once more, through one engine in one process, without Spark:\n")
    console.print("  millstream run jams.rq --engine embedded --stream ... --changes ...\n")
    expected = alone(folder)
    many = sum(told.changes.values())
    if told.changes != expected:
        fail(f"Spark gave {many:,} changes of the answer, one process {sum(expected.values()):,}: they are not the same.")
    console.print(Text(f"{many:,} changes of the answer from either, each at its time: same answers.", "bold green"))
    console.print(f"Set aside as too late by either: {_letters(folder / 'late')} report, in a file with its reason.")
    if _letters(folder / "late") != _letters(folder / "late.jsonl"):
        fail("but they set aside different reports.")


def _letters(place: Path) -> int:
    """How many lines there are in a file, or in those of a folder."""
    files = sorted(place.rglob("*.jsonl")) if place.is_dir() else [place]
    return sum(len(file.read_text().splitlines()) for file in files)
