"""The short way for single elements: a triple goes straight to the joins of the queries that ask for it.

Columns pay off for many rows; for one they cost more than the join. A stream has lanes if all its readers answer after
every change and have no windows that move in steps; then lanes do what `QueryRun.elements` does, row by row, and
only for the queries that have a pattern for the row. Whatever else a stream or a query needs, it has no lanes and takes the
long way, with the same answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from millstream.engine.outlet import Outlet
from millstream.engine.reporting import ChangeReporter
from millstream.engine.run import QueryRun
from millstream.engine.window_operators import HoldingOperator, TimeOperator
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scanner import Scanner
from millstream.operators.conjunction import Component
from millstream.operators.matching import Matcher
from millstream.operators.rows import FOREVER

Row = tuple[int, int, int, int]
"""Subject, predicate, object, and the statement's place in its element."""

PAIR, SUBJECT, OBJECT, SAME = range(4)
"""What a pattern takes of a triple: both ends, one of them, or one where they are the same."""


R = TypeVar("R")


@dataclass(slots=True)
class _Asked(Generic[R]):
    """The routes of triples with one predicate, by the constant they ask for."""

    any: list[R] = field(default_factory=list)
    by_subject: dict[int, list[R]] = field(default_factory=dict)
    by_object: dict[int, list[R]] = field(default_factory=dict)
    by_both: dict[tuple[int, int], list[R]] = field(default_factory=dict)


class Routes(Generic[R]):
    """Where triples go, found by what they have."""

    def __init__(self) -> None:
        self._by_predicate: dict[int, _Asked[R]] = {}

    def add(self, constants: tuple[int, int, int], route: R) -> None:
        """A route for triples with a predicate, and a subject and an object unless they are -1."""
        s, p, o = constants
        asked = self._by_predicate.setdefault(p, _Asked())
        if s >= 0 and o >= 0:
            asked.by_both.setdefault((s, o), []).append(route)
        elif s >= 0:
            asked.by_subject.setdefault(s, []).append(route)
        elif o >= 0:
            asked.by_object.setdefault(o, []).append(route)
        else:
            asked.any.append(route)

    def of(self, s: int, p: int, o: int) -> list[R]:
        """The routes of a triple."""
        asked = self._by_predicate.get(p)
        if asked is None:
            return []
        found = asked.any
        if asked.by_object and (more := asked.by_object.get(o)):
            found = found + more
        if asked.by_subject and (more := asked.by_subject.get(s)):
            found = found + more
        if asked.by_both and (more := asked.by_both.get((s, o))):
            found = found + more
        return found


class Reader:
    """One query that reads the stream."""

    __slots__ = ("contents", "element", "run")

    def __init__(self, run: QueryRun) -> None:
        self.run = run
        self.contents = run.contents
        self.element = 0
        """The last element of which it was fed something; with a minus, the last before which something left."""


Passes = Callable[[int, int], bool]
"""Whether filters let a triple with a subject and an object into a pattern."""

# Where a triple goes: what the pattern takes, its filters if it has some, the end of its window, the part of the query and
# its view, the query; where nobody knows the end, what holds its rows, and the pattern's number.
_Route = tuple[int, Passes | None, Callable[[int], int], Component, int, Reader, "_Held | None", int]


class _Held:
    """A window that holds its rows, and the ways by which they came."""

    __slots__ = ("operator", "routes", "rows")

    def __init__(self, operator: HoldingOperator) -> None:
        self.operator = operator
        self.routes: dict[int, _Route] = {}
        """By the numbers of patterns."""
        self.rows: list[tuple[int, ...]] = []
        """What the present element has brought, the number of the triple in front."""


class Lanes:
    """The ways of one stream's elements into all its readers."""

    def __init__(self, scanner: Scanner, dictionary: Dictionary) -> None:
        self.scanner = scanner
        """For elements that come as text, one by one."""
        self._touch = dictionary.touch_two
        self._routes: Routes[_Route] = Routes()
        self._timed: list[TimeOperator] = []
        self._held: list[_Held] = []
        self._acting: list[QueryRun] = []
        self._ending: list[QueryRun] = []
        """The queries that emit what ends, and so must look whether something has."""
        self._elements = 1
        self._seen_ms: int | None = None

    def add(self, run: QueryRun, stream: str) -> bool:
        """Adds a reader, if it can have a lane."""
        if not has_lane(run):
            return False
        reader = Reader(run)
        for i in run.contents.of_stream(stream):
            operator, matcher = i.operator, i.matcher
            if i.union is not None or matcher.compares:
                return False
            end_of: Callable[[int], int] = _without_end
            holds: _Held | None = None
            if isinstance(operator, TimeOperator):
                self._timed.append(operator)
                end_of = _end_of(operator)
            elif isinstance(operator, HoldingOperator):
                holds = _Held(operator)
                self._held.append(holds)
            for number, constants, same in matcher.asked:
                place = run.operator.view_of(number)
                if place is None:
                    return False
                component, view = place
                passes = filters_of(matcher, number)
                route = (shape_of(constants, same=same), passes, end_of, component, view, reader, holds, number)
                if holds is not None:
                    holds.routes[number] = route
                self._routes.add(constants, route)
        if run.acts:
            self._acting.append(run)
        if tells_ends(run):
            self._ending.append(run)
        return True

    def take(self, rows: list[Row], at_ms: int, at_tick: int, total: int, triples: int, elements: int) -> None:
        """One element of the stream, of so many triples; with it there have been so many triples and elements."""
        changed: list[QueryRun] = []
        if total:
            self._seen_ms = at_ms
        for run in self._acting:
            run.let_act(at_tick)
        for held in self._held:
            # A change of its own, before that of the element.
            if gone := held.operator.leave_one(at_tick):
                self._leave(held.routes, gone, -self._elements, at_tick, changed)
        for s, p, o, place in rows:
            latest = -FOREVER
            for shape, passes, end_of, component, view, reader, holds, pattern in self._routes.of(s, p, o):
                if (shape == SAME and s != o) or (passes is not None and not passes(s, o)):
                    continue
                contents = reader.contents
                if reader.element != self._elements:
                    reader.element = self._elements
                    contents.change += 1
                until = end_of(at_ms)
                if holds is not None:
                    holds.rows.append((triples - total + place + 1, pattern, s, p, o))
                elif until > latest:
                    latest = until
                first, second = (s, o) if shape == PAIR else (o, 0) if shape == OBJECT else (s, 0)
                if component.feed_row(view, first, second, at_tick, until, 1, contents.change) and reader.run not in changed:
                    changed.append(reader.run)
            if latest > at_tick:
                # The predicate is a constant of a pattern, which keeps it.
                self._touch(s, o, latest)
        for held in self._held:
            brought, held.rows = held.rows, []
            if gone := held.operator.take_one(brought, at_ms, total, triples, elements):
                self._leave(held.routes, gone, self._elements, at_tick, changed)
        self._elements += 1
        for run in changed:
            run.report_rows(at_tick)
        for run in self._ending:
            run.report_due(at_tick)

    def _leave(
        self, routes: dict[int, _Route], gone: list[tuple[int, ...]], mark: int, at_tick: int, changed: list[QueryRun]
    ) -> None:
        """Takes rows away by the ways they came, as part of the change that readers know by a mark."""
        for pattern, s, _, o in gone:
            shape, _, _, component, view, reader, _, _ = routes[pattern]
            if reader.element != mark:
                reader.element = mark
                reader.contents.change += 1
            first, second = (s, o) if shape == PAIR else (o, 0) if shape == OBJECT else (s, 0)
            fed = component.feed_row(view, first, second, at_tick, FOREVER, -1, reader.contents.change)
            if fed and reader.run not in changed:
                changed.append(reader.run)

    def settle(self) -> None:
        """Tells the windows of the last element they did not see: its end may be the last of all."""
        if self._seen_ms is not None:
            for operator in self._timed:
                operator.see(self._seen_ms)


def has_lane(run: QueryRun) -> bool:
    """Whether single triples can go straight to the joins of a run."""
    return not run.has_first_change_ahead and all(_is_short(outlet) for outlet in run.outlets)


def shape_of(constants: tuple[int, int, int], *, same: bool) -> int:
    """What a pattern with these constants takes of a triple."""
    s, _, o = constants
    return SAME if same else OBJECT if s >= 0 else SUBJECT if o >= 0 else PAIR


def filters_of(matcher: Matcher, number: int) -> Passes | None:
    """The filters of a pattern whose predicate is a constant, if it has some."""
    tests = matcher.tests_of(number)
    if not tests:
        return None

    def passes(s: int, o: int) -> bool:
        return all(test(np.array((o if position else s,), np.int64))[0] for position, test in tests)

    return passes


def tells_ends(run: QueryRun) -> bool:
    """Whether something is emitted when solutions end."""
    emits_ends = (isinstance(o.reporter, ChangeReporter) and o.reporter.emits_ends for o in run.outlets)
    return not run.operator.is_conjunction or any(emits_ends)


def _is_short(outlet: Outlet) -> bool:
    """Whether a query answers after every change, and nothing of it happens on a grid."""
    return isinstance(outlet.reporter, ChangeReporter) and not outlet.steps_ms


def _without_end(at_ms: int) -> int:
    return FOREVER


def _end_of(operator: TimeOperator) -> Callable[[int], int]:
    """As `operator.end_of`, for times at which what comes is seen at once."""
    interval, t0_ms = operator.window.interval, operator.t0_ms

    def end(at_ms: int) -> int:
        until = interval(at_ms, t0_ms)[1] * 4
        return until if until < FOREVER else FOREVER

    return end
