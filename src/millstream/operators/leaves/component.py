"""One connected part of a conjunction, an interval join: its patterns' changes in, its solutions with intervals out.

Patterns with two variables are pairs, with one qualifications, with three tuples behind a hidden variable; all go to one
interval join. A sub-query over datasets can be joined apart: then its solutions are tuples of that join, instead of its
patterns. A part without variables is a triple that is there or not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from pyoxigraph import BlankNode, Variable

from millstream.errors import UnsupportedQueryError
from millstream.kernels.conjunctions.parts import GroundPart, JoinPart
from millstream.kernels.containers.tuples import TupleTable
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.joins.join import AFTER, AT, BEFORE, DIFFERENT, SAME, IntervalJoin
from millstream.operators import stored
from millstream.operators.bounds import RowBound
from millstream.operators.leaves.subquery import SubQuery, in_order_of_change
from millstream.operators.ticks import FOREVER, Arrivals, Column
from millstream.plan.conjunction import (
    GraphSource,
    MergedSource,
    OrderTest,
    PatternVariable,
    Source,
    SourcedPattern,
    TermTest,
)

if TYPE_CHECKING:
    from millstream.kernels.conjunctions.parts import Found

MOST_PATTERNS = 64
_OUTCOMES = {"<": BEFORE, "<=": BEFORE | AT, "=": AT, ">=": AT | AFTER, ">": AFTER, "!=": BEFORE | AFTER}
_LANES = 63
_NOT_THERE = -1 << 63
"""Ends before any tick: also before those at which nothing has happened yet."""
_ROWS_AT_ONCE = 4096


class JoinComponent:
    """A part with variables, kept by an interval join."""

    def __init__(
        self,
        numbers: Sequence[int],
        patterns: Sequence[SourcedPattern],
        tests: Sequence[TermTest | OrderTest] = (),
        *,
        apart: Sequence[tuple[int, ...]] = (),
        alike: Mapping[int, int] | None = None,
        lazy: bool = True,
        adaptive: bool = True,
        bound: RowBound | None = None,
        needed: Collection[PatternVariable] | None = None,
    ) -> None:
        """`numbers` are the patterns' places in the whole conjunction; `tests` are on variables of this part.

        `needed` are the variables that anybody asks for afterwards, all by default. Solutions that differ in others alone
        may be one, with a weight.

        `apart` names the patterns of sub-queries over datasets to be joined by themselves; `alike` the first of those
        that are fed together.
        """
        inside = {n for part in apart for n in part}
        # Those joined apart come last, so that the views of the others stay the same if they are put together.
        self._members = {n: patterns[n] for n in sorted(numbers, key=lambda n: n in inside)}
        self.variables = tuple(dict.fromkeys(v for n in numbers for v in patterns[n].variables))
        self.columns = tuple(v for v in self.variables if needed is None or v in needed)
        self._tests = tests
        self._alike = alike or {}
        self._switches = {"lazy": lazy, "adaptive": adaptive}
        self._bound = bound or RowBound()
        self.part = JoinPart()
        self._subqueries = []
        for part in apart:
            within = {v for n in part for v in patterns[n].variables}
            ours = [t for t in tests if {t.left, t.right} <= within]
            self._subqueries.append(
                SubQuery(part, JoinComponent(part, patterns, ours, lazy=lazy, adaptive=adaptive, bound=bound))
            )
        self._lay_out()

    def _lay_out(self) -> None:
        """Makes the join, empty, with its views."""
        index = {v: i for i, v in enumerate(self.variables)}
        self._ways: dict[int, tuple[int, tuple[int, ...], TupleTable | None]] = {}
        views: list[tuple[int, int]] = []
        lanes: list[int] = []
        relations: list[int] = []
        lane_of: dict[Source, int] = {}
        relation_of: dict[object, int] = {}
        hidden = len(self.variables)
        inside = {n for subquery in self._subqueries for n in subquery.numbers}
        self._inside = np.array(sorted(inside), np.int64)
        for number, pattern in self._members.items():
            if number in inside:
                continue
            positions = first_positions(pattern)
            self._ways[number] = len(views), positions, TupleTable(3) if len(positions) == 3 else None
            lane = _lane(pattern.source, lane_of)
            taking = pattern.source, pattern.triple.predicate, positions, self._alike.get(number)
            relation = relation_of.setdefault(taking, len(relation_of))
            ends = [index[v] for v in pattern.variables]
            if len(ends) == 3:
                views.extend((hidden, end) for end in ends)
                lanes.extend([lane] * 3)
                relations.extend(1000 + len(views) + i for i in range(3))
                hidden += 1
            else:
                views.append((ends[0], ends[1] if len(ends) == 2 else -1))
                lanes.append(lane)
                relations.append(relation)
        for subquery in self._subqueries:
            subquery.first_view = len(views)
            views.extend((hidden, index[v]) for v in subquery.component.variables)
            lanes.extend([-1] * (len(views) - subquery.first_view))
            relations.extend(1000 + view for view in range(subquery.first_view, len(views)))
            hidden += 1
        if self._subqueries and (len(views) > MOST_PATTERNS or hidden > MOST_PATTERNS):
            self._subqueries = []
            self._lay_out()
            return
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
            **self._switches,
            relations=relations,
            filters=[
                (SAME if t.same else DIFFERENT, index[t.left], index[t.right])
                for t in self._tests
                if isinstance(t, TermTest)
            ],
            orders=[
                (_OUTCOMES[t.operator], index[t.left], index[t.right], t.offset)
                for t in self._tests
                if isinstance(t, OrderTest)
            ],
            visible=[index[v] for v in self.columns],
            most=self._bound.limit + 1,
        )
        # Another one when a sub-query is no longer joined apart.
        self.part.lay_out(self._make(), {**self._ways, **dict.fromkeys(inside)}, self._apart if inside else None)

    @property
    def join(self) -> IntervalJoin:
        """May be another after changes of a sub-query."""
        return self.part.join

    def feed(self, rows: Arrivals) -> Found:
        """What changes of these patterns, in order, make of the solutions."""
        self._bound.check(self.part.feed(rows))
        return self.part.taken()

    def _apart(self, rows: Arrivals) -> Found:
        """As `feed`, some rows being of sub-queries; in parts, to see in time when one has too many solutions."""
        found = []
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows.pick(slice(first, first + _ROWS_AT_ONCE))
            pattern = some.pattern
            changes = [self.part.changes(some.pick(~np.isin(pattern, self._inside)))]
            changes.extend(q.changes(some.pick(np.isin(pattern, q.numbers))) for q in self._subqueries)
            self._bound.check(self.join.feed(*in_order_of_change(changes)))
            found.append(self.part.taken())
            if any(q.is_large for q in self._subqueries):
                self._put_together(int(some.now[-1]))
        columns, change, now, start, until, weight = map(np.concatenate, zip(*found, strict=True))
        return columns, change, now, start, until, weight

    def _put_together(self, now: int) -> None:
        """Joins the patterns of sub-queries with all others from now on."""
        _, *columns = self.dump(now)
        self.load((False, *columns))

    def current(self, now: int) -> Found:
        """The solutions that hold now, found anew from what is stored."""
        view, a, b, until = self.join.dump(now)
        join = self._make()
        zeros = np.zeros(len(view), np.int64)
        self._bound.check(join.feed(view, a, b, zeros + now, until, zeros + 1, zeros))
        columns, change, start, end, weight = join.take()
        return columns, change, start, start, end, weight

    def _views_of(self, number: int) -> range:
        """The views of a pattern where nothing is joined apart."""
        views, at = {}, 0
        for member, pattern in self._members.items():
            views[member] = range(at, at + (3 if len(pattern.variables) == 3 else 1))
            at = views[member].stop
        return views[number]

    def dump(self, now: int) -> tuple[bool, Column, Column, Column, Column]:
        """What it keeps: whether sub-queries are joined apart, and, as if none was, view, a, b, until."""
        parts = [self.join.dump(now)]
        for subquery in self._subqueries:
            # Its tuples follow from its patterns.
            outside = parts[0][0] < self._subqueries[0].first_view
            parts[0] = tuple(column[outside] for column in parts[0])  # type: ignore[assignment]
            _, view, *columns = subquery.component.dump(now)
            places = np.array([self._views_of(n).start for n in subquery.component._members], np.int64)
            parts.append((places[view], *columns))  # type: ignore[arg-type]
        if not self._subqueries:
            return False, *parts[0]
        whole = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        order = np.argsort(whole[3], kind="stable")
        return True, *(column[order] for column in whole)  # type: ignore[return-value]

    def load(self, state: Sequence[Any], dictionary: Dictionary | None = None) -> None:
        """Takes what an equal component dumped; tuples get new numbers. With a dictionary it is checked: it was away."""
        apart, *columns = state
        if dictionary is None:
            view, a, b, until = (np.array(column) for column in columns)
        else:
            views = {view: len(p.variables) for n, p in self._members.items() for view in self._views_of(n)}
            view, a, b, until = stored.pairs(columns, views, dictionary)
        if not apart:
            self._subqueries = []
            self._lay_out()
        solved = []
        for subquery in self._subqueries:
            members = list(subquery.component._members)
            places = {self._views_of(n).start: i for i, n in enumerate(members)}
            ours = np.isin(view, list(places))
            inner = np.array([places[v] for v in view[ours].tolist()], np.int64)
            solved.append(subquery.load((False, inner, a[ours], b[ours], until[ours])))
            view, a, b, until = (column[~ours] for column in (view, a, b, until))
        self._load_direct(view, a, b, until)
        for changes in solved:
            self.join.load(changes[0], changes[1], changes[2], changes[4])

    def _load_direct(self, view: Column, a: Column, b: Column, until: Column) -> None:
        for first, positions, table in self._ways.values():
            if table is None:
                continue
            ours = (view >= first) & (view < first + 3)
            old, times = np.unique(a[ours], return_counts=True)
            whole = np.unique(np.column_stack([view[ours], a[ours]]), axis=0)
            if len(whole) != 3 * len(old) or (times != 3).any():
                raise ValueError("a triple is there in part")
            columns = np.empty((len(old), 3), np.int64)
            ends = np.empty(len(old), np.int64)
            for i in range(3):
                part = view == first + i
                place = np.searchsorted(old, a[part])
                columns[place, positions[i]] = b[part]
                ends[place] = until[part]
            zeros = np.zeros(len(old), np.int64)
            new = table.intern(columns, zeros - FOREVER, ends, zeros + 1)
            a[ours] = new[np.searchsorted(old, a[ours])]
        self.join.load(view, a, b, until)

    def contents(self, now: int) -> int:
        """How many triples the patterns hold, waiting ones included."""
        return sum(self.held(now).values())

    def held(self, now: int) -> dict[int, int]:
        """The same by pattern."""
        self.join.expire(now)
        entries = self.join.stats["entries"]
        # A wide pattern has three views, with a pair of each triple in each.
        found = {number: entries[view] for number, (view, _, _) in self._ways.items()}
        for subquery in self._subqueries:
            found |= subquery.component.held(now)
        return found

    @property
    def bytes(self) -> int:
        tables = [*(table for _, _, table in self._ways.values()), *(subquery.tuples for subquery in self._subqueries)]
        inner = sum(subquery.component.bytes for subquery in self._subqueries)
        return self.join.stats["bytes"] + sum(t.stats["bytes"] for t in tables if t is not None) + inner


class GroundComponent:
    """A pattern without variables: a triple that is there until some time."""

    variables: tuple[PatternVariable, ...] = ()
    columns: tuple[PatternVariable, ...] = ()

    def __init__(self, number: int) -> None:
        self.number = number
        self.part = GroundPart()

    def current(self, now: int) -> Found:
        size = int(self.part.until > now)
        change, start, until, weight = (np.full(size, v, np.int64) for v in (0, now, self.part.until, 1))
        return np.empty((size, 0), np.int64), change, start, start, until, weight

    def dump(self, now: int) -> object:
        return self.part.until

    def load(self, state: Any, dictionary: Dictionary | None = None) -> None:
        self.part.until = stored.whole(state, _NOT_THERE, FOREVER)

    def contents(self, now: int) -> int:
        return int(self.part.until > now)

    def held(self, now: int) -> dict[int, int]:
        return {self.number: self.contents(now)}

    @property
    def bytes(self) -> int:
        return 0


def first_positions(pattern: SourcedPattern) -> tuple[int, ...]:
    """Where in the triple each variable stands first."""
    terms = (pattern.triple.subject, pattern.triple.predicate, pattern.triple.object)
    return tuple(terms.index(v) for v in pattern.variables)


def alike_among(
    numbers: Sequence[int], patterns: Sequence[SourcedPattern], tested: Collection[PatternVariable]
) -> dict[int, int]:
    """Patterns of a part that take the same triples of a graph and ask nothing of them: for each, the first of them.

    One filter on one variable sets its pattern apart. Patterns that are like no other are left out.
    """
    alike: dict[object, list[int]] = {}
    for number in numbers:
        pattern = patterns[number]
        is_pair = first_positions(pattern) == (0, 2) and not repeated_positions(pattern)
        if is_pair and isinstance(pattern.source, GraphSource) and not set(pattern.variables) & set(tested):
            alike.setdefault((pattern.source, pattern.triple.predicate), []).append(number)
    return {number: same[0] for same in alike.values() if len(same) > 1 for number in same}


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
