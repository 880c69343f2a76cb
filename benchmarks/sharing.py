"""Different queries over the same patterns: registered in one engine, which runs what they have in common once, and apart.

Each query is one that somebody might ask of professors with their courses and students: all of them, how many, the first,
what is missing. Together and apart they must emit the same answers.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from itertools import islice

import millstream as ms
from benchmarks.report import Cell, Part, Progress, Table, at_least
from benchmarks.timing import Effort, apart
from benchmarks.workloads import QUERIES, STREAM, lines, matches_any, universities
from benchmarks.workloads.patterns import body
from benchmarks.workloads.universities import ub

ABOUT = (
    "Eight different queries over the patterns of Q7 in one window, registered together and each in an engine of its own."
)
WANTED = 2.0
PATTERNS = body(QUERIES["Q7"])
FORMS = {
    "all": "SELECT ?x ?y ?z WHERE {{ {seen} }}",
    "without repetition": "SELECT DISTINCT ?x ?y ?z WHERE {{ {seen} }}",
    "a professor's": "SELECT CHANGES ?y (COUNT(?x) AS ?n) (COUNT(?z) AS ?m) WHERE {{ {seen} }} GROUP BY ?y",
    "first and last": "SELECT CHANGES ?z (MIN(?x) AS ?a) (MAX(?y) AS ?b) WHERE {{ {seen} }} GROUP BY ?z",
    "the first ten": "SELECT CHANGES ?x ?y ?z WHERE {{ {seen} }} ORDER BY ?x LIMIT 10",
    "with names": "SELECT ?x ?y ?z ?n WHERE {{ {seen} OPTIONAL {{ {stream} {{ ?x {name} ?n }} }} }}",
    "who advises nobody else": "SELECT ?x ?y ?z WHERE {{ {seen} MINUS {{ ?x {name} ?y }} }}",
    "pairs": "CONSTRUCT {{ ?x {name} ?y . ?y {name} ?z }} WHERE {{ {seen} }}",
}


@dataclass(frozen=True, slots=True)
class Size:
    window: int
    elements: int


SIZES: dict[Effort, Size] = {
    "smoke": Size(2_000, 6_000),
    "quick": Size(20_000, 60_000),
    "full": Size(100_000, 300_000),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What elements cost some queries."""

    us: float
    """CPU time an element, when the window is full."""
    stored: int
    answers: tuple[int, ...]


def text_of(form: str, window: int) -> str:
    stream = f"STREAM <{STREAM}> [RANGE {window}ms]"
    return FORMS[form].format(seen=f"{stream} {{ {PATTERNS} }}", stream=stream, name=f"<{ub('name')[1:-1]}>")


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("sharing", ABOUT)
    progress.expect(len(FORMS) + 1)
    progress("together")
    together = apart(effort, measure, tuple(FORMS), size)
    alone: list[Cost] = []
    for form in FORMS:
        progress(form)
        alone.append(apart(effort, measure, (form,), size))
    assert together.answers == tuple(cost.answers[0] for cost in alone), "together they emit other answers than alone"
    rows: list[list[Cell]] = [[form, cost.us, cost.stored, cost.answers[0]] for form, cost in zip(FORMS, alone, strict=True)]
    spent, stored = sum(cost.us for cost in alone), sum(cost.stored for cost in alone)
    rows.append(["the sum of these", spent, stored, sum(together.answers)])
    rows.append(["together in one engine", together.us, together.stored, sum(together.answers)])
    notes = ["elements of one triple, of those that some pattern matches, pushed one by one; the second half is timed"]
    title = f"{size.elements:,} elements, window of {size.window:,}"
    part.tables.append(Table(title, ("query", "us an element", "stored triples", "answers"), rows, notes))
    part.targets.append(at_least("apart over together, CPU time an element", WANTED, spent / together.us, " times"))
    return part


def measure(forms: tuple[str, ...], size: Size) -> Cost:
    """Some of the queries in one engine."""
    triples = (t for t in universities(100) if matches_any(t, QUERIES["Q7"]) or t[1] == ub("name"))
    elements = list(lines(islice(triples, size.elements)))
    engine = ms.Engine()
    queries = [engine.register(text_of(form, size.window)) for form in forms]
    half = len(elements) // 2
    for at_ms, line in enumerate(elements[:half]):
        engine.push(STREAM, line, at_ms)
    gc.collect()
    began = time.process_time()
    for at_ms, line in enumerate(elements[half:], half):
        engine.push(STREAM, line, at_ms)
    spent = time.process_time() - began
    return Cost(spent / (len(elements) - half) * 1e6, engine.stats["stored"], tuple(q.stats["answers"] for q in queries))
