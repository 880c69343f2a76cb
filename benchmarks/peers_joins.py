"""LUBM queries over sliding windows, beside incremental engines: a triple an element, and elements of a thousand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.peers import adapter, ours, programs
from benchmarks.peers.beside import HANDED, Beside
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
        notes = [*HANDED, f"medians of {size.rounds} for millstream, which reads {given}; a triple a millisecond"]
        part.tables.append(Table(title, ("query", "window", *beside.columns, "answers"), rows, notes))
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
    return [*beside.row(x), answers[-1]]


def _lines(elements: Sequence[Element]) -> bytes:
    """N-Triples: a triple an element, a millisecond apart."""
    return "".join(f"{s} {p} {o} .\n" for element in elements for s, p, o in element.triples).encode()
