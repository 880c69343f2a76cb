"""A whole conjunction: changes of its patterns' contents in, deltas of its solutions out.

Filters on one variable keep triples out before they are stored; those within a connected part follow its join, the rest the
product of the parts. What comes out is projected, merged by time and consolidated by change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pyoxigraph import Variable

from millstream.errors import UnsupportedQueryError
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.merge import TimeMerge
from millstream.language import algebra as a
from millstream.language.scope import mentioned
from millstream.operators.bounds import RowBound
from millstream.operators.component import GroundComponent, JoinComponent
from millstream.operators.expressions import Evaluator
from millstream.operators.matching import Matcher, Test
from millstream.operators.product import Product
from millstream.operators.rows import FOREVER, Arrivals, Column, Deltas, Intervals
from millstream.plan.conjunction import Conjunction, OrderTest, PatternVariable, Source, TermTest, order_test, term_test
from millstream.plan.subqueries import subqueries_of

Component: TypeAlias = JoinComponent | GroundComponent

MOST_PARTS = 256
"""Each answer is one of every part: nobody wants so many, and a change asks all others."""


class ConjunctionOperator:
    """The running form of a conjunction."""

    def __init__(
        self,
        plan: Conjunction,
        dictionary: Dictionary,
        evaluator: Evaluator,
        *,
        first: int = 0,
        lazy: bool = True,
        adaptive: bool = True,
        bound: RowBound | None = None,
    ) -> None:
        """`first` is the number of its first pattern for those who feed it."""
        self._row_bound = bound or RowBound()
        self.plan = plan
        self._first = first
        self._dictionary = dictionary
        self._evaluator = evaluator
        for expression in plan.filters:
            evaluator.check(expression)
        if len(plan.components) > MOST_PARTS:
            raise UnsupportedQueryError(
                f"A pattern of more than {MOST_PARTS} parts that share no variable",
                instead="Ask for them in queries of their own.",
            )
        self.components: list[Component] = [
            JoinComponent(
                members,
                plan.patterns,
                self._tests_within(members),
                # Without choosing there is one order for all patterns, as written.
                apart=subqueries_of(plan.patterns, members) if adaptive else (),
                lazy=lazy,
                adaptive=adaptive,
                bound=self._row_bound,
            )
            if any(plan.patterns[n].variables for n in members)
            else GroundComponent(members[0])
            for members in plan.components
        ]
        self._members = plan.components
        self._product = self._new_product()
        columns = [v for c in self.components for v in c.variables]
        self._columns: dict[PatternVariable, int] = {v: i for i, v in enumerate(columns)}
        self._projection = [self._columns.get(v, -1) for v in plan.projection]
        self._takes_all = self._projection == list(range(len(self._columns)))
        self._chosen = np.array(self._projection, np.intp) if min(self._projection, default=0) >= 0 else None
        self._merge = TimeMerge(len(self._projection))
        self.matchers = self._matchers(dictionary)
        self._place_filters()

    def _tests_within(self, members: tuple[int, ...]) -> list[TermTest | OrderTest]:
        """The filters that the join of a part applies itself, as soon as both variables are bound.

        Of an order it knows only what the ids tell: such a filter is asked again after the join.
        """
        variables = {v for n in members for v in self.plan.patterns[n].variables}
        tests = [term_test(f, self.plan.patterns) or order_test(f) for f in self.plan.filters]
        return [t for t in tests if t is not None and {t.left, t.right} <= variables]

    def _matchers(self, dictionary: Dictionary) -> dict[Source, Matcher]:
        tests: dict[Variable, Test] = {}
        for variable in self._columns:
            ours = [f for f in self.plan.filters if mentioned(f) & self._bound == {variable}]
            if ours and isinstance(variable, Variable):
                tests[variable] = self._test(variable, ours)
        by_source: dict[Source, list[int]] = {}
        for number, pattern in enumerate(self.plan.patterns):
            by_source.setdefault(pattern.source, []).append(number)
        return {
            s: Matcher(numbers, self.plan.patterns, dictionary, tests, first=self._first) for s, numbers in by_source.items()
        }

    @property
    def _bound(self) -> frozenset[Variable]:
        return frozenset(v for v in self._columns if isinstance(v, Variable))

    def _test(self, variable: Variable, filters: list[a.Expression]) -> Test:
        def test(ids: Column) -> npt.NDArray[np.bool_]:
            passed = np.ones(len(ids), np.bool_)
            for expression in filters:
                passed &= self._evaluator.test(expression, {variable: ids}, len(ids))
            return passed

        return test

    def _place_filters(self) -> None:
        """Filters of several variables go where all of them are bound first; those of none to the end."""
        self._component_filters: list[list[a.Expression]] = [[] for _ in self.components]
        self._final_filters: list[a.Expression] = []
        for expression in self.plan.filters:
            variables = mentioned(expression) & self._bound
            if len(variables) == 1:
                continue
            test = term_test(expression, self.plan.patterns)
            for i, component in enumerate(self.components):
                if variables and variables <= set(component.variables):
                    if test is None:
                        self._component_filters[i].append(expression)
                    break
            else:
                self._final_filters.append(expression)

    def feed(self, rows: Arrivals) -> None:
        """Takes changes of the patterns' contents, in order."""
        if self._first:
            rows = Arrivals(rows.pattern - self._first, rows.triples, rows.now, rows.until, rows.op, rows.change)
        parts = []
        for i, component in enumerate(self.components):
            ours = rows
            if len(self.components) > 1:
                ours = rows.pick(np.isin(rows.pattern, self._members[i]))
            parts.append(component.feed(ours))
        if parts:
            self._combine(parts)

    def component_of(self, number: int) -> Component | None:
        """The part that has a pattern."""
        for component, members in zip(self.components, self._members, strict=True):
            if number - self._first in members:
                return component
        return None

    def feed_rows(self, now: int) -> None:
        """Takes what was fed to the components row by row, at one tick."""
        if self.components:
            self._combine([component.taken(now) for component in self.components])

    def _combine(self, parts: list[Intervals]) -> None:
        for i, component in enumerate(self.components):
            for expression in self._component_filters[i]:
                parts[i] = self._filtered(parts[i], expression, component.variables)
        rows = 0
        for some in (parts[0],) if self._product is None else self._product.feed(parts):
            rows += self._push(some)
            self._row_bound.check(rows)

    def _push(self, whole: Intervals) -> int:
        """Takes combinations that its filters let pass; gives how many."""
        for expression in self._final_filters:
            whole = self._filtered(whole, expression, tuple(self._columns))
        if len(whole):
            self._merge.push(self._project(whole.columns), whole.change, whole.now, whole.start, whole.until, whole.weight)
        return len(whole)

    def begin(self, at_tick: int, change: int) -> None:
        """The one empty solution of a query without patterns, if its filters let it pass."""
        self._push(self._empty_solution(at_tick, change))

    def _empty_solution(self, at_tick: int, change: int) -> Intervals:
        number, now, until, weight = (np.array([v], np.int64) for v in (change, at_tick, FOREVER, 1))
        return Intervals(np.empty((1, 0), np.int64), number, now, now, until, weight)

    def _filtered(self, part: Intervals, expression: a.Expression, variables: tuple[PatternVariable, ...]) -> Intervals:
        if not len(part):
            return part
        read = mentioned(expression)
        columns = {
            v: np.ascontiguousarray(part.columns[:, i])
            for i, v in enumerate(variables)
            if isinstance(v, Variable) and v in read
        }
        passed = self._evaluator.test(expression, columns, len(part))
        return part if passed.all() else part.pick(passed)

    def _project(self, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if self._takes_all:
            return columns
        if self._chosen is not None:
            return columns.take(self._chosen, 1)
        projected = np.full((len(columns), len(self._projection)), -1, np.int64)
        for i, column in enumerate(self._projection):
            if column >= 0:
                projected[:, i] = columns[:, column]
        return projected

    def drain(self, upto: int) -> Deltas:
        """What became of the solutions up to a tick, inclusive; everything fed so far must lie at or before it."""
        return Deltas(*self._merge.drain(upto))

    def current(self, now: int) -> npt.NDArray[np.int64]:
        """The solutions that hold now, projected, found anew from what is stored."""
        found = [np.empty((0, len(self._projection)), np.int64)]
        found.extend(self._project(whole.columns) for whole in self._found(now, self._new_product()))
        return found[1] if len(found) == 2 else np.concatenate(found)

    def _new_product(self) -> Product | None:
        return None if len(self.components) == 1 else Product([len(c.variables) for c in self.components])

    def _found(self, now: int, product: Product | None) -> Iterator[Intervals]:
        """The solutions that hold now, each until it ends; a product is shown those of its parts."""
        parts = []
        for component, filters in zip(self.components, self._component_filters, strict=True):
            part = component.current(now)
            for expression in filters:
                part = self._filtered(part, expression, component.variables)
            parts.append(part)
        combined: Iterable[Intervals] = parts or [self._empty_solution(now, 0)]
        if product is not None and len(parts) > 1:
            combined = product.feed(parts)
        for whole in combined:
            for expression in self._final_filters:
                whole = self._filtered(whole, expression, tuple(self._columns))
            yield whole

    def dump(self, now: int) -> dict[str, Any]:
        """All it keeps that does not follow from the rest; everything must have been drained."""
        return {"components": [c.dump(now) for c in self.components]}

    def load(self, state: dict[str, Any], now: int) -> None:
        """Takes what an equal operator dumped: what its parts hold, from which follows which solutions end when."""
        for component, kept in zip(self.components, state["components"], strict=True):
            component.load(kept, self._dictionary)
        self._product = self._new_product()
        for whole in self._found(now, self._product):
            finite = whole.until < FOREVER
            ends = np.ascontiguousarray(whole.until[finite])
            self._merge.load(self._project(whole.columns[finite]), ends, np.full(len(ends), -1, np.int64))

    @property
    def next_tick(self) -> int | None:
        """When a solution that holds now will end by itself."""
        return self._merge.next_tick
