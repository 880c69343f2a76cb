"""A graph that is edited: inserts and deletes of single triples, for each class of query that the paper on them has.

*Cached data*: beside what a query stores stands the least that an algorithm can keep which finds every change of the answers
without asking the graph again: for a ground pattern which of its triples there are; for a star a row for each value of its
variable that any pattern matches; for several stars the sum of it; for connected variables every triple that matches a
pattern, since any of them may be missing one other only.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyoxigraph as ox

import millstream as ms
from benchmarks.curves import Curves
from benchmarks.peers import adapter
from benchmarks.peers.leading import Place, lead_all
from benchmarks.peers.question import Question
from benchmarks.recomputing import answer_set
from benchmarks.report import Cell, Part, Plot, Progress, Series, Table, at_most
from benchmarks.timing import Effort, apart
from benchmarks.workloads.edits import Edited, query, seeded_edits, wikidata_at_hand, wikidata_edits
from benchmarks.workloads.patterns import Patterns
from benchmarks.workloads.suites import absence

ABOUT = "Inserts and deletes over a graph at rest: ground, star, loosely connected and connected-variable patterns."
CLASSES = ("ground", "star", "loose", "connected")
STORED = 1.0
"""Rows a triple that matches a pattern: nothing is kept twice, nothing that cannot matter."""


@dataclass(frozen=True, slots=True)
class Size:
    triples: tuple[int, ...]
    edits: int
    asked: int
    """After how many edits the store is asked."""
    led: tuple[int, int]
    """Triples and edits that engines in processes of their own are led through."""
    wikidata: int | None = 200
    """How many edits of Wikidata; None: all."""


SIZES: dict[Effort, Size] = {
    "smoke": Size((1_000, 3_000), 300, 5, (300, 100)),
    "quick": Size((10_000, 100_000), 5_000, 50, (3_000, 2_000), 5_000),
    "full": Size((10_000, 100_000, 1_000_000), 10_000, 50, (10_000, 10_000), None),
}
LED_CLASSES = ("star", "loose", "connected")
"""Those with variables: the protocol of adapters has no answers without terms."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the edits of one graph cost one query; CPU time."""

    insert_us: float
    delete_us: float
    read_us: float
    """An edit of either kind, read from an RDF Patch."""
    store_us: float
    deltas: int
    matching: int
    """Triples that match any pattern."""
    stored: int
    least: int
    answers: int


def run(effort: Effort, progress: Progress) -> Part:
    size, part = SIZES[effort], Part("dynamic", ABOUT, missing=adapter.absent())
    progress.expect(len(size.triples) + 1 + bool(adapter.adapters()))
    part.data.append(f"seeded graphs of {size.triples[0]:,} to {size.triples[-1]:,} triples, and edits of them")
    found: dict[tuple[str, int], Found] = {}
    for triples in size.triples:
        progress(f"{triples:,} triples")
        found.update({(name, triples): one for name, one in apart(effort, of_seeded, triples, size).items()})
    rows: list[list[Cell]] = [[name, n, *_cells(found[name, n])] for name in CLASSES for n in size.triples]
    columns = ("insert us", "delete us", "read us", "store us", "times", "changes", "matching", "stored", "least", "answers")
    notes = [
        f"{size.edits:,} edits of one triple each, in turns insert and delete; the mean of all, what they emit included",
        "read: the same edits from one RDF Patch by read_changes, a change each",
        f"store: pyoxigraph takes the edit and evaluates the query, the mean of {size.asked} edits; answers are compared",
        "matching: triples of the graph that match a pattern; stored: rows that the query keeps; least: see above",
        "a query over loosely connected parts emits products: an edit of one part costs as much as it emits",
    ]
    part.tables.append(Table("seeded edits", ("class", "triples", *columns), rows, notes))
    progress("Wikidata")
    if effort == "smoke":
        part.missing.append("edits of Wikidata, in the smallest run")
    elif wikidata_at_hand():
        (base, edits), by_class = apart(effort, of_wikidata, size)
        part.data.append(f"edits of Wikidata, {edits:,} of them")
        title = f"edits of Wikidata: {base:,} triples at first, {edits:,} edits"
        part.tables.append(Table(title, ("class", *columns), [[name, *_cells(one)] for name, one in by_class.items()]))
    else:
        part.missing.append(absence("edits of Wikidata", "wikidata-updates"))
    if adapter.adapters():
        progress("other engines")
        lead_engines(size, part)
    for name in CLASSES:
        one = found[name, size.triples[-1]]
        what = f"{name}, {size.triples[-1]:,} triples, rows stored a triple that matches"
        part.targets.append(at_most(what, STORED, one.stored / max(one.matching, 1)))
    part.plots += _plots(size, found)
    return part


def lead_engines(size: Size, part: Part) -> None:
    """Engines in processes of their own, from an empty graph on: all of it at once, then edit after edit."""
    triples, edits = size.led
    given = seeded_edits(triples, edits)
    changes = [(True, given.base), *((insert, [text]) for insert, text in given.edits)]
    costs = Curves()
    for name in LED_CLASSES:
        question = Question(given.patterns[name])
        seconds, expected = _from_empty(question, changes)
        costs.add("millstream", name, [seconds / edits * 1e6])
        place = Place(name, name, lambda spent: spent / edits * 1e6)
        lead_all(question.variables, list(adapter.edit_messages(question.plain(), changes)), expected, place, costs, part)
    title = f"engines led through {triples:,} triples at once and {edits:,} edits; CPU time for all of it, us an edit"
    part.tables.append(Table(title, ("class", *costs.names), [[name, *costs.row(name)] for name in LED_CLASSES]))


def _from_empty(question: Question, changes: Sequence[tuple[bool, Sequence[str]]]) -> tuple[float, adapter.Appeared]:
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


def _cells(one: Found) -> list[Cell]:
    times = one.store_us / ((one.insert_us + one.delete_us) / 2)
    costs: list[Cell] = [one.insert_us, one.delete_us, one.read_us, one.store_us, times]
    return [*costs, one.deltas, one.matching, one.stored, one.least, one.answers]


def _plots(size: Size, found: dict[tuple[str, int], Found]) -> list[Plot]:
    xs = list(size.triples)
    costs = [Series(name, xs, [(found[name, n].insert_us + found[name, n].delete_us) / 2 for n in xs]) for name in CLASSES]
    asked = [Series(f"{name}, again", xs, [found[name, n].store_us for n in xs]) for name in CLASSES[1:]]
    largest = xs[-1]
    kept = {
        "matching triples": [found[name, largest].matching for name in CLASSES],
        "millstream": [found[name, largest].stored for name in CLASSES],
        "least": [found[name, largest].least for name in CLASSES],
        "answers": [found[name, largest].answers for name in CLASSES],
    }
    cached = [Series(name, list(CLASSES), [max(value, 0.5) for value in values]) for name, values in kept.items()]
    return [
        Plot("Cost of an edit", "triples of the graph", "CPU time, us", [*costs, *asked], log_x=True, log_y=True),
        Plot(f"Cached data, {largest:,} triples", "class", "rows", cached, log_y=True, note="0 is drawn as 0.5"),
    ]


def of_seeded(triples: int, size: Size) -> dict[str, Found]:
    return measure(seeded_edits(triples, size.edits), size)


def of_wikidata(size: Size) -> tuple[tuple[int, int], dict[str, Found]]:
    """How many triples and edits there are, and what the edits cost."""
    given = wikidata_edits()
    edits = given.edits[: size.wikidata]
    return (len(given.base), len(edits)), measure(Edited(given.base, edits, given.patterns), size)


def measure(given: Edited, size: Size) -> dict[str, Found]:
    """All classes over one graph and the same edits, each in an engine of its own."""
    return {name: _measure(given, given.patterns[name], size) for name in CLASSES}


def _measure(given: Edited, patterns: Patterns, size: Size) -> Found:
    engine, registered = _registered(given, patterns)
    spent = {True: [0.0, 0], False: [0.0, 0]}
    deltas, half = 0, len(given.edits) // 2
    calls = {True: engine.insert, False: engine.delete}
    for insert, text in given.edits:
        call = calls[insert]
        began = time.thread_time_ns()
        call(text)
        spent[insert][0] += time.thread_time_ns() - began
        spent[insert][1] += 1
        if registered.pending > 1_000_000:
            deltas += registered.take_table().num_rows
    deltas += registered.take_table().num_rows
    insert_us, delete_us = (spent[kind][0] / max(spent[kind][1], 1) / 1000 for kind in (True, False))
    store, store_us = _ask_again(given, patterns, size.asked, half)
    wanted, found = _answers(store, patterns, registered.variables), answer_set(registered)
    assert found == wanted, f"{len(found)} answers, the store has {len(wanted)}"
    matching, least = cached(store, patterns)
    read_us = _read(given, patterns, deltas)
    return Found(
        insert_us, delete_us, read_us, store_us, deltas, matching, registered.stats["stored"], least, wanted.total()
    )


def _registered(given: Edited, patterns: Patterns) -> tuple[ms.Engine, ms.ContinuousQuery]:
    """An engine with the graph as it is before any edit, and the query with its first answers taken."""
    engine = ms.Engine()
    for text in _pieces(given.base):
        engine.insert(text)
    registered = engine.register(query(patterns))
    registered.take_table()
    return engine, registered


def _read(given: Edited, patterns: Patterns, deltas: int) -> float:
    """Microseconds an edit if all are read from one text; they must change the answers as often."""
    engine, registered = _registered(given, patterns)
    patch = "".join(f"{'A' if insert else 'D'} {text}" for insert, text in given.edits).encode()
    began = time.process_time()
    engine.read_changes(patch, format="rdfpatch", time="rate:1000")
    took = time.process_time() - began
    found = registered.take_table().num_rows
    assert found == deltas, f"{found} changes of the answers from a patch, {deltas} from single calls"
    return took / len(given.edits) * 1e6


def _pieces(lines: Sequence[str]) -> Any:
    rest = iter(lines)
    while some := list(islice(rest, 100_000)):
        yield "".join(some)


def _ask_again(given: Edited, patterns: Patterns, asked: int, first: int) -> tuple[ox.Store, float]:
    """A store after all edits, and the microseconds of some in the middle with the question asked again."""
    store = ox.Store()
    for text in _pieces(given.base):
        store.bulk_load(input=text.encode(), format=ox.RdfFormat.N_TRIPLES)
    quads = [next(iter(ox.parse(text, format=ox.RdfFormat.N_TRIPLES))) for _, text in given.edits]
    seconds = 0.0
    for number, ((insert, _), quad) in enumerate(zip(given.edits, quads, strict=True)):
        began = time.process_time()
        (store.add if insert else store.remove)(quad)
        if first <= number < first + asked:
            found: Any = store.query(query(patterns))
            bool(found) if isinstance(found, ox.QueryBoolean) else list(found)
            seconds += time.process_time() - began
    return store, seconds / asked * 1e6


def _answers(store: ox.Store, patterns: Patterns, variables: Sequence[str]) -> Counter[Any]:
    found: Any = store.query(query(patterns))
    if isinstance(found, ox.QueryBoolean):
        return Counter([(bool(found),)])
    return Counter(tuple(row[v] for v in variables) for row in found)


def cached(store: ox.Store, patterns: Patterns) -> tuple[int, int]:
    """How many triples match a pattern, and the least that must be kept."""
    matches = [_matches(store, pattern) for pattern in patterns]
    triples = len(set().union(*matches))
    variables = [tuple(term for term in pattern if term.startswith("?")) for pattern in patterns]
    if any(len(some) > 1 for some in variables):
        return triples, triples
    ground = sum(len(some) for some, names in zip(matches, variables, strict=True) if not names)
    centres: dict[str, set[Any]] = {}
    for pattern, names, some in zip(patterns, variables, matches, strict=True):
        for name in names:
            place = pattern.index(name)
            centres.setdefault(name, set()).update(tuple(quad)[place] for quad in some)
    return triples, ground + sum(map(len, centres.values()))


def _matches(store: ox.Store, pattern: Sequence[str]) -> set[ox.Quad]:
    s, p, o = (None if term.startswith("?") else _term(term) for term in pattern)
    return set(store.quads_for_pattern(s, p, o, None))


def _term(text: str) -> Any:
    return next(iter(ox.parse(f"<x:s> <x:p> {text} .", format=ox.RdfFormat.N_TRIPLES))).object
