"""Beside what Spark offers by itself: its stream-stream joins, and Spark SQL over the window's rows in every batch.

All three go through the same triples in the same triggers with the same window, of 2 to 20 triggers. The first trigger fills
the window and is not timed; a small job before it warms Java up. Spark's own ways read Parquet with parsed terms, millstream
N-Triples text. Before any time counts, all give the same set of solutions: a solution appears if some arrivals of its
triples are less than the window apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from benchmarks.curves import Curves
from benchmarks.peers.spark_ways import by_joins, by_recomputing, write_parquet
from benchmarks.report import Cell, Part, Plot, Progress, Table, at_least
from benchmarks.spark_jobs import Ran, end_java, plan, run_job, spark_on, workplace
from benchmarks.timing import Effort
from benchmarks.workloads import QUERIES, Patterns, Triple, lines, universities
from millstream.pipeline.session import write_no_checksums

ABOUT = "The same acyclic queries by Spark's stream-stream joins and by Spark SQL over the window in every batch, two cores."
ACYCLIC = ("Q2", "Q4", "Q5", "Q6")
WANTED = 5.0
MASTER = "local[2]"
OURS, JOINS, AGAIN = "millstream", "stream-stream joins", "recomputed"
WAYS = (OURS, JOINS, AGAIN)
WARMING = "warming up"


@dataclass(frozen=True, slots=True)
class Size:
    a_trigger: int
    windows: Sequence[int]
    """In triggers."""
    timed: int
    """Triggers after the one that fills the window."""
    warming: int
    """Triggers of a tenth of the size, before anything is timed."""
    limit_s: int
    """For one way at one window."""
    universities: int
    queries: Sequence[str]


SIZES: dict[Effort, Size] = {
    "smoke": Size(3_000, (2, 4), 2, 2, 120, 1, ("Q2", "Q6")),
    "quick": Size(20_000, (2, 10), 3, 4, 60, 3, ACYCLIC),
    "full": Size(200_000, (2, 5, 10, 20), 3, 12, 60, 40, ACYCLIC),
}
Way = Callable[[Patterns, int, Path, Path], Ran]
Found = dict[tuple[str, int, str], Ran]


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("peers", ABOUT)
    with workplace() as folder:
        progress("making universities")
        _write(folder, size)
        found: Found = {}
        with spark_on(MASTER) as (spark, _):
            _go_through({OURS: partial(_ours, spark)}, folder, size, part, progress, found)
        # Java as Spark itself has it, since the others' work is Java's; all else as for ours.
        end_java()
        with spark_on(MASTER, dedicated=False) as (spark, _):
            spark.conf.set("spark.sql.shuffle.partitions", "2")
            write_no_checksums(spark)
            ways = {way: partial(_theirs, spark, run_way, size.limit_s) for way, run_way in _PEERS.items()}
            _go_through(ways, folder, size, part, progress, found)
        end_java()
    _report(part, size, found)
    return part


def _write(folder: Path, size: Size) -> None:
    """For each window text and Parquet: a file as long as the window, then the triggers that are timed."""
    timed = size.timed * size.a_trigger
    triples = list(islice(universities(size.universities), timed + max(size.windows) * size.a_trigger))
    for window in size.windows:
        filling = window * size.a_trigger
        # Queries ask for the first university: so its triples come last, in the triggers that are timed.
        _write_both(folder / str(window), triples[timed : timed + filling] + triples[:timed], filling, size.a_trigger)
    tenth = size.a_trigger // 10
    _write_both(folder / WARMING, triples[: tenth * size.warming], tenth, tenth)


def _write_both(folder: Path, triples: list[Triple], filling: int, a_trigger: int) -> None:
    cuts = [0, *range(filling, len(triples) + 1, a_trigger)]
    write_parquet(folder / "parquet", triples, cuts)
    (folder / "text").mkdir()
    for number, (first, end) in enumerate(pairwise(cuts)):
        (folder / "text" / f"{number:05d}.nt").write_text("".join(lines(iter(triples[first:end]))))


def _ours(spark: SparkSession, patterns: Patterns, window: int, folder: Path, checkpoint: Path) -> Ran:
    return run_job(plan(spark, patterns, window, folder / "text", 1), checkpoint, keep=True)


def _theirs(
    spark: SparkSession,
    way: Callable[..., Ran],
    limit_s: int,
    patterns: Patterns,
    window: int,
    folder: Path,
    checkpoint: Path,
) -> Ran:
    return way(spark, patterns, window, folder / "parquet", checkpoint, limit_s)


_PEERS: dict[str, Callable[..., Ran]] = {JOINS: by_joins, AGAIN: by_recomputing}


def _go_through(ways: Mapping[str, Way], folder: Path, size: Size, part: Part, progress: Progress, found: Found) -> None:
    for way, run_way in ways.items():
        for name in size.queries:
            progress(f"{name}, {way}, {WARMING}")
            run_way(QUERIES[name], size.a_trigger // 5, folder / WARMING, folder / "checkpoints" / f"{name}-{way}-{WARMING}")
    for name in size.queries:
        for window in size.windows:
            for way, run_way in ways.items():
                progress(f"{name}, {way}, a window of {window} triggers")
                checkpoint = folder / "checkpoints" / f"{name}-{way}-{window}"
                try:
                    found[name, window, way] = run_way(
                        QUERIES[name], window * size.a_trigger, folder / str(window), checkpoint
                    )
                except StreamingQueryException as error:
                    part.missing.append(f"{name}, {window}, {way}: Spark refuses it: {str(error).splitlines()[0][:200]}")


def _report(part: Part, size: Size, found: Found) -> None:
    columns = (
        *("query", "patterns", "triggers a window", *(f"{way}, s" for way in WAYS), "times the better"),
        *(*(f"{way}, CPU s" for way in WAYS), "times in CPU", "solutions"),
    )
    rows: list[list[Cell]] = []
    for name in size.queries:
        curves = Curves()
        for window in size.windows:
            rows.append(_row(part, size, name, window, found, curves))
        part.plots.append(
            Plot(
                f"{name}: a trigger, by the length of the window",
                "triggers in a window",
                "seconds a trigger",
                curves.series(),
                log_x=True,
                log_y=True,
                note=f"triggers of {size.a_trigger:,} triples; up to the better of Spark's own ways is what counts",
            )
        )
    title = f"a trigger of {size.a_trigger:,} triples, {size.timed} of them after one that fills the window, {MASTER}"
    notes = [
        "a trigger each: seconds from the beginning of the second to the end of the last, and CPU seconds of all processes",
        "Spark's ways read parsed terms from Parquet; millstream parses N-Triples",
        "Spark's joins give a solution once for every choice of arrivals, millstream once while it holds: sets are compared",
        "a stream-stream join emits no end of a solution; recomputing gives solutions that appeared, at the batch's end",
        f"> : stopped after {size.limit_s:.0f} s, before a trigger with a full window was done",
        "where a query asks for little, what Spark takes for a trigger that does nothing (spark-latency) bounds the ratio",
    ]
    part.tables.append(Table(title, columns, rows, notes))


def _row(part: Part, size: Size, name: str, window: int, found: Found, curves: Curves) -> list[Cell]:
    ran = {way: found[name, window, way] for way in WAYS if (name, window, way) in found}
    ours = ran[OURS]
    for way in (JOINS, AGAIN):
        if way in ran and not ran[way].stopped:
            extra, missing = ran[way].bindings - ours.bindings, ours.bindings - ran[way].bindings
            assert not extra | missing, f"{name}, {way}: {len(extra)} solutions too many, {len(missing)} missing"
    assert ours.bindings, f"{name}: no solutions, so nothing was compared"
    wall = {way: _a_trigger(some, some.rest_s) for way, some in ran.items()}
    cpu = {way: _a_trigger(some, some.cpu_s) for way, some in ran.items()}
    for way in WAYS:
        curves.add(way, window, [wall.get(way)], stopped=way in ran and ran[way].stopped)
    times, times_cpu = (_times(each) for each in (wall, cpu))
    if times is not None:
        what = f"{name}, a window of {window} triggers, over the better of Spark's own ways"
        part.targets.append(at_least(what, WANTED, times, " times"))
    shown: list[Cell] = [f"> {size.limit_s:.0f}" if w in ran and wall[w] is None else wall.get(w) for w in WAYS]
    spent = [cpu.get(way) for way in WAYS]
    return [name, len(QUERIES[name]), window, *shown, times, *spent, times_cpu, len(ours.bindings)]


def _a_trigger(ran: Ran, seconds: float) -> float | None:
    """What one timed trigger took, if there was any."""
    timed = len(ran.progress) - 1
    return seconds / timed if timed > 0 else None


def _times(spent: dict[str, float | None]) -> float | None:
    """How much less ours took than the better of the others that came to an end."""
    ours, others = spent[OURS], [s for way, s in spent.items() if way != OURS and s is not None]
    return min(others) / ours if ours is not None and others else None
