"""What summary, lazy evaluation and the order chosen at each probe are worth: each switched off by itself.

The answers never change, which is checked; only the work does. What it is worth to keep the join between elements is
measured by S-Rev in `windows` and `break-even`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import pyarrow as pa

from benchmarks import hubs
from benchmarks.curves import Curves
from benchmarks.experiments.events import numbered
from benchmarks.experiments.sliding import QUESTIONS, elements_of, observations
from benchmarks.peers import ours
from benchmarks.peers.question import Question
from benchmarks.report import Cell, Part, Plot, Progress, Table, medians_of
from benchmarks.timing import Effort, take_turns_by_their_own_clock
from benchmarks.workloads import QUERIES, social, spool, taxi, universities

ABOUT = "Summary, lazy evaluation and adaptive order switched off one by one: how much longer the same answers take."
WAYS: dict[str, ours.Switches] = {
    "millstream": {},
    "no summary": {"summary": False},
    "not lazy": {"lazy": False},
    "fixed order": {"adaptive": False},
}


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    window: int
    hubs: hubs.Size
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(5_000, 2_000, hubs.SIZES["smoke"], 1),
    "quick": Size(60_000, 20_000, hubs.SIZES["quick"], 3),
    "full": Size(400_000, 100_000, hubs.SIZES["full"], 3),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("ablations", ABOUT)
    ours.warm_up()
    progress.expect(len(QUERIES) + len(QUESTIONS) + 2 + len(hubs.SHAPES))
    times, rows = Curves(), list[list[Cell]]()
    for name, query, given, triples in workloads(size):
        progress(name)
        runs = {way: partial(ours.answer, query, given, switches) for way, switches in WAYS.items()}
        found = take_turns_by_their_own_clock(runs, size.rounds)
        answers = {timed.result for timed in found.values()}
        assert len(answers) == 1, f"{name}: switches change the answers: {answers}"
        whole = found["millstream"].seconds
        for way, timed in found.items():
            times.add(way, name, [seconds / whole for seconds in timed.each])
        rows.append([name, triples / whole, *(timed.seconds / whole for timed in found.values()), answers.pop()])
    note = f"{medians_of(size.rounds)}; windows of {size.window:,} triples where they slide"
    part.plots.append(Plot("Time beside everything switched on", "workload", "times as long", times.series(), note=note))
    columns = ("workload", "triples a CPU-second, all on", *WAYS, "answers")
    notes = [
        "times as long as with everything switched on; the first is 1 by definition, its spread is in the chart",
        "LUBM: sliding windows, one triple an element; meters, hubs: the same; trips and weeks: event by event",
        "no summary: everything is encoded and looked at, whether a pattern matches it or not",
        "not lazy: joins are tried even while some pattern has no match at all",
        "fixed order: patterns are matched in the same order at every probe instead of the shortest list first",
    ]
    part.tables.append(Table("Switched off one by one", columns, rows, notes))
    return part


def workloads(size: Size) -> Iterator[tuple[str, str, bytes | pa.Table, int]]:
    """A name, the query, its input, and how many triples that is."""
    triples = list(islice(universities(12), size.triples))
    text = "".join(f"{s} {p} {o} .\n" for s, p, o in triples).encode()
    for name, patterns in QUERIES.items():
        yield f"LUBM {name}", Question(patterns).over(ours.STREAM, f"RANGE {size.window}ms"), text, len(triples)
    measured = list(observations(size.triples))
    table = ours.as_table(elements_of(measured, 0, 1))
    for name, question in QUESTIONS.items():
        yield f"meters {name[:2]}", question.over(ours.STREAM, f"RANGE {size.window}ms"), table, len(measured)
    for name, events, chain in (
        ("trips", numbered(taxi.elements(size.triples), size.triples // taxi.TRIPLES), taxi.PATTERNS["chain"]),
        ("weeks", numbered(social.weekly(size.triples // 4), 4), social.PATTERNS["chain"]),
    ):
        given = pa.concat_tables(spool.tables(events)).combine_chunks()
        yield name, Question(chain).over(ours.STREAM, "EVENT"), given, size.triples
    for shape, powers in hubs.SHAPES.items():
        edges = hubs.edges(size.hubs, powers)
        lines = "".join(f"{s} {p} {o} .\n" for s, p, o in map(hubs.triple, edges)).encode()
        yield shape, Question(hubs.TRIANGLE).over(ours.STREAM, f"RANGE {size.hubs.window}ms"), lines, len(edges)
