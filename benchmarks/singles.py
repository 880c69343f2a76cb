"""Single calls: what one `push` of a triple, and one `insert` or `delete`, costs queries of all kinds; and small batches.

Sensors send readings, a graph says in which room each is. The window is full before anything is timed, and answers are taken
after every hundred calls, which is timed by itself. A unit is what pyoxigraph takes to parse the same line.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyoxigraph as ox

import millstream as ms
from benchmarks.report import Cell, Part, Progress, Table, at_most
from benchmarks.timing import Effort, apart

ABOUT = "One `push`, `insert` or `delete` of one triple at a time, by what the query has; CPU time."
NAMESPACE = "http://example.org/"
STREAM = f"{NAMESPACE}s"
SENSORS = 50
EVERY_MS = 10
TOGETHER = 100
"""Calls after which answers are taken, and elements of a small batch."""
IN_A_BATCH = 1.0
"""Microseconds that a triple of a small batch may take where nothing matches."""
NOTHING, CONJUNCTION, OTHERWISE, AN_ANSWER = 0.5, 1.0, 3.0, 0.5
"""Units that a push may take where nothing matches, of a conjunction and of anything else; and an answer that is taken."""
AN_EDIT, EACH_ANSWER = 1.0, 0.5
"""Units that an edit may take, and that much more for each answer it gives."""
CONJUNCTIONS = ("a window", "filter")
QUERIES = {
    "nothing matches": "SELECT CHANGES * { STREAM :s [RANGE 10s] { ?x :hides ?n } ?x :within ?room }",
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

IN_BATCHES = ("nothing matches", "filter", "a window", "average")

Call: TypeAlias = tuple[Callable[..., object], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Size:
    calls: int
    rounds: int


SIZES: dict[Effort, Size] = {"smoke": Size(200, 1), "quick": Size(2_000, 3), "full": Size(20_000, 5)}


@dataclass(frozen=True, slots=True)
class Spent:
    """Microseconds of a call, of parsing its line, and of taking an answer; answers a call."""

    call: float
    unit: float
    answer: float | None
    answers: float


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("singles", ABOUT)
    progress.expect(len(QUERIES) + len(IN_BATCHES))
    rows: list[list[Cell]] = []
    taken: list[float] = []
    for name in QUERIES:
        progress(name)
        rounds = [apart(effort, measure, name, size.calls) for _ in range(size.rounds)]
        pushes, edits = ([one[place] for one in rounds] for place in (0, 1))
        assert len({(push.answers, edit.answers) for push, edit in rounds}) == 1, f"{name}: other answers in another round"
        push = statistics.median(one.call / one.unit for one in pushes)
        edit = _middle(one.call / one.unit for one in edits)
        rows.append([name, _middle(one.call for one in pushes), push, pushes[0].answers])
        rows[-1] += [_middle(one.call for one in edits), edit, edits[0].answers]
        most = NOTHING if name == "nothing matches" else CONJUNCTION if name in CONJUNCTIONS else OTHERWISE
        part.targets.append(at_most(f"a push, {name}", most, push, " units"))
        part.targets.append(at_most(f"an edit, {name}", AN_EDIT + EACH_ANSWER * edits[0].answers, edit, " units"))
        if pushes[0].answers >= 1:
            units = _middle(one.answer / one.unit for one in pushes if one.answer)
            taken.append(units)
            rows[-1] += [_middle(one.answer for one in pushes if one.answer), units]
        else:
            rows[-1] += [None, None]
    part.targets.append(at_most("an answer that is taken", AN_ANSWER, max(taken), " units"))
    columns = (
        "query",
        "us a push",
        "units",
        "answers a push",
        "us an edit",
        "units",
        "answers an edit",
        "us to take an answer",
        "units",
    )
    notes = [
        f"medians of {size.rounds} rounds of {size.calls:,} calls, {SENSORS} sensors, a reading each {EVERY_MS} ms",
        f"an edit takes a sensor's room away or gives it another, in turns: {1000 // SENSORS} rows of a window each",
        f"an edit may take {AN_EDIT:g} unit, and {EACH_ANSWER:g} more for each answer it gives",
        f"a unit: pyoxigraph parses the same line; answers are taken after every {TOGETHER} calls, that time is apart",
    ]
    part.tables.append(Table(f"{SENSORS} sensors, a window of {10_000 // EVERY_MS:,} readings", columns, rows, notes))
    part.tables.append(_batches(part, effort, progress))
    return part


def _batches(part: Part, effort: Effort, progress: Progress) -> Table:
    size, rows = SIZES[effort], list[list[Cell]]()
    for name in IN_BATCHES:
        progress(f"{name}, in batches")
        rounds = [apart(effort, measure_batches, name, size.calls) for _ in range(size.rounds)]
        found = {way: _middle(one[way][0] for one in rounds) for way in rounds[0]}
        assert len({answers for one in rounds for _, answers in one.values()}) == 1, f"{name}: the ways differ in answers"
        rows.append([name, *found.values(), rounds[0]["push"][1] / size.calls])
        if name == "nothing matches":
            for way in ("push_many", "push_table"):
                part.targets.append(at_most(f"a triple of a batch by {way}, {name}", IN_A_BATCH, found[way], " us"))
    notes = [
        f"the same readings, {TOGETHER} in a call, each an element; `push` has as many calls as readings",
        f"medians of {size.rounds} rounds of {size.calls:,} readings; answers are taken after each batch, not timed",
    ]
    columns = ("query", "us by push", "us by push_many", "us by push_table", "answers a reading")
    return Table(f"Batches of {TOGETHER} readings: CPU time a reading", columns, rows, notes)


def _middle(values: Iterable[float]) -> float:
    return statistics.median(list(values))


def measure(name: str, calls: int) -> tuple[Spent, Spent]:
    """What pushes cost, and edits of the graph."""
    engine, query = _watched(name)
    later = range(1000, 1000 + calls)
    pushes = _timed(query, [(engine.push, (STREAM, _reading(number), number * EVERY_MS)) for number in later])
    edits: list[Call] = []
    for number in range(calls):
        sensor, turn = number // 2 % SENSORS, number // 2 // SENSORS
        place = _place(sensor, (sensor + turn + number % 2) % 5)
        edits.append((engine.insert if number % 2 else engine.delete, (place,)))
    return pushes, _timed(query, edits)


def _watched(name: str) -> tuple[ms.Engine, ms.ContinuousQuery]:
    """An engine with a query whose window is full."""
    engine = ms.Engine()
    query = engine.register(f"PREFIX : <{NAMESPACE}> {QUERIES[name]}")
    for sensor in range(SENSORS):
        engine.insert(_place(sensor, sensor % 5))
    for number in range(1000):
        engine.push(STREAM, _reading(number), at_ms=number * EVERY_MS)
    query.take()
    return engine, query


def measure_batches(name: str, readings: int) -> dict[str, tuple[float, int]]:
    """Microseconds of a reading in small batches, and the answers, by the way in which it comes."""
    found = {}
    for way in ("push", "push_many", "push_table"):
        engine, query = _watched(name)
        spent, answers = 0.0, 0
        # The first batch, which what is needed is imported for, is not timed.
        for first in range(1000, 1000 + readings + TOGETHER, TOGETHER):
            some = [(_reading(number), number * EVERY_MS) for number in range(first, first + TOGETHER)]
            table = _as_table(some)
            began = time.process_time()
            if way == "push":
                for text, at_ms in some:
                    engine.push(STREAM, text, at_ms)
            elif way == "push_many":
                engine.push_many(STREAM, some)
            else:
                engine.push_table(STREAM, table)
            if first > 1000:
                spent += time.process_time() - began
                answers += len(query.take())
            query.take()
        found[way] = (spent / readings * 1e6, answers)
    return found


def _as_table(readings: Sequence[tuple[str, int]]) -> pa.Table:
    cells = zip(*(text.removesuffix(" .").split(" ") for text, _ in readings), strict=True)
    return pa.table({**dict(zip("spo", map(list, cells), strict=True)), "at_ms": [at_ms for _, at_ms in readings]})


def _timed(query: ms.ContinuousQuery, calls: Sequence[Call]) -> Spent:
    """The calls, and parsing of their lines in turns with them."""
    calling = parsing = taking = 0.0
    answers = 0
    gc.collect()
    for first in range(0, len(calls), TOGETHER):
        some = calls[first : first + TOGETHER]
        lines = [text for _, given in some for text in given if isinstance(text, str) and text != STREAM]
        began = time.process_time()
        for call, given in some:
            call(*given)
        called = time.process_time()
        answers += len(query.take())
        took = time.process_time()
        for line in lines:
            list(ox.parse(line, format=ox.RdfFormat.N_TRIPLES))
        parsing += time.process_time() - took
        calling += called - began
        taking += took - called
    count = len(calls)
    a_call, a_unit = calling / count * 1e6, parsing / count * 1e6
    return Spent(a_call, a_unit, taking / answers * 1e6 if answers else None, answers / count)


def _reading(number: int) -> str:
    value = f'"{number % 997}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    return f"<{NAMESPACE}s{number % SENSORS}> <{NAMESPACE}shows> {value} ."


def _place(sensor: int, room: int) -> str:
    return f"<{NAMESPACE}s{sensor}> <{NAMESPACE}in> <{NAMESPACE}r{room}> ."
