"""Every query answers as if it were alone: one engine for all of them, beside an engine for each.

A case is made up by choices: queries of one shape, queries with patterns in common, queries of any kind, some that construct
a stream with the one that reads it. They come and go while elements come in one by one, in tables or as files, graphs
change, time passes, and the engine for all is restored from a snapshot or forgets what it may. The engines of their own get
everything one by one. Whatever a query emits, and its answer set whenever somebody looks, must be the same in both.

`check(Random(seed))` runs one case; what fails has the case in a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from millstream import Engine, MillstreamError
from tests.engine.any_query import (
    NAMED,
    OUTPUTS,
    Author,
    Choose,
    Chronicler,
    CommonAuthor,
    ConstantAuthor,
    Place,
    with_other_constants,
)
from tests.engine.derived_streams import FeedingAuthor
from tests.engine.machines import flat, forget_all_that_may_be, graphs_of, quads_of, table_of, take_step
from tests.engine.scenarios import NAMESPACE, NODES, PREDICATES, STREAMS, Close, Step

AFTER_MS = 50
"""How long time goes on after all that happens: past all ends that what is chosen here can have."""


@dataclass(frozen=True)
class Arrive:
    """A query comes; those of one unit belong together, since one may read what another constructs."""

    unit: int
    query: str
    output: str | None


@dataclass(frozen=True)
class Burst:
    """Elements of one stream, and how they come in where all queries are."""

    stream: str
    elements: tuple[tuple[tuple[str, ...], int], ...]
    way: str


@dataclass(frozen=True)
class Look:
    """Somebody looks at all answer sets, and may take what was emitted."""

    takes: bool


@dataclass(frozen=True)
class Disturb:
    """Something that must not matter happens to the engine of all: `restore` or `forget`."""

    how: str


Event: TypeAlias = Arrive | Close | Step | Burst | Look | Disturb


@dataclass(frozen=True)
class Case:
    lateness_ms: int
    t0_ms: int
    calls_back: bool
    """Whether answers are handed to callbacks, which a snapshot does not keep."""
    loaded: tuple[tuple[str | None, tuple[str, ...]], ...]
    events: tuple[Event, ...]

    def __str__(self) -> str:
        first = f"lateness {self.lateness_ms}, t0 {self.t0_ms}, callbacks {self.calls_back}"
        return "\n".join([first, *map(repr, self.loaded), *map(repr, self.events)])


def check(chance: Random) -> None:
    """One random case."""
    compare(write_case(chance.randrange))


# Cases ------------------------------------------------------------------------------------------------------------------


class OwnAuthor(ConstantAuthor):
    """Writes queries of which each has much of its own: constants, slices of an order, values that it makes up."""

    slice_one_in = 2

    def __init__(self, choose: Choose) -> None:
        super().__init__(choose)
        self.is_plain = not self.chance(4)
        if self.is_plain:
            # Few patterns that match much: what is wrong shows.
            self.dialect = "cqels"
            self.streams = STREAMS[: self.size(1, 2)]

    def group(self, place: Place, first: Sequence[str] = ()) -> str:
        if not self.is_plain:
            return super().group(place, first)
        one, other = self.part(place), self.part(place)
        match self.one(*["one"] * 8, "joined", "optional", "minus", "union", "exists"):
            case "joined":
                return f"{one} {other}"
            case "optional":
                return f"{one} OPTIONAL {{ {other} }}"
            case "minus":
                return f"{one} MINUS {{ {other} }}"
            case "union":
                return f"{{ {one} }} UNION {{ {other} }}"
            case "exists" if "SELECT" not in other:
                return f"{one} FILTER {self.one('', 'NOT ')}EXISTS {{ {other} }}"
            case _:
                return one

    def part(self, place: Place) -> str:
        """A pattern with a constant, mostly over a window, at times with a slice of its own."""
        constant = self.one(*NODES[:2], "0", "1")
        inside = self.one(
            f"?a {self.one(*PREDICATES)} {constant} .",
            f"?a {self.one(*PREDICATES)} {constant} . ?a {self.one(*PREDICATES)} ?b .",
            f"{self.one(*NODES[:2])} {self.one(*PREDICATES)} ?a .",
            f"?a {self.one(*PREDICATES)} ?b . FILTER(?b {self.one('=', '!=', '<', '>=')} {constant})",
        )
        found = inside if self.chance(5) else f"STREAM <{self.one(*self.streams)}> [{self.window()}] {{ {inside} }}"
        if place.depth > 0 and self.chance(4):
            order = self.one("?a", "DESC(?a)", "?b ?a")
            return f"{{ SELECT ?a {{ {found} }} ORDER BY {order} {self.one('LIMIT 1', 'LIMIT 2', 'OFFSET 1')} }}"
        return found

    def value(self, names: list[str]) -> str:
        if not self.chance(12):
            return super().value(names)
        return self.one("NOW()", "RAND()", "STRUUID()", "STR(BNODE())", f"STR(BNODE(STR({self.one(*names)})))")


class Director(Chronicler):
    """Makes up a case."""

    def __init__(self, choose: Choose) -> None:
        super().__init__(choose)
        self.units = 0
        self.arrived = 0
        self.wheres: list[str] = []
        self.common = Author(choose)
        self.common.read()
        self.shapes: list[tuple[str, str | None]] = []

    def case(self, most: int = 16) -> Case:
        lateness_ms, t0_ms = self.one(0, 0, 0, 2), self.one(0, 0, 1)
        calls_back = self.chance(4)
        loaded = tuple((graph, self.triples(2, 8)) for graph in (None, *NAMED))
        self.wheres = [self.common.group(Place(1)) for _ in range(self.size(1, 2))]
        events: list[Event] = []
        now = self.size(0, 2)
        for turn in range(self.size(3, most)):
            if turn == 0 or self.chance(10):
                events.extend(self.arrivals("shape" if turn == 0 else None))
                if self.chance(2):
                    events.extend(self.arrivals())
            while self.chance(14):
                events.append(Close(self.choose(self.arrived)))
            if self.chance(8):
                events.append(Look(self.chance(2)))
            if self.chance(14):
                events.append(Disturb("forget" if calls_back else self.one("restore", "restore", "forget")))
            now += self.one(0, 1, 1, 2, 5)
            event = self.happening(now, lateness_ms)
            events.append(event)
            now = max([now, *(at_ms for _, at_ms in event.elements)]) if isinstance(event, Burst) else now
        return Case(lateness_ms, t0_ms, calls_back, loaded, tuple(events))

    def arrivals(self, kind: str | None = None) -> Iterator[Arrive]:
        """Queries that come together."""
        match kind or self.one("shape", "shape", "common", "any", "fed"):
            case "shape":
                # Sometimes more of a shape that is there already: they come later than the others.
                if not self.shapes or not self.chance(3):
                    self.shapes.append((OwnAuthor(self.choose).query(self.one(1, 1, 2)), self.one(*OUTPUTS)))
                text, output = self.one(*self.shapes)
                for _ in range(self.size(2, 4)):
                    yield self.alone(with_other_constants(self.choose, text), self.one(output, output, *OUTPUTS))
            case "common":
                for _ in range(self.size(2, 3)):
                    author = CommonAuthor(self.choose, self.common, self.some(self.wheres, 1, len(self.wheres)))
                    yield self.alone(author.form(Place(1)), self.one(*OUTPUTS))
            case "fed":
                self.units += 1
                name = f"{NAMESPACE}fed{self.units}"
                feeds = Arrive(self.units, FeedingAuthor(self.choose, [], name).query(1), None)
                reads = Arrive(self.units, FeedingAuthor(self.choose, [name], None).query(1), self.one(*OUTPUTS))
                self.arrived += 2
                yield from self.one((feeds, reads), (reads, feeds))
            case _:
                yield self.alone(Author(self.choose).query(self.one(1, 2)), self.one(*OUTPUTS))

    def alone(self, text: str, output: str | None) -> Arrive:
        self.units += 1
        self.arrived += 1
        return Arrive(self.units, text, output)

    def happening(self, now: int, lateness_ms: int) -> Step | Burst:
        match self.one(*["burst"] * 8, "insert", "insert", "delete", "delete", "load", "patch", "update", "advance"):
            case "burst":
                elements = []
                for _ in range(self.one(1, 2, 4, 6, 8)):
                    now += self.one(0, 0, 0, 1, 1, 3)
                    late = self.choose(lateness_ms + 2) if self.chance(3 if lateness_ms else 15) else 0
                    elements.append((self.triples(1, 5), now - late))
                return Burst(
                    self.one(*STREAMS, STREAMS[0]), tuple(elements), self.one("push", "table", "table", "trig", "nq")
                )
            case "advance":
                return Step("advance", None, (), now)
            case "load":
                return Step("load", self.one(None, *NAMED), self.triples(1, 5), None)
            case "patch" | "update" as call:
                changes = tuple(f"{self.one('A', 'D')} {triple}" for triple in self.triples(1, 5))
                return Step(call, self.one(None, *NAMED), changes, None)
            case call:
                return Step(call, self.one(None, *NAMED), self.triples(1, 5), None if self.chance(5) else now)


def write_case(choose: Choose) -> Case:
    return Director(choose).case()


# Running them -----------------------------------------------------------------------------------------------------------


def compare(case: Case) -> None:
    """Every query of a case answers as in an engine of its own."""
    try:
        _Comparison(case).run()
    except Exception as error:
        error.add_note(str(case))
        raise


@dataclass
class _Pair:
    """A query where all are, and in an engine of its own; with what was heard and taken of it so far."""

    together: Any
    alone: Any
    heard: list[Any]

    def compare_emissions(self) -> None:
        found = flat([*self.heard, *self.together.take()], self.together.variables)
        wanted = flat(self.alone.take(), self.alone.variables)
        self.heard.clear()
        assert [x[0] for x in found] == [x[0] for x in wanted], f"{self}: {found}, alone {wanted}"
        # Within a change rows stand in any order, but each row comes and goes in the order of changes.
        assert sorted(found, key=_by_row) == sorted(wanted, key=_by_row), f"{self}: {found}, alone {wanted}"
        if self.together.output == "rstream" and self.has_order:
            assert found == wanted, f"{self}: {found}, alone {wanted}"

    def compare_answer_sets(self) -> None:
        found, wanted = (_listed(query.solutions()) for query in (self.together, self.alone))
        if not self.has_order:
            found, wanted = sorted(found), sorted(wanted)
        assert found == wanted, f"{self}: {found}, alone {wanted}"

    def compare_counts(self) -> None:
        for count in ("elements", "answers"):
            assert self.together.stats[count] == self.alone.stats[count], f"{self}: {count}"

    @property
    def has_order(self) -> bool:
        return re.search(r"ORDER BY[^}]*$", self.alone.text) is not None

    def __str__(self) -> str:
        return f"{self.alone.output} {self.alone.text}"


def _by_row(emission: tuple[int, int, Any]) -> str:
    return str(emission[2])


def _listed(solutions: Any) -> list[str]:
    if isinstance(solutions, bool):
        return [str(solutions)]
    return [str(sorted(x.items()) if isinstance(x, dict) else x) for x in solutions]


class _Comparison:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.together = self.engine()
        self.alone = {event.unit: self.engine() for event in case.events if isinstance(event, Arrive)}
        self.pairs: list[_Pair | None] = []
        """By the order in which queries came; None for those that were refused."""

    def engine(self) -> Engine:
        engine = Engine(lateness_ms=self.case.lateness_ms, t0_ms=self.case.t0_ms)
        for graph, some in self.case.loaded:
            engine.load("\n".join(some).encode(), graph=graph, format="nt")
        return engine

    @property
    def engines(self) -> Sequence[Engine]:
        return (self.together, *self.alone.values())

    @property
    def registered(self) -> list[_Pair]:
        return [pair for pair in self.pairs if pair is not None]

    def run(self) -> None:
        for event in self.case.events:
            match event:
                case Arrive():
                    self.arrive(event)
                case Close(place):
                    pair = self.pairs[place] if place < len(self.pairs) else None
                    if pair is not None:
                        pair.together.close()
                        pair.alone.close()
                case Burst():
                    self.burst(event)
                case Step():
                    for engine in self.engines:
                        take_step(engine, event)
                case Look(takes):
                    self.look(takes=takes)
                case Disturb(how):
                    self.disturb(how)
        # Not to the end: where everything ends depends on who else is there.
        end_ms = max((t for event in self.case.events for t in _times(event)), default=0) + AFTER_MS
        for engine in self.engines:
            engine.advance_to(end_ms)
        self.look(takes=True, is_last=True)
        for pair in self.registered:
            pair.compare_counts()
        assert {engine.stats["late"] for engine in self.alone.values()} <= {self.together.stats["late"]}

    def arrive(self, event: Arrive) -> None:
        heard: list[Any] = []
        callback = heard.append if self.case.calls_back else None
        together = _registered(self.together, event, callback)
        alone = _registered(self.alone[event.unit], event, None)
        if isinstance(together, str) or isinstance(alone, str):
            assert together == alone, event.query
            self.pairs.append(None)
        else:
            self.pairs.append(_Pair(together, alone, heard))

    def burst(self, event: Burst) -> None:
        rows = [(event.stream, triples, at_ms) for triples, at_ms in event.elements]
        steps = [Step("push", event.stream, triples, at_ms) for triples, at_ms in event.elements]
        for engine in self.alone.values():
            for step in steps:
                take_step(engine, step)
        match event.way:
            case "table":
                self.together.push_table(event.stream, table_of(rows))
            case "trig":
                self.together.read(event.stream, graphs_of(rows).encode(), format="trig")
            case "nq":
                self.together.read(event.stream, quads_of(rows).encode(), format="nq")
            case _:
                for step in steps:
                    take_step(self.together, step)

    def look(self, *, takes: bool, is_last: bool = False) -> None:
        for pair in self.registered:
            if not pair.together.closed:
                pair.compare_answer_sets()
            # A callback hears of what time brings when something happens to its query, or to all.
            if takes and (is_last or not self.case.calls_back):
                pair.compare_emissions()

    def disturb(self, how: str) -> None:
        if how == "forget":
            forget_all_that_may_be(self.together)
            return
        self.together = Engine.restore(self.together.snapshot())
        still_open = iter(self.together.queries)
        for pair in self.registered:
            if not pair.together.closed:
                pair.together = next(still_open)


def _registered(engine: Engine, event: Arrive, on_answer: Any) -> Any:
    """The query, or why it is refused."""
    try:
        return engine.register(event.query, output=event.output, on_answer=on_answer)
    except MillstreamError as error:
        return str(error)


def _times(event: Event) -> list[int]:
    match event:
        case Burst():
            return [at_ms for _, at_ms in event.elements]
        case Step(at_ms=int() as at_ms):
            return [at_ms]
        case _:
            return []
