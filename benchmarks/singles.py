"""Single calls: what one `push` of a triple, and one `insert` or `delete`, costs queries of all kinds.

Sensors send readings, a graph says in which room each is. The window is full before anything is timed, and answers are taken
after all calls.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import millstream as ms
from benchmarks.report import Cell, Part, Progress, Table
from benchmarks.timing import Effort, apart

ABOUT = "One `push`, `insert` or `delete` of one triple at a time, by what the query has; CPU time."
NAMESPACE = "http://example.org/"
STREAM = f"{NAMESPACE}s"
SENSORS = 50
EVERY_MS = 10
QUERIES = {
    "a window": "SELECT CHANGES * { STREAM :s [RANGE 10s] { ?x :shows ?n } ?x :in ?room }",
    "filter": "SELECT CHANGES * { STREAM :s [RANGE 10s] { ?x :shows ?n } ?x :in ?room FILTER (?n > 900) }",
    "steps": "SELECT CHANGES * { STREAM :s [RANGE 10s STEP 1s] { ?x :shows ?n } ?x :in ?room }",
    "average": "SELECT CHANGES ?room (AVG(?n) AS ?m) { STREAM :s [RANGE 10s] { ?x :shows ?n } ?x :in ?room } GROUP BY ?room",
    "average, tumbling": "SELECT ?room (AVG(?n) AS ?m) { STREAM :s [RANGE 10s TUMBLING] { ?x :shows ?n } "
    "?x :in ?room } GROUP BY ?room",
    "OPTIONAL": "SELECT CHANGES * { STREAM :s [RANGE 10s] { ?x :shows ?n } OPTIONAL { ?x :in ?room } }",
    "NOT EXISTS": "SELECT CHANGES * { STREAM :s [RANGE 10s] { ?x :shows ?n } FILTER NOT EXISTS { ?x :in ?r } }",
    "the first three": "SELECT CHANGES ?x ?n { STREAM :s [RANGE 10s] { ?x :shows ?n } } ORDER BY DESC(?n) LIMIT 3",
    "the last hundred": "SELECT CHANGES * { STREAM :s [ELEMENTS 100] { ?x :shows ?n } ?x :in ?room }",
    "an event": "SELECT CHANGES * { STREAM :s [EVENT] { ?x :shows ?n } ?x :in ?room }",
    "any predicate": "SELECT CHANGES * { STREAM :s [RANGE 10s] { ?x ?p ?n } ?x :in ?room }",
}


@dataclass(frozen=True, slots=True)
class Size:
    calls: int
    rounds: int


SIZES: dict[Effort, Size] = {"smoke": Size(200, 1), "quick": Size(2_000, 3), "full": Size(20_000, 5)}


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("singles", ABOUT)
    progress.expect(len(QUERIES))
    rows: list[list[Cell]] = []
    for name in QUERIES:
        progress(name)
        found = [apart(effort, measure, name, size.calls) for _ in range(size.rounds)]
        pushes, answers, changes, moved = zip(*found, strict=True)
        assert len(set(answers)) == 1 == len(set(moved)), f"{name}: other answers in another round"
        rows.append([name, statistics.median(pushes), answers[0], statistics.median(changes), moved[0]])
    columns = ("query", "us a push", "answers a push", "us an edit", "answers an edit")
    notes = [
        f"medians of {size.rounds} rounds of {size.calls:,} calls, {SENSORS} sensors, a reading each {EVERY_MS} ms",
        "an edit takes a sensor's room away or gives it another, in turns",
    ]
    part.tables.append(Table(f"{SENSORS} sensors, a window of {10_000 // EVERY_MS:,} readings", columns, rows, notes))
    return part


def measure(name: str, calls: int) -> tuple[float, float, float, float]:
    """Microseconds and answers of a push, and of an edit of the graph."""
    engine = ms.Engine()
    query = engine.register(f"PREFIX : <{NAMESPACE}> {QUERIES[name]}")
    for sensor in range(SENSORS):
        engine.insert(_place(sensor, sensor % 5))
    for number in range(1000):
        engine.push(STREAM, _reading(number), at_ms=number * EVERY_MS)
    query.take()
    push = _timed(lambda number: engine.push(STREAM, _reading(number), at_ms=number * EVERY_MS), 1000, 1000 + calls)
    pushed = len(query.take())

    def edit(number: int) -> None:
        sensor, turn = number // 2 % SENSORS, number // 2 // SENSORS
        if number % 2:
            engine.insert(_place(sensor, (sensor + turn + 1) % 5))
        else:
            engine.delete(_place(sensor, (sensor + turn) % 5))

    changed = _timed(edit, 0, calls)
    return push, pushed / calls, changed, len(query.take()) / calls


def _timed(call: Callable[[int], None], first: int, end: int) -> float:
    gc.collect()
    began = time.process_time()
    for number in range(first, end):
        call(number)
    return (time.process_time() - began) / (end - first) * 1e6


def _reading(number: int) -> str:
    value = f'"{number % 997}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    return f"<{NAMESPACE}s{number % SENSORS}> <{NAMESPACE}shows> {value} ."


def _place(sensor: int, room: int) -> str:
    return f"<{NAMESPACE}s{sensor}> <{NAMESPACE}in> <{NAMESPACE}r{room}> ."
