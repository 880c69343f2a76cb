"""A whole conjunction: changes of its patterns' contents in, deltas of its solutions out.

Filters on one variable keep triples out before they are stored; those within a connected part follow its join, the rest the
product of the parts. What comes out is projected, merged by time and consolidated by change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pyoxigraph import Variable

from millstream.errors import UnsupportedQueryError
from millstream.kernels.conjunctions.leaf import Leaf
from millstream.kernels.conjunctions.solution_filter import SolutionFilter
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.rows.row_program import RowProgram
from millstream.language import algebra as a
from millstream.language.scope import mentioned
from millstream.operators.bounds import RowBound
from millstream.operators.expressions import Evaluator
from millstream.operators.leaves.component import GroundComponent, JoinComponent, alike_among
from millstream.operators.leaves.matching import Matcher
from millstream.operators.ticks import FOREVER, Column
from millstream.plan.conjunction import (
    Conjunction,
    OrderTest,
    PatternVariable,
    Source,
    TermTest,
    needed_of,
    order_test,
    term_test,
)
from millstream.plan.subqueries import subqueries_of

if TYPE_CHECKING:
    from millstream.kernels.conjunctions.parts import Found

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
        tested = self._filters_on_one()
        self._alike: dict[int, int] = {}
        self.components: list[Component] = []
        for members in plan.components:
            if not any(plan.patterns[n].variables for n in members):
                self.components.append(GroundComponent(members[0]))
                continue
            # Without choosing there is one order for all patterns, as written.
            apart = subqueries_of(plan.patterns, members) if adaptive else ()
            outside = [n for n in members if not any(n in part for part in apart)]
            alike = alike_among(outside, plan.patterns, tested)
            self._alike |= alike
            component = JoinComponent(
                members,
                plan.patterns,
                self._tests_within(members),
                apart=apart,
                alike=alike,
                lazy=lazy,
                adaptive=adaptive,
                bound=self._row_bound,
                needed=needed_of(plan),
            )
            self.components.append(component)
        columns = [v for c in self.components for v in c.columns]
        self._columns: dict[PatternVariable, int] = {v: i for i, v in enumerate(columns)}
        self._constants: list[int] = []
        self.matchers = self._matchers(dictionary, tested)
        *filters, last = self._placed_filters()
        solution_filters = [self._solution_filter(ours, c.columns) for ours, c in zip(filters, self.components, strict=True)]
        self.leaf = Leaf(
            first,
            [component.part for component in self.components],
            plan.components,
            [self._columns.get(v, -1) for v in plan.projection],
            self._row_bound,
            solution_filters,
            self._solution_filter(last, columns),
        )
        dictionary.hold(np.array(self._constants, np.int64))

    def _tests_within(self, members: tuple[int, ...]) -> list[TermTest | OrderTest]:
        """The filters that the join of a part applies itself, as soon as both variables are bound.

        Of an order it knows only what the ids tell: such a filter is asked again after the join.
        """
        variables = {v for n in members for v in self.plan.patterns[n].variables}
        tests = [term_test(f, self.plan.patterns) or order_test(f) for f in self.plan.filters]
        return [t for t in tests if t is not None and {t.left, t.right} <= variables]

    def _filters_on_one(self) -> dict[Variable, list[a.Expression]]:
        """The filters that mention one variable only."""
        found: dict[Variable, list[a.Expression]] = {}
        for expression in self.plan.filters:
            variables = mentioned(expression) & self._bound
            if len(variables) == 1:
                found.setdefault(next(iter(variables)), []).append(expression)
        return found

    def _matchers(self, dictionary: Dictionary, tested: Mapping[Variable, Sequence[a.Expression]]) -> dict[Source, Matcher]:
        tests = {variable: self._program(ours, (variable,)) for variable, ours in tested.items()}
        by_source: dict[Source, list[int]] = {}
        for number, pattern in enumerate(self.plan.patterns):
            by_source.setdefault(pattern.source, []).append(number)
        return {
            s: Matcher(numbers, self.plan.patterns, dictionary, tests, first=self._first, alike=self._alike)
            for s, numbers in by_source.items()
        }

    @property
    def _bound(self) -> frozenset[Variable]:
        return frozenset(v for pattern in self.plan.patterns for v in pattern.variables if isinstance(v, Variable))

    def _placed_filters(self) -> list[list[a.Expression]]:
        """Filters of several variables for each part that binds all of them; at the end the others, and those of none."""
        placed: list[list[a.Expression]] = [[] for _ in (*self.components, None)]
        for expression in self.plan.filters:
            variables = mentioned(expression) & self._bound
            if len(variables) == 1:
                continue
            within = [i for i, c in enumerate(self.components) if variables and variables <= set(c.variables)]
            if not within:
                placed[-1].append(expression)
            elif term_test(expression, self.plan.patterns) is None:
                placed[within[0]].append(expression)
        return placed

    def _solution_filter(
        self, filters: Sequence[a.Expression], variables: Sequence[PatternVariable]
    ) -> SolutionFilter | None:
        if not filters:
            return None
        return SolutionFilter(len(variables), self._program(filters, variables))

    def _program(self, filters: Sequence[a.Expression], variables: Sequence[PatternVariable]) -> RowProgram:
        """What says which rows of these columns pass."""
        writer = self._evaluator.writer(variables)
        for expression in filters:
            writer.test(expression)
        self._constants += writer.constants
        return writer.program()

    def begin(self, at_tick: int, change: int) -> None:
        """The one empty solution of a query without patterns, if its filters let it pass."""
        self.leaf.push(_empty_solution(at_tick, change))

    def current(self, now: int) -> tuple[npt.NDArray[np.int64], Column]:
        """The solutions that hold now, projected, and their weights, found anew from what is stored."""
        columns, _, weight = self.leaf.solutions(self._found(now))
        return columns, weight

    def _found(self, now: int) -> list[Found]:
        """The solutions of each part that hold now."""
        return [component.current(now) for component in self.components] or [_empty_solution(now, 0)]

    def pattern_counts(self, now: int) -> list[tuple[int, int]]:
        """For each pattern, how many triples came or were taken back, and how many it holds."""
        held = {number: many for component in self.components for number, many in component.held(now).items()}
        numbers = range(len(self.plan.patterns))
        return [(self.leaf.arrivals(n, self._alike.get(n, n)), held[n]) for n in numbers]

    def dump(self, now: int) -> dict[str, Any]:
        """All it keeps that does not follow from the rest; everything must have been drained."""
        return {"components": [c.dump(now) for c in self.components]}

    def load(self, state: dict[str, Any], now: int) -> None:
        """Takes what an equal operator dumped: what its parts hold, from which follows which solutions end when."""
        for component, kept in zip(self.components, state["components"], strict=True):
            component.load(kept, self._dictionary)
        self.leaf.forget_solutions()
        columns, until, weight = self.leaf.solutions(self._found(now), keep=True)
        ends = until[finite := until < FOREVER]
        self.leaf.merge.load(columns[finite], ends, -weight[finite])

    def close(self, at_tick: int) -> None:
        """Lets go of the terms it keeps."""
        for matcher in self.matchers.values():
            matcher.release(at_tick)
        self._dictionary.release(np.array(self._constants, np.int64), at_tick)


def _empty_solution(at_tick: int, change: int) -> Found:
    number, now, until, weight = (np.array([v], np.int64) for v in (change, at_tick, FOREVER, 1))
    return np.empty((1, 0), np.int64), number, now, now, until, weight
