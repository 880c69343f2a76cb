"""LUBM as a stream of graphs that are never forgotten: insertion, matching and answers together (CGPM, table II).

Universities come in elements of a hundred and of a thousand triples into a window without an end. Beside it a store is
loaded with everything and asked once, at the end: what it costs not to have answers in between.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import cast

import numpy as np
import pyarrow as pa
import pyoxigraph as ox

import millstream as ms
from benchmarks.curves import Curves
from benchmarks.peers import ours
from benchmarks.peers.question import Question
from benchmarks.report import Cell, Part, Plot, Progress, Table
from benchmarks.timing import Effort, take_turns_by_their_own_clock
from benchmarks.workloads import QUERIES, universities

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
    store: bool = True


SIZES: dict[Effort, Size] = {
    "smoke": Size(5_000, 1),
    "quick": Size(200_000, 2),
    "full": Size(1_200_000, 2),
    "huge": Size(24_000_000, 1, store=False),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("lubm", ABOUT)
    ours.warm_up()
    progress.expect(2 + len(QUERIES))
    progress("making universities")
    tables = list(chunks(size.triples))
    store = ox.Store()
    progress("loading the store")
    loading = load(store, tables) if size.store else None
    seconds, rows = Curves(), list[list[Cell]]()
    for name, patterns in QUERIES.items():
        progress(name)
        question = Question(patterns)
        runs = {f"millstream, elements of {each:,}": lambda q=question, each=each: stream(q, tables, each) for each in EACH}
        found = take_turns_by_their_own_clock(runs, size.rounds)
        answers = {timed.result for timed in found.values()}
        if loading is not None:
            began = time.process_time()
            answers.add(sum(1 for _ in cast("ox.QuerySolutions", store.query(question.plain()))))
            seconds.add(ONCE, name, [loading + time.process_time() - began])
        assert len(answers) == 1, f"{name}: answers differ: {answers}"
        for way, timed in found.items():
            seconds.add(way, name, timed.each)
        speed = size.triples / next(iter(found.values())).seconds
        rows.append([name, *seconds.row(name), speed, answers.pop()])
    title = f"LUBM, {size.triples:,} triples"
    note = f"medians of {size.rounds}, least to most"
    part.plots.append(Plot(title, "query", "CPU seconds in all", seconds.series(), log_y=True, note=note))
    columns = ("query", *seconds.names, "triples a CPU-second, elements of 100", "answers")
    notes = [
        "from text in tables to decoded answers, after every element",
        *([f"the store takes {loading:,.1f} s for loading, counted in each query"] if loading is not None else []),
    ]
    part.tables.append(Table(f"{title}; CPU seconds", columns, rows, notes))
    published: list[list[Cell]] = [[each, *numbers] for each, numbers in PUBLISHED.items()]
    note = f"another machine ({MACHINE}), LUBM's own generator, 150 universities"
    part.tables.append(
        Table("Published: CGPM, table II, 24 M triples; seconds", ("triples an element", *QUERIES), published, [note])
    )
    return part


def chunks(triples: int) -> Iterator[pa.Table]:
    """Tables of the stream, a triple a millisecond."""
    rest = universities(MOST)
    for first in range(0, triples, CHUNK):
        some = list(islice(rest, min(CHUNK, triples - first)))
        columns = {name: pa.array([t[i] for t in some]) for i, name in enumerate("spo")}
        yield pa.table({**columns, "at_ms": pa.array(np.arange(first, first + len(some)))})


def stream(question: Question, tables: list[pa.Table], each: int) -> tuple[float, int]:
    """CPU seconds and answers of the whole stream in elements of so many triples."""
    engine = ms.Engine()
    registered = engine.register(question.over(ours.STREAM, "ALL"), output="istream")
    spent, answers = 0.0, 0
    for table in tables:
        number = table["at_ms"].to_numpy() // each
        given = table.set_column(3, "at_ms", pa.array(number * each + each - 1)).append_column("element", pa.array(number))
        began = time.process_time()
        engine.push_table(ours.STREAM, given)
        answers += registered.take_table().num_rows
        spent += time.process_time() - began
    return spent, answers


def load(store: ox.Store, tables: list[pa.Table]) -> float:
    """CPU seconds to load everything as text."""
    spent = 0.0
    for table in tables:
        rows = zip(*(table[name].to_pylist() for name in "spo"), strict=True)
        text = "".join(f"{s} {p} {o} .\n" for s, p, o in rows).encode()
        began = time.process_time()
        store.bulk_load(text, format=ox.RdfFormat.N_TRIPLES)
        spent += time.process_time() - began
    return spent
