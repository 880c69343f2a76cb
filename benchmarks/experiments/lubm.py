"""LUBM as a stream of graphs that are never forgotten: insertion, matching and answers together (CGPM, table II).

Universities come in elements of a hundred and of a thousand triples into a window without an end. Beside it a store is
loaded with everything and asked once, at the end: what it costs not to have answers in between.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyoxigraph as ox

from benchmarks.curves import Curves
from benchmarks.experiments.windows import LUBM
from benchmarks.limits import UNLIMITED, Limit, LimitError, within
from benchmarks.peers import ours
from benchmarks.peers.question import Question
from benchmarks.peers.spooled import Measured, Stream
from benchmarks.report import Cell, Part, Plot, Progress, Table, medians_of
from benchmarks.timing import Effort, peak_resident, take_turns_by_their_own_clock
from benchmarks.workloads import QUERIES, Triple, spool, universities
from benchmarks.workloads.suites import absence, at_hand
from benchmarks.workloads.universities import real_university

ABOUT = "LUBM in elements of 100 and 1,000 triples into a window without an end (CGPM, table II)."
EACH = (100, 1_000)
CHUNK = 200_000
MOST = 200
"""Universities, each made when it is needed: 25 M triples."""
ONCE = "pyoxigraph, loaded and asked once"
PUBLISHED = {100: (226, 97, 189, 76, 27, 36, 204), 1_000: (206, 83, 178, 61, 25, 28, 190)}
MACHINE = "Intel Xeon E3 1246v3, 128 GB, JDK 8, Linux 3.13, means of 50 runs"


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(5_000, 1),
    "quick": Size(200_000, 2),
    "full": Size(1_200_000, 2),
    "huge": Size(24_000_000, 1),
}
REAL: tuple[Effort, ...] = ("quick", "full")
"""Sizes that are shown beside what is real: it is not larger for the largest."""
LIMIT = Limit(420.0, 11_000_000_000)
"""For the store: loading everything and asking all queries."""
ALONE = 1_000_000
"""From so many triples on the engine and the store have a process of their own."""


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("lubm", ABOUT)
    ours.warm_up()
    real = effort in REAL and at_hand(LUBM)
    progress.expect(1 + (1 + real) * (1 + len(QUERIES)))
    with tempfile.TemporaryDirectory() as folder:
        progress("making universities")
        stream = Stream(Path(folder, "universities.arrow"))
        triples = spool.write_tables(stream.path, tables(islice(universities(MOST), size.triples)))
        part.data.append(f"seeded universities after LUBM's profile, {triples:,} triples")
        measure(f"LUBM, {triples:,} triples", stream, triples, size.rounds, part, progress)
        if real:
            own = Stream(Path(folder, "university.arrow"))
            triples = spool.write_tables(own.path, tables(real_university()))
            part.data.append(f"the university of LUBM's own generator, {triples:,} triples")
            measure(f"LUBM's own university, {triples:,} triples", own, triples, size.rounds, part, progress)
        elif effort in REAL:
            part.missing.append(absence("LUBM's own university", LUBM))
    published: list[list[Cell]] = [[each, *numbers] for each, numbers in PUBLISHED.items()]
    note = f"another machine ({MACHINE}), LUBM's own generator, 150 universities"
    part.tables.append(
        Table("Published: CGPM, table II, 24 M triples; seconds", ("triples an element", *QUERIES), published, [note])
    )
    return part


def measure(title: str, stream: Stream, triples: int, rounds: int, part: Part, progress: Progress) -> None:
    """All queries over one stream, in elements of either size, beside a store."""
    alone = triples >= ALONE
    seconds, rows = Curves(), list[list[Cell]]()
    progress("loading the store and asking it")
    store = ask_store(stream, alone, part)
    for name, patterns in QUERIES.items():
        progress(name)
        found = within(UNLIMITED, alone, stream_all, Question(patterns), stream, rounds)
        answers = {timed.result for timed in found.ways.values()}
        if store is None:
            seconds.add(ONCE, name, [None], stopped=True)
        else:
            seconds.add(ONCE, name, [store.loading + store.asking[name]])
            answers.add(store.answers[name])
        assert len(answers) == 1, f"{name}: answers differ: {answers}"
        for way, timed in found.ways.items():
            seconds.add(way, name, timed.each)
        speed, peak = triples / next(iter(found.ways.values())).seconds, found.peak / 1e6 if alone else None
        rows.append([name, *seconds.row(name), speed, peak, answers.pop()])
    note = medians_of(rounds)
    kinds = ("query", "CPU seconds in all")
    part.plots.append(Plot(title, *kinds, seconds.series(), log_y=True, note=note, less_is_better=True))
    columns = ("query", *seconds.names, "triples a CPU-second, elements of 100", "its peak, MB", "answers")
    notes = ["from text in tables to decoded answers, after every element"]
    if store is not None:
        notes.append(f"the store takes {store.loading:,.1f} s for loading, counted in each query")
    if store is not None and alone:
        notes.append(f"peak: of the engine's process, one for each query; the store's is {store.peak / 1e6:,.0f} MB")
    part.tables.append(Table(f"{title}; CPU seconds", columns, rows, notes))


def tables(triples: Iterable[Triple]) -> Iterator[pa.Table]:
    """Tables of a stream, a triple a millisecond."""
    rest, first = iter(triples), 0
    while some := list(islice(rest, CHUNK)):
        columns = {name: pa.array([t[i] for t in some]) for i, name in enumerate("spo")}
        yield pa.table({**columns, "at_ms": pa.array(np.arange(first, first + len(some)))})
        first += len(some)


def stream_all(question: Question, stream: Stream, rounds: int) -> Measured:
    """The whole stream in elements of either size, by turns."""
    ours.warm_up()
    runs = {f"millstream, elements of {each:,}": partial(answer, question, stream, each) for each in EACH}
    return Measured(take_turns_by_their_own_clock(runs, rounds), peak_resident())


def answer(question: Question, stream: Stream, each: int) -> tuple[float, int]:
    """CPU seconds and answers of a whole stream in elements of so many triples."""
    query = question.over(ours.STREAM, "ALL")
    return ours.answer_in_tables(query, (in_elements(table, each) for table in stream.tables()))


def in_elements(table: pa.Table, each: int) -> pa.Table:
    number = table["at_ms"].to_numpy() // each
    return table.set_column(3, "at_ms", pa.array(number * each + each - 1)).append_column("element", pa.array(number))


# The store ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """CPU seconds of a store, its answers and its memory."""

    loading: float
    asking: dict[str, float]
    answers: dict[str, int]
    peak: int


def ask_store(stream: Stream, alone: bool, part: Part) -> Asked | None:
    try:
        return within(LIMIT, alone, load_and_ask, stream)
    except LimitError as error:
        part.missing.append(f"{ONCE}: {error}")
        return None


def load_and_ask(stream: Stream) -> Asked:
    """A store that is loaded with everything as text and asked each query once."""
    store, loading = ox.Store(), 0.0
    for table in stream.tables():
        rows = zip(*(table[name].to_pylist() for name in "spo"), strict=True)
        text = "".join(f"{s} {p} {o} .\n" for s, p, o in rows).encode()
        began = time.process_time()
        store.bulk_load(text, format=ox.RdfFormat.N_TRIPLES)
        loading += time.process_time() - began
    asking, answers = {}, {}
    for name, patterns in QUERIES.items():
        began = time.process_time()
        answers[name] = sum(1 for _ in cast("ox.QuerySolutions", store.query(Question(patterns).plain())))
        asking[name] = time.process_time() - began
    return Asked(loading, asking, answers, peak_resident())
