"""Expressions as functions of whole columns of ids.

Logic, comparisons, tests of kinds and exact arithmetic work on the ids themselves wherever the values are in them;
the rows for which they are not, and every other expression, go through `rows`. That is decided row by row, so a
result never depends on what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.dictionary.kinds import Kind
from millstream.language import algebra as a
from millstream.language.scope import mentioned
from millstream.operators.expressions.batch import ERROR, FALSE, TRUE, Batch, Ids, Truths
from millstream.operators.expressions.bounds import Bounds
from millstream.operators.expressions.comparing import KIND_SHIFT, compare_columns, effective_booleans, is_member
from millstream.operators.expressions.formulas import Formula, compile_formula
from millstream.operators.expressions.programs import is_leaf
from millstream.operators.expressions.rows import Row, RowCompiler
from millstream.operators.expressions.texts import text_test
from millstream.operators.expressions.values.values import XSD, Value, boolean

TruthFunction: TypeAlias = Callable[[Batch], Truths]
IdFunction: TypeAlias = Callable[[Batch], Ids]

# Section 17.2; rows and columns in the order false, true, error.
_AND = np.array(((FALSE, FALSE, FALSE), (FALSE, TRUE, ERROR), (FALSE, ERROR, ERROR)), np.uint8)
_OR = np.array(((FALSE, TRUE, ERROR), (TRUE, TRUE, TRUE), (ERROR, TRUE, ERROR)), np.uint8)
_NOT = np.array((TRUE, FALSE, ERROR), np.uint8)

_TRUTHS = np.array((FALSE, TRUE, ERROR, ERROR), np.uint8)
"""By the last bit of a boolean's id, and the sign for an error, which has none."""

_SMALL_INTEGERS = frozenset({"DAY", "HOURS", "MINUTES", "MONTH", "STRLEN", "YEAR"})
"""Functions whose results are always in their ids."""

_KIND_TESTS = {
    "ISIRI": (Kind.IRI,),
    "ISURI": (Kind.IRI,),
    "ISBLANK": (Kind.BLANK,),
    "ISLITERAL": tuple(kind for kind in Kind if kind not in (Kind.IRI, Kind.BLANK, Kind.UNBOUND)),
    "ISNUMERIC": (Kind.INTEGER, Kind.DECIMAL),
}


class ColumnCompiler:
    """Compiles the expressions of one dictionary's ids."""

    def __init__(self, dictionary: Dictionary, now: Value, base: str | None, bounds: Bounds) -> None:
        self._bounds = bounds
        self._now = now
        self._base = base
        self._false = dictionary.encode_one(f'"false"^^<{XSD}boolean>')
        self._true = dictionary.encode_one(f'"true"^^<{XSD}boolean>')
        self._dictionary = dictionary

    # Truth.

    def truth(self, expression: a.Expression) -> TruthFunction:
        """Effective boolean values."""
        formula = None if is_leaf(expression) else self._formula(a.Not(a.Not(expression)))
        if formula is None:
            return self._truth(expression)
        # Seldom needed, and for a long expression as much work again at every level.
        otherwise = cache(lambda: self._truth(expression))

        def decide(batch: Batch) -> Truths:
            ids, undecided = formula.run(batch)
            truths: Truths = _TRUTHS[(ids & 1) | (ids >> 63 & 2)]
            if undecided is not None:
                truths[undecided] = otherwise()(batch.take(undecided, formula.reads))
            return truths

        return decide

    def _truth(self, expression: a.Expression) -> TruthFunction:
        """As `truth`, without a formula for the whole."""
        match expression:
            case a.And(left, right):
                return self._connective(left, right, _AND, FALSE)
            case a.Or(left, right):
                return self._connective(left, right, _OR, TRUE)
            case a.Not(operand):
                inner = self.truth(operand)
                return lambda batch: _NOT[inner(batch)]
            case a.Comparison(operator, left, right) if _in_columns(left) and _in_columns(right):
                first, second = self.ids(left), self.ids(right)
                return lambda batch: compare_columns(batch, operator, first(batch), second(batch))
            case a.In(operand, choices) if _in_columns(operand) and all(_is_constant(c) for c in choices):
                return self._membership(operand, choices)
            case a.FunctionCall("BOUND", (Variable() as variable,)):
                return lambda batch: (batch.column(variable) >= 0).view(np.uint8)
            case a.FunctionCall("SAMETERM", (left, right)) if _in_columns(left) and _in_columns(right):
                return _same_term(self.ids(left), self.ids(right))
            case a.FunctionCall(str() as function, (operand,)) if function in _KIND_TESTS and _in_columns(operand):
                return self._kind_test(function, operand)
            case a.FunctionCall() if (test := text_test(expression, self._bounds)) is not None:
                return test.truth
            case _ if _in_columns(expression):
                ids = self.ids(expression)
                return lambda batch: effective_booleans(batch, ids(batch), self._true, self._false)
            case _:
                by_row, variables = self._by_row(expression)
                return lambda batch: batch.test(by_row, [batch.column(v) for v in variables])

    def _connective(self, left: a.Expression, right: a.Expression, table: Truths, decisive: int) -> TruthFunction:
        first, second, needed = self.truth(left), self.truth(right), mentioned(right)

        def connect(batch: Batch) -> Truths:
            truths = first(batch)
            open_ = np.flatnonzero(truths != decisive)
            if len(open_) == batch.length:
                return table[truths, second(batch)]
            if len(open_):
                truths = truths.copy()
                truths[open_] = table[truths[open_], second(batch.take(open_, needed))]
            return truths

        return connect

    def _membership(self, operand: a.Expression, choices: tuple[a.Expression, ...]) -> TruthFunction:
        ids, texts = self.ids(operand), [str(c) for c in choices]
        return lambda batch: is_member(batch, ids(batch), batch.dictionary.encode(texts))

    def _kind_test(self, function: str, operand: a.Expression) -> TruthFunction:
        ids = self.ids(operand)
        table = np.full(len(Kind), FALSE, np.uint8)
        table[list(_KIND_TESTS[function])] = TRUE
        table[-1] = ERROR  # the last is UNBOUND, whose kind is -1 here
        if function != "ISNUMERIC":
            return lambda batch: table[ids(batch) >> KIND_SHIFT]

        def is_numeric(batch: Batch) -> Truths:
            column = ids(batch)
            truths: Truths = table[column >> KIND_SHIFT]
            typed = np.flatnonzero(column >> KIND_SHIFT == Kind.TYPED)
            if len(typed):
                truths[typed] = batch.part(len(typed)).test(_is_numeric, (column[typed],))
            return truths

        return is_numeric

    # Ids.

    def ids(self, expression: a.Expression) -> IdFunction:
        """The ids of the results, -1 for errors."""
        match expression:
            case Variable():
                return lambda batch: batch.column(expression)
            case NamedNode() | Literal():
                text = str(expression)
                return lambda batch: batch.constant(batch.dictionary.encode_one(text))
            case a.And() | a.Or() | a.Not() | a.Comparison() | a.In() | a.FunctionCall("BOUND" | "SAMETERM"):
                return self._boolean_ids(expression)
            case a.FunctionCall(str() as function) if function in _KIND_TESTS:
                return self._boolean_ids(expression)
            case a.Arithmetic() | a.UnaryMinus() | a.UnaryPlus() | a.FunctionCall("ABS" | "CEIL" | "FLOOR" | "ROUND"):
                return self._number_ids(expression)
            case a.FunctionCall("IF", (condition, then, otherwise)):
                return self._choice(condition, then, otherwise)
            case a.FunctionCall("COALESCE", choices) if choices:
                return self._coalesce(choices)
            case _:
                by_row, variables = self._by_row(expression)
                return lambda batch: batch.evaluate(by_row, [batch.column(v) for v in variables])

    def _boolean_ids(self, expression: a.Expression) -> IdFunction:
        truth, table = self.truth(expression), np.array((self._false, self._true, -1), np.int64)
        return lambda batch: table[truth(batch)]

    def _number_ids(self, expression: a.Expression) -> IdFunction:
        """Exact numbers are computed at once, and the rest by value."""
        formula = self._formula(expression)
        by_row, variables = self._by_row(expression)
        if formula is None:
            return lambda batch: batch.evaluate(by_row, [batch.column(v) for v in variables])

        def calculate(batch: Batch) -> Ids:
            ids, undecided = formula.run(batch)
            if undecided is not None:
                rest = batch.take(undecided, formula.reads)
                ids[undecided] = rest.evaluate(by_row, [rest.column(v) for v in variables])
            return ids

        return calculate

    def _formula(self, expression: a.Expression) -> Formula | None:
        return compile_formula(
            expression, self._dictionary, lambda part: self.ids(part) if _is_small_integer(part) else None
        )

    def _choice(self, condition: a.Expression, then: a.Expression, otherwise: a.Expression) -> IdFunction:
        truth, branches = self.truth(condition), ((TRUE, then), (FALSE, otherwise))
        compiled = [(value, self.ids(branch), mentioned(branch)) for value, branch in branches]

        def choose(batch: Batch) -> Ids:
            truths, results = truth(batch), np.full(batch.length, -1, np.int64)
            for value, ids, needed in compiled:
                chosen = np.flatnonzero(truths == value)
                if len(chosen):
                    results[chosen] = ids(batch.take(chosen, needed))
            return results

        return choose

    def _coalesce(self, choices: tuple[a.Expression, ...]) -> IdFunction:
        compiled = [(self.ids(choice), mentioned(choice)) for choice in choices]

        def coalesce(batch: Batch) -> Ids:
            results = np.array(compiled[0][0](batch))
            for ids, needed in compiled[1:]:
                missing = np.flatnonzero(results < 0)
                if len(missing):
                    results[missing] = ids(batch.take(missing, needed))
            return results

        return coalesce

    def _by_row(self, expression: a.Expression) -> tuple[Callable[[Row], Value], list[Variable]]:
        variables = sorted(mentioned(expression), key=lambda v: v.value)
        positions = {variable: i for i, variable in enumerate(variables)}
        return RowCompiler(positions, self._now, self._base, self._bounds).compile(expression), variables


def _is_constant(expression: a.Expression) -> bool:
    return isinstance(expression, NamedNode | Literal)


def _in_columns(expression: a.Expression) -> bool:
    """Whether its ids cost less than its values: making those would put strings into the dictionary for a moment."""
    match expression:
        case Variable() | NamedNode() | Literal():
            return True
        case _:
            return _is_small_integer(expression)


def _is_small_integer(expression: a.Expression) -> bool:
    return isinstance(expression, a.FunctionCall) and expression.function in _SMALL_INTEGERS


def _same_term(left: IdFunction, right: IdFunction) -> TruthFunction:
    def same_term(batch: Batch) -> Truths:
        first, second = left(batch), right(batch)
        truths: Truths = (first == second).view(np.uint8)
        truths[(first < 0) | (second < 0)] = ERROR
        return truths

    return same_term


def _is_numeric(row: Row) -> Value:
    return boolean(row[0] is not None and row[0].is_numeric)
