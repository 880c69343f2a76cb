"""Reading N-Triples into ids, beside the prototype's unvalidating parser and pyoxigraph's, in turns.

`encode` keeps all triples, `summary` a fraction of a percent, `window` forgets what left a window of 100,000 triples.
"""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pyoxigraph as ox

from benchmarks import yardstick
from benchmarks.report import Cell, Part, Progress, Table
from benchmarks.timing import Effort, take_turns
from benchmarks.workloads import TYPE, lines, ub, universities
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.scanner import Scanner
from millstream.kernels.scanning.summary import Summary

ABOUT = "Bytes of N-Triples to ids; M triples a CPU-second."
SIZES: dict[Effort, tuple[int, int]] = {"smoke": (1, 1), "quick": (2, 3), "full": (8, 5)}
"""Universities and rounds."""
PIECE = 1 << 20
OURS = {
    "encode": "all triples kept",
    "summary": "a fraction of a percent kept",
    "window": "all kept, forgotten after 100,000 triples",
}


def run(effort: Effort, progress: Progress) -> Part:
    count, rounds = SIZES[effort]
    part = Part("scan", ABOUT)
    progress("making universities")
    data = "".join(lines(universities(count))).encode()
    triples = data.count(b"\n")
    summary = Summary([(None, ub("headOf").encode(), None), (None, TYPE.encode(), ub("FullProfessor").encode())])
    runs: dict[str, Callable[[], object]] = {
        "encode": lambda: scan(data),
        "summary": lambda: scan(data, summary),
        "window": lambda: scan_window(data),
        "pyoxigraph": lambda: parse_with_pyoxigraph(data),
    }
    if yardstick.build(effort, progress):
        out, text = np.empty((triples, 3), np.int64), np.frombuffer(data, np.uint8)
        runs["prototype"] = lambda: yardstick.kernel().Dict().parse(text, out)
    else:
        part.missing.append(f"the prototype's parser: {yardstick.ABSENT}")
    progress("timing")
    speed = {name: triples / timed.seconds / 1e6 for name, timed in take_turns(runs, rounds).items()}
    theirs = speed.get("prototype")
    rows: list[list[Cell]] = []
    for name, what in OURS.items():
        ratio = speed[name] / theirs if theirs else None
        rows.append([name, what, speed[name], ratio, speed[name] / speed["pyoxigraph"]])
    columns = ("run", "what", "M triples/CPU-s", "times the prototype", "times pyoxigraph")
    shown = f"{theirs:.2f}" if theirs else "-"
    notes = [f"prototype, which does not validate: {shown}; pyoxigraph, which makes objects: {speed['pyoxigraph']:.2f}"]
    part.tables.append(Table(f"{triples:,} triples, {len(data) >> 20} MB", columns, rows, notes))
    return part


def pieces(data: bytes) -> list[memoryview]:
    view = memoryview(data)
    return [view[start : start + PIECE] for start in range(0, len(view), PIECE)]


def scan(data: bytes, summary: Summary | None = None) -> None:
    scanner = Scanner(Dictionary(), summary=summary)
    for piece in pieces(data):
        assert not scanner.feed(piece).errors
    scanner.feed(b"", final=True)


def scan_window(data: bytes, window: int = 100_000) -> None:
    dictionary = Dictionary()
    scanner = Scanner(dictionary)
    for piece in pieces(data):
        rows = scanner.feed(piece)
        for column in (rows.s, rows.p, rows.o):
            dictionary.touch(column, rows.index + window)
        dictionary.forget_before(scanner.statements)
        dictionary.settle()


def parse_with_pyoxigraph(data: bytes) -> None:
    for _ in ox.parse(io.BytesIO(data), format=ox.RdfFormat.N_TRIPLES):
        pass
