"""What a process occupies as the window of a sliding query grows (SPECTRA, figure 9).

Each size is measured in a process of its own that reads a file, so that nothing of making the stream is counted. Stores hold
the same window's triples, those that some pattern matches, and keep nothing else.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import millstream as ms
from benchmarks.curves import Curves
from benchmarks.experiments.sliding import QUESTIONS, observations
from benchmarks.experiments.windows import OURS
from benchmarks.peers import ours
from benchmarks.peers.store import DUCKDB, OXIGRAPH, RDFLIB, absent, stores
from benchmarks.report import Cell, Part, Plot, Progress, Table
from benchmarks.timing import Effort, apart, resident_trimmed

ABOUT = "Resident size of a process as the window of a sliding query grows, over power meters (SPECTRA, figure 9)."
QUESTION = QUESTIONS["Q1, not selective"]
HELD = (OXIGRAPH, DUCKDB, RDFLIB)
RDFLIB_MOST = 100_000


@dataclass(frozen=True, slots=True)
class Size:
    windows: Sequence[int]
    """In triples, one a millisecond."""


SIZES: dict[Effort, Size] = {
    "smoke": Size((1_000, 4_000)),
    "quick": Size((1_000, 10_000, 100_000)),
    "full": Size((1_000, 10_000, 100_000, 1_000_000)),
    "huge": Size((1_000, 10_000, 100_000, 1_000_000, 10_000_000)),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("memory", ABOUT, missing=absent())
    there = [name for name in HELD if name in stores()]
    whole, grown, answers = Curves(), Curves(), dict[int, int]()
    progress.expect(1 + len(size.windows) * (1 + len(there)))
    with tempfile.TemporaryDirectory() as folder:
        progress("making observations")
        stream = Path(folder, "stream.nt")
        with stream.open("w") as file:
            file.writelines(f"{s} {p} {o} .\n" for s, p, o in observations(2 * max(size.windows)))
        for window in size.windows:
            progress(f"{OURS}, window of {window:,}")
            before, after, answers[window] = apart(effort, by_engine, stream, window)
            whole.add(OURS, window, [after / 1e6])
            grown.add(OURS, window, [(after - before) / 1e6])
            for name in there:
                progress(f"{name}, window of {window:,}")
                if name == RDFLIB and window > RDFLIB_MOST:
                    continue
                before, after, found = apart(effort, by_store, name, stream, window)
                assert found == answers[window], f"{name} holds {found} solutions, the engine {answers[window]}"
                whole.add(name, window, [after / 1e6])
                grown.add(name, window, [(after - before) / 1e6])
    note = "each in a process of its own; the stream is twice as long as the window"
    axes = ("triples in the window", "resident size, MB")
    part.plots.append(Plot("Resident size by size of window", *axes, whole.series(), log_x=True, log_y=True, note=note))
    rows: list[list[Cell]] = [[window, *whole.row(window), *grown.row(window), count] for window, count in answers.items()]
    columns = ("window", *whole.names, *(f"{name}, grown by" for name in grown.names), "solutions")
    notes = [
        "resident size at the end, freed memory given back to the system; grown by: less what it was before any triple",
        "the engine holds the window's triples that some pattern matches, when they leave, and its answers' ends",
        f"stores hold the triples alone, no times; {RDFLIB} up to {RDFLIB_MOST:,}",
        "published, SPECTRA: both SPECTRA and CQELS grow linearly, SPECTRA slightly larger (figure without numbers)",
    ]
    part.tables.append(Table("Resident size, MB", columns, rows, notes))
    return part


def by_engine(stream: Path, window: int) -> tuple[int, int, int]:
    """Bytes before and after, and how many solutions hold at the end."""
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder, "part.nt")
        # What the first of everything costs is not the window's.
        _copy(stream, part, 0, 1_000)
        warm = ms.Engine()
        warm.register(QUESTION.over(ours.STREAM, "RANGE 100ms"))
        warm.read(ours.STREAM, part, time="rate:1000")
        _copy(stream, part, 0, 2 * window)
        before = resident_trimmed()
        engine = ms.Engine()
        # Taken as they come, or the engine would keep all that nobody took.
        query = engine.register(QUESTION.over(ours.STREAM, f"RANGE {window}ms"), on_answer=lambda _: None)
        engine.read(ours.STREAM, part, time="rate:1000")
        after = resident_trimmed()
        return before, after, len(query.solutions())


def by_store(name: str, stream: Path, window: int) -> tuple[int, int, int]:
    """The same of a store that holds the last window."""
    store = stores()[name](QUESTION)
    store.count()
    with stream.open() as file:
        parts = (line[:-3].split(" ", 2) for line in islice(file, window, 2 * window))
        keeps = QUESTION.summary()
        kept = [(s, p, o) for s, p, o in parts if keeps((s, p, o))]
    before = resident_trimmed()
    for first in range(0, len(kept), 10_000):
        store.insert(store.prepare(kept[first : first + 10_000]))
    after = resident_trimmed()
    return before, after, store.count()


def _copy(source: Path, target: Path, first: int, last: int) -> None:
    with source.open() as read, target.open("w") as write:
        write.writelines(islice(read, first, last))
