"""Columns of ids that an expression is evaluated over, and evaluation of rows without doing equal ones twice.

Values are read and results encoded for the distinct combinations of ids only. Nothing is remembered between calls:
an id may name another term by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from pyoxigraph import Variable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.expressions.rows import Row, RowFunction
from millstream.operators.expressions.values.comparison import effective_boolean
from millstream.operators.expressions.values.values import ExpressionError, Value, read_term

Ids: TypeAlias = npt.NDArray[np.int64]
Places: TypeAlias = npt.NDArray[np.intp]
Truths: TypeAlias = npt.NDArray[np.uint8]
"""FALSE, TRUE or ERROR."""

FALSE, TRUE, ERROR = 0, 1, 2


class Batch:
    """Some solutions as columns; -1 is unbound."""

    def __init__(self, dictionary: Dictionary, columns: Mapping[Variable, Ids], length: int) -> None:
        self.dictionary = dictionary
        self.columns = columns
        self.length = length

    def column(self, variable: Variable) -> Ids:
        found = self.columns.get(variable)
        return self.constant(-1) if found is None else found

    def constant(self, term_id: int) -> Ids:
        return constant(term_id, self.length)

    def take(self, rows: Places, variables: frozenset[Variable]) -> Batch:
        """Some of the rows, with the variables that are needed."""
        columns = {v: c[rows] for v, c in self.columns.items() if v in variables}
        return Batch(self.dictionary, columns, len(rows))

    def part(self, length: int) -> Batch:
        """Rows whose columns the caller has."""
        return Batch(self.dictionary, {}, length)

    # Rows.

    def evaluate(self, function: RowFunction, columns: Sequence[Ids]) -> Ids:
        """The ids of what a function of rows gives, -1 for errors."""
        rows, place = self._distinct_rows(columns)
        return self._encode([_value(function, row) for row in rows])[place]

    def test(self, function: RowFunction, columns: Sequence[Ids]) -> Truths:
        """The effective boolean values of what a function of rows gives."""
        rows, place = self._distinct_rows(columns)
        return np.array([_truth(function, row) for row in rows], np.uint8)[place]

    def _distinct_rows(self, columns: Sequence[Ids]) -> tuple[Iterable[Row], Places]:
        """Every combination of values that occurs, and where in them each row's is."""
        if not columns:
            return ((),), np.zeros(self.length, np.intp)
        numbered = [distinct(column) for column in columns]
        values = [self._values(ids) for ids, _ in numbered]
        if len(columns) == 1:
            return zip(values[0], strict=True), numbered[0][1]
        combined, place = numbered[0][1], numbered[0][1]
        for ids, numbers in numbered[1:]:
            # Numbers stay below the number of rows, so that the product of two of them cannot overflow.
            combined, place = distinct(place * len(ids) + numbers)
        first = np.empty(len(combined), np.intp)
        first[place[::-1]] = np.arange(self.length - 1, -1, -1)
        rows = zip(
            *([v[i] for i in numbers[first].tolist()] for v, (_, numbers) in zip(values, numbered, strict=True)),
            strict=True,
        )
        return rows, place

    def _values(self, ids: Ids) -> list[Value | None]:
        return [None if text is None else read_term(text) for text in self.dictionary.texts(ids)]

    def _encode(self, values: list[Value | None]) -> Ids:
        ids = np.full(len(values), -1, np.int64)
        found = [i for i, value in enumerate(values) if value is not None]
        texts = [value.text() for value in values if value is not None]
        ids[found] = self.dictionary.encode(texts)
        return ids


def constant(term_id: int, length: int) -> Ids:
    """A column of one id, in the memory of one."""
    return np.ndarray((length,), np.int64, np.array((term_id,), np.int64), strides=(0,))


def distinct(column: Ids) -> tuple[Ids, Places]:
    """The different numbers of a column in order of appearance, and where in them each row's is."""
    if len(column) == 1:
        return column, np.zeros(1, np.intp)
    import pyarrow as pa  # Single elements do without.

    encoded = pa.array(np.ascontiguousarray(column)).dictionary_encode()
    return encoded.dictionary.to_numpy(zero_copy_only=False), encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp)


def _value(function: RowFunction, row: Row) -> Value | None:
    try:
        return function(row)
    except ExpressionError:
        return None


def _truth(function: RowFunction, row: Row) -> int:
    try:
        return TRUE if effective_boolean(function(row)) else FALSE
    except ExpressionError:
        return ERROR
