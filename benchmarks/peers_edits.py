"""Edits of a graph under a star, a chain and a triangle, beside incremental engines: one by one, and all from one text."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import millstream as ms
from benchmarks.peers import adapter, ours, programs
from benchmarks.peers.beside import HANDED, Beside
from benchmarks.peers.question import Question
from benchmarks.report import Cell, Part, Progress, Table
from benchmarks.timing import Effort
from benchmarks.workloads.edits import SHAPES, Edited, seeded_edits

ABOUT = "Inserts and deletes of single triples in a graph: star, chain and triangle, beside incremental engines."


FORMS = {"rdfpatch": "an RDF Patch", "sparql": "SPARQL Update"}


@dataclass(frozen=True, slots=True)
class Size:
    triples: int
    edits: int
    rounds: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(500, 200, 1),
    "quick": Size(10_000, 10_000, 3),
    "full": Size(100_000, 50_000, 3),
}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("peers-edits", ABOUT)
    engines, missing = programs.commands(effort, progress)
    part.missing += missing
    ours.warm_up()
    progress.expect(len(SHAPES))
    given = seeded_edits(size.triples, size.edits)
    part.data.append(f"a seeded graph of {size.triples:,} triples and {size.edits:,} edits of it")
    changes = [(True, given.base), *((insert, [text]) for insert, text in given.edits)]
    beside, rows = Beside(engines, part), list[list[Cell]]()
    for name, patterns in SHAPES.items():
        progress(name)
        question = Question(patterns)
        runs = [_one_by_one(question, changes) for _ in range(size.rounds)]
        answers = runs[0][1].total()
        read = {form: [_from_text(question, given, form, answers) for _ in range(size.rounds)] for form in FORMS}
        beside.ask(
            name,
            size.edits,
            question.variables,
            lambda question=question: list(adapter.edit_messages(question.plain(), changes)),  # type: ignore[misc]
            [seconds for seconds, _ in runs],
            lambda runs=runs: runs[0][1],  # type: ignore[misc]
            partial(_in_batches, question, changes),
        )
        rows.append([name, *beside.row(name), *(statistics.median(read[f]) / size.edits * 1e6 for f in FORMS), answers])
    columns = ("shape", *beside.columns, *(f"millstream from {text}, us" for text in FORMS.values()), "answers")
    notes = [
        *HANDED,
        f"medians of {size.rounds} for millstream; the graph in one insert, then an edit a call; the time of all of it",
        "from a text: the edits alone, read at once, each a change by itself, and an operation of SPARQL Update",
    ]
    part.tables.append(Table("CPU time an edit", columns, rows, notes))
    return part


def _one_by_one(question: Question, changes: Sequence[tuple[bool, Sequence[str]]]) -> tuple[float, adapter.Appeared]:
    """CPU seconds of all changes, a millisecond after each other, and every answer that appears."""
    engine = ms.Engine()
    registered = engine.register(question.plain(), output="istream")
    calls = {True: engine.insert, False: engine.delete}
    began = time.process_time()
    for at_ms, (insert, lines) in enumerate(changes):
        calls[insert]("".join(lines), at_ms=at_ms)
    table = registered.take_table()
    spent = time.process_time() - began
    rows = zip(*(table[name].to_pylist() for name in ("at_ms", *question.variables)), strict=True)
    return spent, Counter((at_ms, tuple(terms)) for at_ms, *terms in rows)


def _in_batches(question: Question, changes: Sequence[tuple[bool, Sequence[str]]], batch_ms: int) -> adapter.Appeared:
    """What appears of the same by the ends of batches."""
    engine = ms.Engine()
    registered = engine.register(question.plain(), output="changes")
    for at_ms, (insert, lines) in enumerate(changes):
        (engine.insert if insert else engine.delete)("".join(lines), at_ms=at_ms)
    table = registered.take_table()
    names = ("at_ms", "weight", *question.variables)
    return ours.netted(zip(*(table[name].to_pylist() for name in names), strict=True), batch_ms)


def _from_text(question: Question, given: Edited, form: str, answers: int) -> float:
    """CPU seconds of the edits from one text; as many answers must appear."""
    engine = ms.Engine()
    registered = engine.register(question.plain(), output="istream")
    engine.load("".join(given.base).encode(), format="nt")
    if form == "rdfpatch":
        lines = (f"{'A' if insert else 'D'} {text}" for insert, text in given.edits)
    else:
        lines = (f"{'INSERT' if insert else 'DELETE'} DATA {{ {text.rstrip()} }} ;\n" for insert, text in given.edits)
    text = "".join(lines).encode()
    began = time.process_time()
    engine.read_changes(text, format=form, time="rate:1000")
    found = registered.take_table().num_rows
    assert found == answers, f"{found} answers from {form}, {answers} from single calls"
    return time.process_time() - began
