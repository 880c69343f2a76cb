"""Computed columns, filters and choices of columns, as many as follow each other: one pass over the rows.

Most rows are decided by a program (`kernels.row_program`). Those it leaves open, and all rows where a program cannot do some
expression, take the steps one by one through the evaluator, with the same results.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pyoxigraph import Literal, NamedNode, Variable

from millstream.kernels.deltas import PythonOperator
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.row_program import Operation, RowProgram
from millstream.language import algebra as a
from millstream.operators.deltas import consolidated, empty
from millstream.operators.expressions import Evaluator
from millstream.operators.expressions.programs import Step, constant_step, is_leaf, is_outside, steps_of
from millstream.operators.keeping import Keeper, Kept
from millstream.operators.rows import Column, Deltas
from millstream.plan.nodes import Extend, Filter, Project

Columns = npt.NDArray[np.int64]
RowNode = Extend | Filter | Project


class RowWise(PythonOperator):
    """A chain of nodes, each reading the one before."""

    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        chain: Sequence[RowNode],
        dictionary: Dictionary,
        evaluator: Evaluator,
        keeper: Keeper,
    ) -> None:
        super().__init__(inputs, width)
        self._chain = tuple(chain)
        self._input = chain[0].input.variables
        self._variables = chain[-1].variables
        self._evaluator = evaluator
        self._keeper = keeper
        for node in chain:
            if not isinstance(node, Project):
                evaluator.check(node.expression)
        self._drops = not _keeps_apart(chain)
        compiled = _Compiled(self._input, dictionary)
        is_compiled = all(compiled.take(node) for node in chain)
        self._program: RowProgram | None = None
        self._constants = np.empty(0, np.int64)
        if is_compiled:
            outputs = [compiled.places.get(v, -1) for v in self._variables]
            self._program = RowProgram(dictionary, len(self._input), compiled.steps, outputs)
            self._constants = np.array([i for _, i in compiled.constants], np.int64)
            keeper.hold(self._constants)
        self._kept = [(self._variables.index(v), Kept(keeper)) for v in _computed(chain)]

    def changed(self, rows: Deltas) -> Deltas:
        """What changes of the rows make of what is made of each."""
        given = rows.columns
        places: Column | None
        if self._program is None:
            columns, places = self._step_by_step(given, None)
            makes_terms = True
        else:
            columns, places, undecided = self._program.run(given)
            makes_terms = self._program.made_terms or undecided is not None
            if undecided is not None and places is not None:
                columns, places = self._decide(given, columns, places, undecided)
        if places is None:
            found = Deltas(columns, rows.tick, rows.change, rows.weight)
        elif not len(places):
            return empty(self.out.width)
        else:
            found = Deltas(columns, rows.tick[places], rows.change[places], rows.weight[places])
        if self._drops and len(found.tick) > 1:
            found = consolidated(found)
        if makes_terms:
            for place, kept in self._kept:
                kept.count(found.columns[:, place], found.weight, found.tick)
        return found

    def close(self, at_tick: int) -> None:
        """Lets go of constants and computed terms."""
        self._keeper.release(self._constants, at_tick)
        for _, kept in self._kept:
            kept.close(at_tick)

    def _decide(self, given: Columns, columns: Columns, places: Column, undecided: Column) -> tuple[Columns, Column]:
        """The rows that the program decided, and the others, in order."""
        more, more_places = self._step_by_step(given[undecided], undecided)
        if not len(places):
            return more, more_places
        both = np.concatenate([places, more_places])
        order = np.argsort(both, kind="stable")
        return np.concatenate([columns, more])[order], both[order]

    def _step_by_step(self, given: Columns, places: Column | None) -> tuple[Columns, Column]:
        """What is made of rows, and their places of those given."""
        length = len(given)
        if places is None:
            places = np.arange(length)
        columns = {v: np.ascontiguousarray(given[:, i]) for i, v in enumerate(self._input)}
        for node in self._chain:
            match node:
                case Extend(_, variable, expression):
                    columns[variable] = self._evaluator.compute(expression, columns, length)
                case Filter(_, expression):
                    passed = self._evaluator.test(expression, columns, length)
                    if not passed.all():
                        columns = {v: column[passed] for v, column in columns.items()}
                        places = places[passed]
                        length = len(places)
                case Project(_, chosen):
                    columns = {name: columns[column] for name, column in chosen if column in columns}
        found = np.full((len(self._variables), length), -1, np.int64)
        for i, v in enumerate(self._variables):
            if v in columns:
                found[i] = columns[v]
        return found.T, places


class _Compiled:
    """The steps of a chain's nodes, and where its columns are."""

    def __init__(self, variables: tuple[Variable, ...], dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._next = len(variables)
        self.places = {v: i for i, v in enumerate(variables)}
        self.steps: list[Step] = []
        self.constants: list[Step] = []

    def take(self, node: RowNode) -> bool:
        """Adds a node; False if a program cannot do what it does."""
        match node:
            case Project(_, chosen):
                self.places = {name: self.places[column] for name, column in chosen if column in self.places}
                return True
            case Extend(_, variable, Variable() as copied):
                if copied in self.places:
                    self.places[variable] = self.places[copied]
                return True
        steps = steps_of(node.expression, self._leaf)
        if steps is None:
            return False
        self.steps += steps
        if isinstance(node, Extend):
            self.steps.append((Operation.STORE, 0))
            self.places[node.variable] = self._next
            self._next += 1
        else:
            self.steps.append((Operation.TEST, 0))
        return True

    def _leaf(self, expression: a.Expression) -> Step | None:
        match expression:
            case Variable():
                place = self.places.get(expression, -1)
                return (Operation.CONSTANT, -1) if place < 0 else (Operation.COLUMN, place)
            case NamedNode() | Literal():
                step = constant_step(expression, self._dictionary)
                if step is not None and is_outside(step[1]):
                    self.constants.append(step)
                return step
            case _:
                return None


def _keeps_apart(chain: Sequence[RowNode]) -> bool:
    """Whether rows that differ before the chain still do behind it: all columns are there, under whatever name."""
    origin = {v: v for v in chain[0].input.variables}
    for node in chain:
        match node:
            case Extend(_, variable, Variable() as copied) if copied in origin:
                origin[variable] = origin[copied]
            case Project(_, chosen):
                origin = {name: origin[column] for name, column in chosen if column in origin}
    return set(chain[0].input.variables) <= set(origin.values())


def _computed(chain: Sequence[RowNode]) -> list[Variable]:
    """The columns at the end that somebody must keep the terms of."""
    names: set[Variable] = set()
    for node in chain:
        match node:
            case Extend(_, variable, expression):
                if not is_leaf(expression) or expression in names or isinstance(expression, NamedNode | Literal):
                    names.add(variable)
            case Project(_, chosen):
                names = {name for name, column in chosen if column in names}
    return [v for v in chain[-1].variables if v in names]
