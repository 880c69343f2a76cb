"""One connected part of a conjunction: its patterns' changes in, its solutions with intervals out.

Patterns with two variables are pairs, with one qualifications, with three tuples behind a hidden variable; all go to one
interval join. A part without variables is a triple that is there or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from pyoxigraph import BlankNode, Variable

from millstream.errors import UnsupportedQueryError
from millstream.kernels.join import DIFFERENT, SAME, IntervalJoin
from millstream.kernels.tuples import TupleTable
from millstream.operators.rows import FOREVER, Arrivals, Column, Intervals
from millstream.plan.conjunction import (
    GraphSource,
    MergedSource,
    PatternVariable,
    Source,
    SourcedPattern,
    TermTest,
)

MOST_PATTERNS = 64
_LANES = 63


class JoinComponent:
    """A part with variables, kept by an interval join."""

    def __init__(
        self,
        numbers: Sequence[int],
        patterns: Sequence[SourcedPattern],
        tests: Sequence[TermTest] = (),
        *,
        lazy: bool = True,
        adaptive: bool = True,
    ) -> None:
        """`numbers` are the patterns' places in the whole conjunction; `tests` are on variables of this part."""
        members = [patterns[n] for n in numbers]
        self.variables = tuple(dict.fromkeys(v for p in members for v in p.variables))
        index = {v: i for i, v in enumerate(self.variables)}
        self._positions: dict[int, tuple[int, ...]] = {}
        self._view_of: dict[int, int] = {}
        self._tuples: dict[int, TupleTable] = {}
        views: list[tuple[int, int]] = []
        lanes: list[int] = []
        relations: list[int] = []
        lane_of: dict[Source, int] = {}
        relation_of: dict[object, int] = {}
        hidden = len(self.variables)
        for number, pattern in zip(numbers, members, strict=True):
            positions = first_positions(pattern)
            self._positions[number] = positions
            self._view_of[number] = len(views)
            lane = _lane(pattern.source, lane_of)
            relation = relation_of.setdefault((pattern.source, pattern.triple.predicate, positions), len(relation_of))
            ends = [index[v] for v in pattern.variables]
            if len(ends) == 3:
                views.extend((hidden, end) for end in ends)
                lanes.extend([lane] * 3)
                relations.extend(1000 + len(views) + i for i in range(3))
                self._tuples[number] = TupleTable(3)
                hidden += 1
            else:
                views.append((ends[0], ends[1] if len(ends) == 2 else -1))
                lanes.append(lane)
                relations.append(relation)
        if len(views) > MOST_PATTERNS or hidden > MOST_PATTERNS:
            raise UnsupportedQueryError(
                f"A connected pattern of more than {MOST_PATTERNS} triple patterns",
                instead="Split it: let one query CONSTRUCT part of it into a stream that the other reads.",
            )
        self._make = partial(
            IntervalJoin,
            views,
            lanes,
            hidden,
            lazy=lazy,
            adaptive=adaptive,
            relations=relations,
            filters=[(SAME if t.same else DIFFERENT, index[t.left], index[t.right]) for t in tests],
            visible=list(range(len(self.variables))),
        )
        self._join = self._make()
        self._simple = not self._tuples

    def feed(self, rows: Arrivals) -> Intervals:
        """What changes of these patterns, in order, make of the solutions."""
        if self._simple:
            view, a, b = self._pairs(rows)
            source: Column | None = None
        else:
            view, a, b, source = self._pairs_with_tuples(rows)
        now, until, op, change = rows.now, rows.until, rows.op, rows.change
        if source is not None:
            now, until, op, change = (np.ascontiguousarray(c[source]) for c in (now, until, op, change))
        self._join.feed(view, a, b, now, until, op, change)
        columns, change_out, start, end, weight = self._join.take()
        # Changes are numbered upwards, so a row's tick is that of the last change at or before its number.
        at = now[np.searchsorted(change, change_out, side="right") - 1] if len(change_out) else change_out
        return Intervals(columns, change_out, at, start, end, weight)

    @property
    def join(self) -> IntervalJoin:
        """For those who feed it row by row; then `taken` gives what became of it."""
        return self._join

    def view_of(self, number: int) -> int | None:
        """The join's view of a pattern, if it has one of its own."""
        return None if number in self._tuples else self._view_of[number]

    def taken(self, now: int) -> Intervals:
        """What rows fed to `join` at one tick made of the solutions."""
        columns, change, start, end, weight = self._join.take()
        return Intervals(columns, change, np.full(len(change), now, np.int64), start, end, weight)

    def _pairs(self, rows: Arrivals) -> tuple[Column, Column, Column]:
        size = len(rows)
        view, a, b = (np.zeros(size, np.int64) for _ in range(3))
        for number, positions in self._positions.items():
            which = rows.pattern == number if len(self._positions) > 1 else slice(None)
            view[which] = self._view_of[number]
            a[which] = rows.triples[which, positions[0]]
            if len(positions) > 1:
                b[which] = rows.triples[which, positions[1]]
        return view, a, b

    def _pairs_with_tuples(self, rows: Arrivals) -> tuple[Column, Column, Column, Column]:
        """As `_pairs`, a row of a wide pattern becoming three, with the row each came from."""
        width = np.ones(len(rows), np.int64)
        for number in self._tuples:
            width[rows.pattern == number] = 3
        source = np.repeat(np.arange(len(rows)), width)
        place = np.arange(len(source)) - np.repeat(np.cumsum(width) - width, width)
        view, a, b = (np.zeros(len(source), np.int64) for _ in range(3))
        pattern = rows.pattern[source]
        for number, positions in self._positions.items():
            which = pattern == number
            origin = source[which]
            if number not in self._tuples:
                view[which] = self._view_of[number]
                a[which] = rows.triples[origin, positions[0]]
                if len(positions) > 1:
                    b[which] = rows.triples[origin, positions[1]]
                continue
            ours = np.flatnonzero(rows.pattern == number)
            numbers = self._tuples[number].intern(
                np.ascontiguousarray(rows.triples[ours]), rows.now[ours], rows.until[ours], rows.op[ours]
            )
            spread = np.repeat(numbers, 3)
            view[which] = self._view_of[number] + place[which]
            a[which] = spread
            b[which] = rows.triples[origin, np.asarray(positions)[place[which]]]
        # A tuple that was not there leaves nothing behind.
        there = a >= 0
        if there.all():
            return view, a, b, source
        return tuple(np.ascontiguousarray(c[there]) for c in (view, a, b, source))  # type: ignore[return-value]

    def current(self, now: int) -> Intervals:
        """The solutions that hold now, found anew from what is stored."""
        view, a, b, until = self._join.dump(now)
        join = self._make()
        zeros = np.zeros(len(view), np.int64)
        join.feed(view, a, b, zeros + now, until, zeros + 1, zeros)
        columns, change, start, end, weight = join.take()
        return Intervals(columns, change, start, start, end, weight)

    def dump(self, now: int) -> object:
        """What it keeps, as columns."""
        return self._join.dump(now)

    def load(self, state: Sequence[Column]) -> None:
        """Takes what an equal component dumped; tuples get new numbers."""
        view, a, b, until = (np.ascontiguousarray(column) for column in state)
        for number, table in self._tuples.items():
            first = self._view_of[number]
            ours = (view >= first) & (view < first + 3)
            old = np.unique(a[ours])
            columns = np.empty((len(old), 3), np.int64)
            ends = np.empty(len(old), np.int64)
            for i in range(3):
                part = view == first + i
                place = np.searchsorted(old, a[part])
                columns[place, self._positions[number][i]] = b[part]
                ends[place] = until[part]
            zeros = np.zeros(len(old), np.int64)
            new = table.intern(columns, zeros - FOREVER, ends, zeros + 1)
            a[ours] = new[np.searchsorted(old, a[ours])]
        self._join.load(view, a, b, until)

    def contents(self, now: int) -> int:
        """How many triples the patterns hold, waiting ones included."""
        self._join.expire(now)
        entries = self._join.stats["entries"]
        # A wide pattern has three views, with a pair of each triple in each.
        return sum(entries[view] for view in self._view_of.values())

    @property
    def bytes(self) -> int:
        return self._join.stats["bytes"] + sum(t.stats["bytes"] for t in self._tuples.values())


class GroundComponent:
    """A pattern without variables: a triple that is there until some time."""

    variables: tuple[PatternVariable, ...] = ()

    def __init__(self, number: int) -> None:
        self.number = number
        self.until = -FOREVER

    def feed(self, rows: Arrivals) -> Intervals:
        out: list[tuple[int, int, int, int, int]] = []
        for now, until, op, change in zip(
            rows.now.tolist(), rows.until.tolist(), rows.op.tolist(), rows.change.tolist(), strict=True
        ):
            old = self.until
            if op < 0:
                if old > now:
                    out.append((change, now, now, old, -1))
                    self.until = now
            elif until > max(old, now):
                out.append((change, now, max(old, now), until, 1))
                self.until = until
        table = np.array(out, np.int64).reshape(-1, 5)
        change_out, at, start, end, weight = (np.ascontiguousarray(table[:, i]) for i in range(5))
        return Intervals(np.empty((len(out), 0), np.int64), change_out, at, start, end, weight)

    def current(self, now: int) -> Intervals:
        size = int(self.until > now)
        change, start, until, weight = (np.full(size, v, np.int64) for v in (0, now, self.until, 1))
        return Intervals(np.empty((size, 0), np.int64), change, start, start, until, weight)

    def dump(self, now: int) -> object:
        return self.until

    def load(self, state: int) -> None:
        self.until = state

    def contents(self, now: int) -> int:
        return int(self.until > now)

    @property
    def bytes(self) -> int:
        return 0


def first_positions(pattern: SourcedPattern) -> tuple[int, ...]:
    """Where in the triple each variable stands first."""
    terms = (pattern.triple.subject, pattern.triple.predicate, pattern.triple.object)
    return tuple(terms.index(v) for v in pattern.variables)


def repeated_positions(pattern: SourcedPattern) -> list[tuple[int, int]]:
    """Places of a triple that hold one variable and so must be equal."""
    terms = (pattern.triple.subject, pattern.triple.predicate, pattern.triple.object)
    return [
        (terms.index(term), i)
        for i, term in enumerate(terms)
        if isinstance(term, Variable | BlankNode) and terms.index(term) != i
    ]


def _lane(source: Source, lanes: dict[Source, int]) -> int:
    """A ring for each window; graphs, and contents with several ends, live apart from them."""
    if isinstance(source, GraphSource | MergedSource):
        return -1
    return lanes.setdefault(source, len(lanes)) if len(lanes) < _LANES else lanes.get(source, -1)
