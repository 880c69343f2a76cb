"""Memory: what a stored triple costs, and whether a stream that never ends stays in the memory of its window.

Everything is measured in processes of its own, by what they occupy. Terms cost what their text costs, so the dictionary is
counted apart. The endless stream is one file under many names: labels of blank nodes are new nodes in every file, so every
subject is one that was never seen before.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pyoxigraph as ox

import millstream as ms
from benchmarks import yardstick
from benchmarks.answers import BATCH
from benchmarks.report import Cell, Part, Progress, Table, at_most
from benchmarks.timing import Effort, Sample, Sampler, apart, resident_trimmed
from benchmarks.workloads import (
    LINKS,
    QUERIES,
    STREAM,
    TYPE,
    Encoded,
    Patterns,
    cqels,
    encoded,
    lines,
    links,
    universities,
)
from millstream.operators.leaves.component import JoinComponent

ABOUT = "Memory that processes occupy (resident), beside what they hold."
BYTES_A_TRIPLE = 160.0
"""What a stored triple may cost, strings aside."""
GROWTH = 1.1
A_FILE = 1_000_000
ROOMS = 1_000


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    window: int
    a_file: int
    files: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(20_000, 5_000, 40_000, 3),
    "quick": Size(100_000, 100_000, A_FILE, 3),
    "full": Size(1_000_000, 100_000, A_FILE, 50),
}


WORKLOADS: dict[str, Patterns] = {"links, all kept": LINKS, "universities, Q7": QUERIES["Q7"]}


def run(effort: Effort, progress: Progress) -> Part:
    size = SIZES[effort]
    part = Part("footprint", ABOUT)
    prototypes = yardstick.build(effort, progress)
    if not prototypes:
        part.missing.append(f"rows of the prototype: {yardstick.ABSENT}")
    rows: list[list[Cell]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, patterns in WORKLOADS.items():
            progress(f"a stored triple, {name}")
            # Made here and not where memory is measured, or what making it frees would be used again unseen.
            stream = _stream(patterns, size.triples)
            text, columns = Path(folder, "stream.nt"), Path(folder, "stream.npy")
            text.write_bytes(stream.text)
            np.save(columns, np.stack(stream.columns))
            ids = {term: stream.ids[term] for pattern in patterns for term in pattern if term in stream.ids}
            stored, terms, grown, dictionary, own = apart(effort, engine_bytes, patterns, text)
            each = (grown - dictionary) / stored
            rows.append([name, "engine", stored, grown / 1e6, dictionary / 1e6, terms, each, own / stored])
            part.targets.append(at_most(f"{name}, bytes a stored triple", BYTES_A_TRIPLE, max(each, own / stored)))
            if prototypes:
                grown = apart(effort, prototype_bytes, patterns, ids, columns)
                rows.append([name, "prototype's join", stored, grown / 1e6, None, None, grown / stored, None])
            held, grown = apart(effort, store_bytes, text)
            rows.append([name, "pyoxigraph", held, grown / 1e6, None, None, grown / held, None])
    titles = ("triples", "held by", "stored", "grown by MB", "terms, MB", "terms", "bytes a triple", "by its own count")
    notes = [
        "stored: triples in views of the query, or all different ones in pyoxigraph, which knows no query",
        "bytes a triple: terms aside in the engine, without any in the prototype, with all of them in pyoxigraph",
        (
            "freed memory was given back to the system before and after; by its own count: what the joins reserved, touched "
            "or not; the target is held against the larger of both"
        ),
    ]
    part.tables.append(Table(f"{size.triples:,} triples read, none of them expired", titles, rows, notes))
    progress("a stream without end")
    samples = apart(effort, endless, size)
    part.tables.append(
        Table(
            f"ever new subjects, window of {size.window:,} triples",
            ("triples so far", "resident MB", "terms"),
            [[sample.triples, sample.resident / 1e6, sample.terms] for sample in _some(samples)],
        )
    )
    first, most = samples[0], max(samples[1:], key=lambda sample: sample.resident)
    what = f"most memory up to {samples[-1].triples:,} triples, beside that after {first.triples:,}"
    part.targets.append(at_most(what, GROWTH, most.resident / first.resident, " times"))
    return part


def _stream(patterns: Patterns, count: int) -> Encoded:
    triples = links(count) if patterns is LINKS else chain.from_iterable(universities(8, seed) for seed in range(4))
    return encoded(islice(triples, count))


def engine_bytes(patterns: Patterns, text: Path) -> tuple[int, int, int, int, int]:
    """Stored triples, terms, bytes grown by, bytes of the dictionary, bytes of the joins by their own count."""
    _warm()
    data = text.read_bytes()
    before = resident_trimmed()
    engine = ms.Engine()
    query = engine.register(cqels(patterns, 10**9))
    engine.read(STREAM, data, format="nt", time="rate:1000")
    query.take_table()
    grown = resident_trimmed() - before
    terms = engine._core.dictionary.stats()
    [run] = engine._core.runs
    kept = 0
    for component in run.operator.components:
        assert isinstance(component, JoinComponent)
        kept += sum(component.join.stats["entries"])
    return kept, terms["live"], grown, terms["reserved"], sum(c.bytes for c in run.operator.components)


def _warm() -> None:
    """What the first of everything costs is not the triples'."""
    engine = ms.Engine()
    query = engine.register(cqels(LINKS, 1000))
    engine.read(STREAM, "".join(lines(links(100), 20_000)).encode(), format="nt", time="rate:1000")
    query.take_table()


def prototype_bytes(patterns: Patterns, ids: dict[str, int], columns: Path) -> int:
    yardstick.build()
    s, p, o = np.load(columns)
    at, ones = np.arange(len(s)), np.ones(len(s), np.int64)
    until = at + 10**9
    before = resident_trimmed()
    join = yardstick.join(patterns, ids)
    for k in range(0, len(s), BATCH):
        b = slice(k, k + BATCH)
        join.feed(s[b], p[b], o[b], at[b], until[b], ones[b])
    return resident_trimmed() - before


def store_bytes(text: Path) -> tuple[int, int]:
    """Triples and bytes of a store that holds everything."""
    data = text.read_bytes()
    before = resident_trimmed()
    store = ox.Store()
    store.bulk_load(data, format=ox.RdfFormat.N_TRIPLES)
    return len(store), resident_trimmed() - before


SEEN: Patterns = [
    ("?x", "<http://example.org/at>", "?room"),
    ("?x", "<http://example.org/has>", "?thing"),
    ("?room", TYPE, "<http://example.org/Open>"),
]


def endless(size: Size) -> list[Sample]:
    """A sample after each file."""
    engine = ms.Engine()
    answers = 0

    def count(_: object) -> None:
        nonlocal answers
        answers += 1

    # The engine keeps all terms since the first answer that nobody took, so someone must.
    engine.register(cqels(SEEN, size.window), on_answer=count)
    with tempfile.TemporaryDirectory() as folder, Sampler(engine) as sampler:
        write_file(Path(folder, "0000.nt"), size.a_file)
        for number in range(1, size.files):
            os.link(Path(folder, "0000.nt"), Path(folder, f"{number:04}.nt"))
        engine.read(STREAM, folder, time="rate:1000")
    assert answers > size.files, f"the query found next to nothing: {answers}"
    return [sampler.at(number * size.a_file) for number in range(1, size.files + 1)]


def write_file(path: Path, count: int) -> None:
    """Two triples about each of many blank nodes, a few rooms being open."""
    at, has = SEEN[0][1], SEEN[1][1]
    with path.open("w") as file:
        for k in range(count):
            subject = f"_:visitor{k // 2}"
            if k % 1000 == 0:
                file.write(f"<http://example.org/room/{k // 1000 % 3}> {TYPE} {SEEN[2][2]} .\n")
            elif k % 2:
                file.write(f"{subject} {at} <http://example.org/room/{k * 7919 % ROOMS}> .\n")
            else:
                file.write(f'{subject} {has} "thing {k}" .\n')


def _some(samples: list[Sample]) -> list[Sample]:
    """The first ones, some in between, and the last."""
    return [s for i, s in enumerate(samples) if i < 3 or (i + 1) % 10 == 0 or i == len(samples) - 1]
