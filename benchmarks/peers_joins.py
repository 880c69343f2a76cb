"""LUBM queries over sliding windows, beside incremental engines: a triple an element, and elements of a thousand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.join import BATCH, Query, race
from benchmarks.peers import adapter, ours, programs
from benchmarks.peers.beside import HANDED, OURS, Beside
from benchmarks.peers.contents import Element, summarised
from benchmarks.peers.question import Question
from benchmarks.report import Cell, Part, Progress, Table
from benchmarks.timing import Effort
from benchmarks.workloads import QUERIES, universities

ABOUT = "Seven LUBM queries over sliding windows of a university stream, beside incremental engines. No target is set."


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    windows: tuple[int, ...]
    together: int
    """Triples of the larger elements."""
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(3_000, (500,), 100, 1),
    "quick": Size(100_000, (10_000,), 1_000, 3),
    "full": Size(300_000, (10_000, 100_000), 1_000, 3),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("peers-joins", ABOUT)
    engines, missing = programs.commands(effort, progress)
    part.missing += missing
    ours.warm_up()
    progress.expect(2 * len(size.windows) * len(QUERIES))
    triples = [triple for triple, _ in zip(universities(40), range(size.triples), strict=False)]
    part.data.append(f"seeded universities after LUBM, {len(triples):,} triples")
    for each in (1, size.together):
        elements = [Element(k, triples[k : k + each]) for k in range(0, len(triples), each)]
        beside, rows = Beside(engines, part), list[list[Cell]]()
        for window in size.windows:
            for name, patterns in QUERIES.items():
                progress(f"{name}, window of {window:,}, elements of {each:,}")
                rows.append([name, window, *_measure(beside, name, Question(patterns), elements, window, size)])
        title = f"Elements of {each:,} triple{'s' * (each > 1)}: CPU time a triple"
        given = "text" if each == 1 else "tables of terms"
        notes = [
            *HANDED,
            f"medians of {size.rounds} for millstream, which reads {given}; a triple a millisecond",
            "on ids: scan and interval join of millstream over all triples, as numbers",
        ]
        columns = ("query", "window", *beside.columns, "on ids, us", "on ids / best", "answers")
        part.tables.append(Table(title, columns, rows, notes))
    return part


def _measure(
    beside: Beside, name: str, question: Question, elements: Sequence[Element], window: int, size: Size
) -> list[Cell]:
    query = question.over(ours.STREAM, f"RANGE {window}ms")
    one_by_one = len(elements) == size.triples
    given = _lines(elements) if one_by_one else ours.as_table(elements)
    spent, answers = zip(*(ours.answer(query, given) for _ in range(size.rounds)), strict=True)
    x = f"{name}, window of {window:,}, {'one by one' if one_by_one else 'together'}"
    beside.ask(
        x,
        size.triples,
        question.variables,
        lambda: list(adapter.messages(query, ours.STREAM, summarised(elements, question))),
        spent,
        lambda: ours.appeared(query, given),
        lambda batch_ms: ours.appeared_in_batches(query, given, batch_ms),
    )
    costs = beside.row(x)
    on_ids = _on_ids(question, elements, window, size.rounds, answers[-1]) / size.triples * 1e6
    times = costs[-1]
    mine = beside.costs.at(OURS, x)
    return [*costs, on_ids, on_ids * times / mine if isinstance(times, float) and mine else None, answers[-1]]


def _on_ids(question: Question, elements: Sequence[Element], window: int, rounds: int, expected: int) -> float:
    """CPU seconds of scan and join alone, which are handed all triples as numbers."""
    ids: dict[str, int] = {}
    rows = [([ids.setdefault(t, len(ids)) for t in triple], e.at_ms) for e in elements for triple in e.triples]
    s, p, o = (np.array(column, np.int64) for column in zip(*(triple for triple, _ in rows), strict=True))
    at = np.array([at_ms for _, at_ms in rows], np.int64)

    def run() -> int:
        query, found = Query(question.patterns, ids), 0
        for first in range(0, len(at), BATCH):
            b = slice(first, first + BATCH)
            query.feed(s[b], p[b], o[b], at[b], at[b] + window)
            _, change, start, _, _ = query.join.take()
            # A triple that comes again makes what it is part of last longer, which is no new answer.
            found += int(np.count_nonzero(start == change))
        return found

    ((seconds, found),) = race([run], rounds)
    assert found == expected, f"{found} answers on ids, {expected} of the engine"
    return seconds


def _lines(elements: Sequence[Element]) -> bytes:
    """N-Triples: a triple an element, a millisecond apart."""
    return "".join(f"{s} {p} {o} .\n" for element in elements for s, p, o in element.triples).encode()
