"""How many trips of a sliding window go from where to where, beside incremental engines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from benchmarks.peers import adapter, ours, programs
from benchmarks.peers.beside import HANDED, Beside
from benchmarks.report import Cell, Part, Progress, Table
from benchmarks.timing import Effort
from benchmarks.workloads.routes import PLACES, count_by_route, routes

ABOUT = "Counts by route over sliding windows of trips, every change of a count an answer, beside incremental engines."
VARIABLES = ("from", "to", "trips")


@dataclass(frozen=True, slots=True)
class Size:
    trips: int
    windows: tuple[int, ...]
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(1_000, (200,), 1),
    "quick": Size(30_000, (3_000,), 3),
    "full": Size(100_000, (3_000, 30_000), 3),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("peers-counts", ABOUT)
    engines, missing = programs.commands(effort, progress)
    part.missing += missing
    ours.warm_up()
    progress.expect(len(size.windows))
    part.data.append(f"seeded trips between {PLACES} places, {size.trips:,} of them, two triples an element")
    elements = list(routes(size.trips))
    beside, rows = Beside(engines, part), list[list[Cell]]()
    for window in size.windows:
        progress(f"window of {window:,}")
        query, table = count_by_route(ours.STREAM, f"RANGE {window}ms"), ours.as_table(elements)
        spent, answers = zip(*(ours.answer(query, table) for _ in range(size.rounds)), strict=True)
        x = f"window of {window:,} trips"
        beside.ask(
            x,
            size.trips,
            VARIABLES,
            lambda query=query: list(adapter.messages(query, ours.STREAM, elements)),  # type: ignore[misc]
            spent,
            lambda query=query, table=table: ours.appeared(query, table),  # type: ignore[misc]
            partial(ours.appeared_in_batches, query, table),
        )
        rows.append([window, *beside.row(x), answers[-1]])
    notes = [*HANDED, f"medians of {size.rounds} for millstream, which reads tables of terms"]
    part.tables.append(Table("CPU time a trip", ("window", *beside.columns, "answers"), rows, notes))
    return part
