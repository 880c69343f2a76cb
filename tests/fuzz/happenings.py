"""What may happen to the leaves of plans, made up at random, and what becomes of the plans' answers, by recomputing them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from millstream.operators.ticks import ELEMENT, EXPIRY, FOREVER, GRID, tick, time_of
from millstream.plan import nodes as n
from millstream.plan.conjunction import GraphSource, Source
from tests.fuzz.plan_model import Content, Model, Row, TooManyError, Triple
from tests.fuzz.plans import NAMED, Author

At: TypeAlias = tuple[int, int]
"""A tick, and the number of a change."""
Expected: TypeAlias = dict[At, Counter[Row]]
"""What each change does to the answers of a plan."""
_TRIES = 6


@dataclass(frozen=True)
class Enter:
    """A triple enters a source until a tick, or leaves it."""

    source: Source
    triple: Triple
    until: int
    op: int


@dataclass(frozen=True)
class Quad:
    """A triple enters or leaves one of all named graphs."""

    graph: str
    triple: Triple
    op: int


@dataclass(frozen=True)
class Sent:
    """A row of a part that runs elsewhere comes or goes."""

    part: int
    row: Row
    weight: int


@dataclass
class Event:
    """One change; or, without anything that happens, a plan that comes or goes."""

    at: int
    number: int
    happens: list[Enter | Quad | Sent] = field(default_factory=list)
    comes: n.Node | None = None
    goes: int | None = None

    @property
    def is_alone(self) -> bool:
        """Whether all that came before must have been drained."""
        return self.comes is not None or self.goes is not None


def number_of(at: int, number: int) -> int:
    """What time brings is one change a tick."""
    return -1 if at & 3 in (EXPIRY, GRID) else number


class Held:
    """What there is, with ends."""

    def __init__(self) -> None:
        self.sources: dict[Source, dict[Triple, int]] = {}
        self.graphs: dict[str, set[Triple]] = {}
        self.parts: dict[int, Counter[Row]] = {}

    def take(self, happens: Enter | Quad | Sent, at: int) -> None:
        match happens:
            case Enter(source, triple, until, op):
                ours = self.sources.setdefault(source, {})
                if op > 0 and until > at:
                    ours[triple] = max(until, ours.get(triple, until))
                elif op < 0:
                    ours.pop(triple, None)
            case Quad(graph, triple, op):
                (set.add if op > 0 else set.discard)(self.graphs.setdefault(graph, set()), triple)
            case Sent(part, row, weight):
                ours_sent = self.parts.setdefault(part, Counter())
                ours_sent[row] += weight

    def pass_time(self, at: int) -> None:
        """Lets go of what has ended."""
        for source, triples in self.sources.items():
            self.sources[source] = {triple: until for triple, until in triples.items() if until > at}

    def ends(self, before: int) -> list[int]:
        """When something ends by itself."""
        return sorted({until for triples in self.sources.values() for until in triples.values() if until < before})

    @property
    def content(self) -> Content:
        parts = {part: Counter({row: times for row, times in rows.items() if times}) for part, rows in self.parts.items()}
        return Content({source: set(triples) for source, triples in self.sources.items()}, self.graphs, parts)


class Director:
    """Makes up what happens."""

    def __init__(self, chance: Random, model: Model) -> None:
        self.chance = chance
        self.model = model
        self.author = Author(chance)
        self.held = Held()

    def triple(self) -> Triple:
        author = self.author
        return str(author.subject()), str(author.predicate()), str(author.value())

    def plan(self) -> n.Node:
        """One that probably answers something else when something else happens; most others never do."""
        for _ in range(_TRIES):
            found = self.author.plan()
            try:
                if self.model.answers(found, self.content()) != self.model.answers(found, self.content()):
                    break
            except TooManyError:
                continue
        return found

    def content(self) -> Content:
        """Of what there may be, about a third."""
        triples = {source: {self.triple() for _ in range(8)} for source in self.author.sources}
        graphs = {f"<{name.value}>": {self.triple() for _ in range(4)} for name in NAMED}
        parts = {number: Counter([self.row(part) for _ in range(4)]) for number, part in self.author.parts.items()}
        return Content(triples, graphs, parts)

    def row(self, part: n.ExchangeInput) -> Row:
        """One that a part elsewhere may send."""
        unbound = [v not in part.certain and self.chance.random() < 0.3 for v in part.variables]
        return tuple(None if x else str(self.author.value()) for x in unbound)

    def events(self) -> list[Event]:
        plans = [self.plan() for _ in range(self.chance.choice([1, 1, 1, 2, 3]))]
        at, number, open_plans = tick(self.chance.randrange(3), ELEMENT), 1, 1
        found = [Event(at, number, [self.happening(at) for _ in range(self.chance.choice([0, 8, 20]))])]
        found.append(Event(at, number, comes=plans.pop(0)))
        for _ in range(self.chance.choice([3, 8, 15, 25])):
            at_ms = time_of(at) + self.chance.choice([0, 0, 0, 1, 1, 2, 5])
            after = max(at, tick(at_ms, self.chance.choice([EXPIRY, ELEMENT, ELEMENT, ELEMENT, ELEMENT, GRID])))
            ends = [end for end in self.held.ends(FOREVER) if end > at and end & 3 == GRID]
            if ends and self.chance.random() < 0.2:
                after = ends[0]
            # What happens at a tick other than that of elements is one change.
            at = tick(time_of(at) + 1, ELEMENT) if after == at and at & 3 != ELEMENT else after
            number += 1
            if at & 3 == ELEMENT and plans and self.chance.random() < 0.3:
                found.append(Event(at, number, comes=plans.pop(0)))
                open_plans += 1
            elif at & 3 == ELEMENT and open_plans > 1 and self.chance.random() < 0.1:
                found.append(Event(at, number, goes=self.chance.randrange(open_plans)))
                open_plans -= 1
            else:
                size = self.chance.choice([1, 1, 2, 4, 8])
                event = Event(at, number)
                for _ in range(size):
                    event.happens.append(self.happening(at))
                found.append(event)
        return found

    def happening(self, at: int) -> Enter | Quad | Sent:
        ending = [(source, t) for source, ours in self.held.sources.items() for t, until in ours.items() if until == at]
        self.held.pass_time(at)
        found = self._happening(at)
        if ending and at & 3 == GRID and self.chance.random() < 0.5:
            # What ends on a grid may go on there.
            found = Enter(*self.chance.choice(ending), tick(time_of(at) + 2, GRID), 1)
        self.held.take(found, at)
        return found

    def _happening(self, at: int) -> Enter | Quad | Sent:
        kind = self.chance.randrange(10) if at & 3 == ELEMENT else 9
        if kind == 0:
            graph = f"<{self.chance.choice(NAMED).value}>"
            there = self.held.graphs.get(graph, set())
            triple = self.chance.choice(sorted(there)) if there and self.chance.random() < 0.4 else self.triple()
            return Quad(graph, triple, -1 if triple in there else 1)
        if kind == 1 and self.author.parts:
            part = self.chance.choice(list(self.author.parts.values()))
            rows = self.held.parts.get(part.part, Counter())
            some = sorted((row for row in rows if rows[row]), key=str)
            if some and self.chance.random() < 0.5:
                row = self.chance.choice(some)
                return Sent(part.part, row, -self.chance.randint(1, rows[row]))
            return Sent(part.part, self.row(part), self.chance.choice([1, 2]))
        source = self.chance.choice(self.author.sources)
        there_now = self.held.sources.get(source, {})
        if (there_now and self.chance.random() < 0.2) or at & 3 == EXPIRY:
            triple = self.chance.choice(sorted(there_now)) if there_now else self.triple()
            return Enter(source, triple, FOREVER, -1)
        triple = self.triple()
        if isinstance(source, GraphSource):
            return Enter(source, triple, FOREVER, -1 if triple in there_now else 1)
        until = tick(time_of(at) + self.chance.choice([1, 3, 5, 9, 20]), self.chance.choice([EXPIRY, EXPIRY, GRID]))
        return Enter(source, triple, until if self.chance.random() < 0.8 else FOREVER, 1)


# What must come -------------------------------------------------------------------------------------------------------


@dataclass
class Wanted:
    """What a plan that came at an event gives first, and at every change from then on."""

    plan: n.Node
    first: Counter[Row]
    changes: Expected = field(default_factory=dict)
    sums: dict[int, Counter[Row]] = field(default_factory=dict)
    """All answers after the event of a number."""


def recomputed(events: list[Event], last: int, model: Model) -> list[Wanted]:
    """By evaluating the plans again and again; of those that came, in that order."""
    held, found, still = Held(), [], []
    before: dict[int, Counter[Row]] = {}

    def look(at: int, number: int) -> None:
        content = held.content
        for place in still:
            after = model.answers(found[place].plan, content)
            if after != before[place]:
                changed = Counter({row: after[row] - before[place][row] for row in after | before[place]})
                found[place].changes[at, number] = Counter({row: times for row, times in changed.items() if times})
                before[place] = after

    def pass_time(upto: int) -> None:
        for end in held.ends(upto):
            held.pass_time(end)
            look(end, -1)

    for event in events:
        pass_time(event.at)
        if event.at & 3 == ELEMENT:
            # What ends with elements ends before them; on a grid all is one change.
            for end in held.ends(event.at + 1):
                held.pass_time(end)
                look(end, -1)
        held.pass_time(event.at)
        if event.comes is not None:
            first = model.answers(event.comes, held.content)
            before[len(found)] = first
            still.append(len(found))
            found.append(Wanted(event.comes, first))
        elif event.goes is not None:
            del still[event.goes]
        for happens in event.happens:
            held.take(happens, event.at)
        look(event.at, number_of(event.at, event.number))
        for place in still:
            found[place].sums[event.number] = before[place]
    pass_time(last + 1)
    return found
