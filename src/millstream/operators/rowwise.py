"""Computed columns, filters and choices of columns, as many as follow each other: one pass over the rows.

Most rows are decided by a program (`kernels.rows.row_program`). Those it leaves open, and all rows where a program cannot do
some expression, take the steps one by one through the evaluator, with the same results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.rows.row_operations import Operation
from millstream.kernels.rows.row_program import RowProgram
from millstream.kernels.rows.row_wise import RowWise
from millstream.operators.expressions import Evaluator
from millstream.operators.expressions.programs import Step, is_leaf, leaf_of, steps_of
from millstream.plan.nodes import Extend, Filter, Project

RowNode = Extend | Filter | Project


def row_wise(
    inputs: Sequence[Deltas],
    width: int,
    chain: Sequence[RowNode],
    dictionary: Dictionary,
    evaluator: Evaluator,
    references: TermReferences,
) -> RowWise:
    """The operator of a chain of nodes, each reading the one before."""
    given, variables = chain[0].input.variables, chain[-1].variables
    for node in chain:
        if not isinstance(node, Project):
            evaluator.check(node.expression)
    compiled = _Compiled(given, dictionary)
    program, constants = None, []
    if all(compiled.take(node) for node in chain):
        program = RowProgram(dictionary, len(given), compiled.steps, [compiled.places.get(v, -1) for v in variables])
        constants = [term_id for operation, term_id in compiled.steps if operation == Operation.CONSTANT]
    return RowWise(
        inputs,
        width,
        program,
        _StepByStep(tuple(chain), evaluator),
        references,
        drops=not _keeps_apart(chain),
        kept=[variables.index(v) for v in _computed(chain)],
        constants=constants,
    )


@dataclass(frozen=True, slots=True)
class _StepByStep:
    """What becomes of rows that no program decides: one node of the chain after the other."""

    chain: tuple[RowNode, ...]
    evaluator: Evaluator

    def __call__(self, rows: Deltas) -> Deltas:
        given, length, places = rows.columns, len(rows), np.arange(len(rows))
        columns = {v: np.ascontiguousarray(given[:, i]) for i, v in enumerate(self.chain[0].input.variables)}
        for node in self.chain:
            match node:
                case Extend(_, variable, expression):
                    columns[variable] = self.evaluator.compute(expression, columns, length)
                case Filter(_, expression):
                    passed = self.evaluator.test(expression, columns, length)
                    if not passed.all():
                        columns = {v: column[passed] for v, column in columns.items()}
                        places = places[passed]
                        length = len(places)
                case Project(_, chosen):
                    columns = {name: columns[column] for name, column in chosen if column in columns}
        variables = self.chain[-1].variables
        found = np.full((len(variables), length), -1, np.int64)
        for i, v in enumerate(variables):
            if v in columns:
                found[i] = columns[v]
        return Deltas(found.T, rows.tick[places], rows.change[places], rows.weight[places])


class _Compiled:
    """The steps of a chain's nodes, and where its columns are."""

    def __init__(self, variables: tuple[Variable, ...], dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._next = len(variables)
        self.places = {v: i for i, v in enumerate(variables)}
        self.steps: list[Step] = []

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
        steps = steps_of(node.expression, leaf_of(self.places, self._dictionary))
        # A double by itself keeps its spelling, which a program does not know.
        if steps is None or (isinstance(node, Extend) and steps[-1][0] == Operation.DOUBLE):
            return False
        self.steps += steps
        if isinstance(node, Extend):
            self.steps.append((Operation.STORE, 0))
            self.places[node.variable] = self._next
            self._next += 1
        else:
            self.steps.append((Operation.TEST, 0))
        return True


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
