"""Competitors over a stream on disk, each in a process of its own: what neither the stream nor the others weigh on.

The functions are called there, so they take and give what can be sent between processes.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.peers import ours
from benchmarks.peers.asking import Asked, Plan, Thoroughness, ask, plan
from benchmarks.peers.contents import Element, sliding
from benchmarks.peers.events import Matched, match_events
from benchmarks.peers.question import Question, Triple
from benchmarks.peers.store import REJOIN, Solutions, stores
from benchmarks.timing import Timed, peak_resident, take_turns_by_their_own_clock
from benchmarks.workloads import spool


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream on disk, or what comes before some time of it."""

    path: Path
    before_ms: int | None = None

    def tables(self) -> Iterator[pa.Table]:
        return spool.read(self.path, self.before_ms)

    def elements(self, question: Question | None = None) -> Iterator[Element]:
        """Elements with their terms apart; of a question, what some pattern matches, and none of which nothing is left."""
        keeps = question.summary() if question else None
        predicates = [] if question is None else [p for _, p, _ in question.patterns]
        narrow = bool(predicates) and not any(p.startswith("?") for p in predicates)
        shared: dict[str, str] = {}
        for table in self.tables():
            # Most go by their predicate alone, which is cheaper told of a whole column.
            some = table.filter(pc.is_in(table["p"], pa.array(predicates))) if narrow else table
            columns = (some[name].to_pylist() for name in ("element", "at_ms", "s", "p", "o"))
            number, last = -1, 0
            triples: list[Triple] = []
            for element, at_ms, s, p, o in zip(*columns, strict=True):
                if element != number:
                    if triples:
                        yield Element(last, triples)
                    number, last, triples = element, at_ms, []
                triple = (s, shared.setdefault(p, p), o)
                if keeps is None or keeps(triple):
                    triples.append(triple)
            if triples:
                yield Element(last, triples)


@dataclass(frozen=True, slots=True)
class Way:
    """How the engine is asked."""

    query: str
    switches: ours.Switches = field(default_factory=ours.Switches)


@dataclass(frozen=True, slots=True)
class Measured:
    """What each way took, its result being the number of answers, and the most memory that any of them did."""

    ways: dict[str, Timed[int]]
    peak: int


def time_ours(ways: Mapping[str, Way], stream: Stream, rounds: int) -> Measured:
    """The engine over the whole stream, in all ways by turns."""
    ours.warm_up()
    runs = {name: partial(_answer, way, stream) for name, way in ways.items()}
    return Measured(take_turns_by_their_own_clock(runs, rounds), peak_resident())


def _answer(way: Way, stream: Stream) -> tuple[float, int]:
    return ours.answer_in_tables(way.query, stream.tables(), way.switches)


# A window that slides -------------------------------------------------------------------------------------------------


def expect(question: Question, query: str, stream: Stream, window: int, effort: Thoroughness, target: Path) -> int:
    """Writes down where stores are asked once the window is full, and the engine's solutions there.

    Gives how many elements a store is told of: those of which something is kept.
    """
    times = [element.at_ms for element in stream.elements(question)]
    before = sum(at_ms < window for at_ms in times)
    where = plan(len(times), effort.places, effort.follow, before)
    held = ours.solutions_after(query, stream.tables(), {times[number] for number in where.compared})
    with target.open("wb") as file:
        pickle.dump((where, {number: held[times[number]] for number in where.compared}), file)
    return len(times)


def ask_store(name: str, question: Question, stream: Stream, window: int, effort: Thoroughness, source: Path) -> Asked:
    """One store at the places that were written down, compared there."""
    where: Plan
    expected: dict[int, Solutions]
    with source.open("rb") as file:
        where, expected = pickle.load(file)
    kept = list(stream.elements(question))
    return ask(stores()[name], question, kept, sliding(kept, window), where, expected, replace(effort, warm=0))


# Events by themselves --------------------------------------------------------------------------------------------------


def expect_events(query: str, stream: Stream, target: Path) -> None:
    """Writes down what the engine answers for each event."""
    found: dict[int, Solutions] = {}
    for (at_ms, terms), count in ours.appeared(query, stream.tables()).items():
        found.setdefault(at_ms, Solutions())[terms] += count
    with target.open("wb") as file:
        pickle.dump(found, file)


def match_store(name: str, question: Question, stream: Stream, limit_s: float, source: Path) -> Matched:
    """One store that is filled with each event; S-Rev with what some pattern matches, which is its way."""
    with source.open("rb") as file:
        expected: dict[int, Solutions] = pickle.load(file)
    events = list(stream.elements(question if name == REJOIN else None))
    return match_events(stores()[name], question, events, expected, limit_s)
