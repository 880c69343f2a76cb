"""Expressions that a row program computes, over the columns of a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.rows.row_operations import Operation
from millstream.kernels.rows.row_program import RowProgram
from millstream.language import algebra as a
from millstream.language.scope import mentioned
from millstream.operators.expressions.batch import Batch, Ids, Places
from millstream.operators.expressions.programs import Step, constant_step, is_outside, steps_of


class Formula:
    """A program with the columns that it reads."""

    def __init__(self, program: RowProgram, columns: list[Callable[[Batch], Ids]], reads: frozenset[Variable]) -> None:
        self._program = program
        self._columns = columns
        self.reads = reads
        """The variables of the expression."""

    def run(self, batch: Batch) -> tuple[Ids, Places | None]:
        """The ids of the results, -1 for errors, and which rows the program leaves open."""
        if len(self._columns) == 1:
            given = self._columns[0](batch).reshape(-1, 1)
        else:
            given = np.empty((len(self._columns), batch.length), np.int64)
            for i, column in enumerate(self._columns):
                given[i] = column(batch)
            given = given.T
        found, places, undecided = self._program.run(given)
        if undecided is None:
            return found[:, 0], None
        ids = np.empty(batch.length, np.int64)
        ids[places] = found[:, 0]
        return ids, undecided


def compile_formula(
    expression: a.Expression, dictionary: Dictionary, column_of: Callable[[a.Expression], Callable[[Batch], Ids] | None]
) -> Formula | None:
    """The formula of an expression over variables, values that are in ids, and what there is a column of."""
    places: dict[a.Expression, int] = {}
    columns: list[Callable[[Batch], Ids]] = []

    def leaf(part: a.Expression) -> Step | None:
        if isinstance(part, NamedNode | Literal):
            step = constant_step(part, dictionary)
            # Nobody holds constants here.
            return None if step is None or is_outside(step) else step
        if part not in places:
            column = (lambda batch: batch.column(part)) if isinstance(part, Variable) else column_of(part)
            if column is None:
                return None
            places[part] = len(columns)
            columns.append(column)
        return Operation.COLUMN, places[part]

    steps = steps_of(expression, leaf)
    if steps is None or not columns:
        return None
    program = RowProgram(dictionary, len(columns), [*steps, (Operation.STORE, 0)], [len(columns)])
    return Formula(program, columns, mentioned(expression))
