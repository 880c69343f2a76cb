"""Beside what Spark offers by itself: its stream-stream joins, and Spark SQL over the window's rows in every batch.

All three go through the same triples in the same triggers with the same window, of 2 to 20 triggers. The first trigger fills
the window and is not timed; a small job before it warms Java up. All read the same files of N-Triples; Spark's own ways
then once more parsed terms from Parquet, as if parsing were for nothing. Before any time counts, all give the same set of
solutions: a solution appears if some arrivals of its triples are less than the window apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from benchmarks.curves import Curves
from benchmarks.peers.spark_ways import Stream, by_joins, by_recomputing, parquet, text, write_parquet, write_text
from benchmarks.report import Cell, Part, Plot, Progress, Table, at_least
from benchmarks.spark_jobs import Ran, end_java, plan, run_job, spark_on, workplace
from benchmarks.timing import Effort
from benchmarks.workloads import QUERIES, Patterns, Triple, universities
from millstream.pipeline.runtime.session import write_no_checksums

ABOUT = "The same acyclic queries by Spark's stream-stream joins and by Spark SQL over the window in every batch, two cores."
ACYCLIC = ("Q2", "Q4", "Q5", "Q6")
WANTED = 5.0
MASTER = "local[2]"
OURS, JOINS, AGAIN = "millstream", "stream-stream joins", "recomputed"
TEXT, PARQUET = "N-Triples", "Parquet"
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
Named = tuple[str, str]
"""A way, and what it reads."""
Found = dict[tuple[str, int, Named], Ran]

_PEERS: dict[str, Callable[..., Ran]] = {JOINS: by_joins, AGAIN: by_recomputing}
_STREAMS: dict[str, Stream] = {TEXT: text, PARQUET: parquet}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("peers", ABOUT)
    with workplace() as folder:
        progress("making universities")
        _write(folder, size)
        found: Found = {}
        with spark_on(MASTER) as (spark, _):
            _go_through({(OURS, TEXT): partial(_ours, spark)}, folder, size, part, progress, found)
        # Java as Spark itself has it, since the others' work is Java's; all else as for ours.
        end_java()
        with spark_on(MASTER, dedicated=False) as (spark, _):
            spark.conf.set("spark.sql.shuffle.partitions", "2")
            write_no_checksums(spark)
            ways = {
                (way, read): partial(_theirs, spark, run_way, read, size.limit_s)
                for read in _STREAMS
                for way, run_way in _PEERS.items()
            }
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
    write_text(folder / TEXT, triples, cuts)
    write_parquet(folder / PARQUET, triples, cuts)


def _ours(spark: SparkSession, patterns: Patterns, window: int, folder: Path, checkpoint: Path) -> Ran:
    return run_job(plan(spark, patterns, window, folder / TEXT, 1), checkpoint, keep=True)


def _theirs(
    spark: SparkSession,
    way: Callable[..., Ran],
    read: str,
    limit_s: int,
    patterns: Patterns,
    window: int,
    folder: Path,
    checkpoint: Path,
) -> Ran:
    return way(spark, _STREAMS[read], patterns, window, folder / read, checkpoint, limit_s)


def _go_through(ways: Mapping[Named, Way], folder: Path, size: Size, part: Part, progress: Progress, found: Found) -> None:
    for (way, read), run_way in ways.items():
        for name in size.queries:
            progress(f"{name}, {way} from {read}, {WARMING}")
            checkpoint = folder / "checkpoints" / f"{name}-{way}-{read}-{WARMING}"
            run_way(QUERIES[name], size.a_trigger // 5, folder / WARMING, checkpoint)
    for name in size.queries:
        for window in size.windows:
            for (way, read), run_way in ways.items():
                what = f"{name}, {way} from {read}, a window of {window} triggers"
                progress(what)
                checkpoint = folder / "checkpoints" / f"{name}-{way}-{read}-{window}"
                try:
                    ran = run_way(QUERIES[name], window * size.a_trigger, folder / str(window), checkpoint)
                except StreamingQueryException as error:
                    part.missing.append(f"{what}: Spark refuses it: {str(error).splitlines()[0][:200]}")
                else:
                    found[name, window, (way, read)] = ran


def _report(part: Part, size: Size, found: Found) -> None:
    for name in size.queries:
        curves = Curves()
        for window in size.windows:
            for way, read in ((OURS, TEXT), (JOINS, TEXT), (AGAIN, TEXT), (JOINS, PARQUET), (AGAIN, PARQUET)):
                ran = found.get((name, window, (way, read)))
                label = way if read == TEXT else f"{way}, {read}"
                curves.add(
                    label,
                    window,
                    [None if ran is None else _a_trigger(ran, ran.rest_s)],
                    stopped=ran is not None and ran.stopped,
                )
        part.plots.append(
            Plot(
                f"{name}: a trigger, by the length of the window",
                "triggers in a window",
                "seconds a trigger",
                curves.series(),
                log_x=True,
                log_y=True,
                note=f"triggers of {size.a_trigger:,} triples, from {TEXT} unless a name says otherwise",
                less_is_better=True,
            )
        )
    for read in _STREAMS:
        _table(part, size, read, found)


def _table(part: Part, size: Size, read: str, found: Found) -> None:
    ways = (OURS, *_PEERS)
    columns = (
        *("query", "patterns", "triggers a window", *(f"{way}, s" for way in ways), "times the better"),
        *(*(f"{way}, CPU s" for way in ways), "times in CPU", "solutions"),
    )
    rows = [_row(part, size, name, window, read, found) for name in size.queries for window in size.windows]
    what = (
        f"all read {TEXT}" if read == TEXT else f"Spark's own ways read parsed terms from {read}, millstream parses {TEXT}"
    )
    title = (
        f"a trigger of {size.a_trigger:,} triples, {size.timed} of them after one that fills the window, {MASTER}; {what}"
    )
    notes = [
        "a trigger each: seconds from the beginning of the second to the end of the last, and CPU seconds of all processes",
        "Spark's joins give a solution once for every choice of arrivals, millstream once while it holds: sets are compared",
        "a stream-stream join emits no end of a solution; recomputing gives solutions that appeared, at the batch's end",
        f"> : stopped after {size.limit_s:.0f} s, before a trigger with a full window was done",
        "where a query asks for little, what Spark takes for a trigger that does nothing (spark-latency) bounds the ratio",
    ]
    part.tables.append(Table(title, columns, rows, notes))


def _row(part: Part, size: Size, name: str, window: int, read: str, found: Found) -> list[Cell]:
    ours, theirs = found[name, window, (OURS, TEXT)], {way: found.get((name, window, (way, read))) for way in _PEERS}
    assert ours.bindings, f"{name}: no solutions, so nothing was compared"
    ran = {OURS: ours, **{way: some for way, some in theirs.items() if some is not None}}
    for way, some in ran.items():
        if not some.stopped:
            extra, missing = some.bindings - ours.bindings, ours.bindings - some.bindings
            assert not extra | missing, f"{name}, {way}: {len(extra)} solutions too many, {len(missing)} missing"
    wall = {way: _a_trigger(some, some.rest_s) for way, some in ran.items()}
    cpu = {way: _a_trigger(some, some.cpu_s) for way, some in ran.items()}
    times, times_cpu = (_times(each) for each in (wall, cpu))
    if times is not None:
        what = f"{name}, a window of {window} triggers, over the better of Spark's own ways from {read}"
        part.targets.append(at_least(what, WANTED, times, " times"))
    ways = (OURS, *_PEERS)
    shown: list[Cell] = [f"> {size.limit_s:.0f}" if w in ran and wall[w] is None else wall.get(w) for w in ways]
    spent = [cpu.get(way) for way in ways]
    return [name, len(QUERIES[name]), window, *shown, times, *spent, times_cpu, len(ours.bindings)]


def _a_trigger(ran: Ran, seconds: float) -> float | None:
    """What one timed trigger took, if there was any."""
    timed = len(ran.progress) - 1
    return seconds / timed if timed > 0 else None


def _times(spent: dict[str, float | None]) -> float | None:
    """How much less ours took than the better of the others that came to an end."""
    ours, others = spent[OURS], [s for way, s in spent.items() if way != OURS and s is not None]
    return min(others) / ours if ours is not None and others else None
