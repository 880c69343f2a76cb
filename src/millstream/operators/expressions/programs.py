"""Expressions as row programs (`kernels.rows.row_program`): steps for what kernels do, definitions for the rest.

A kernel is a faster implementation of what `rows` defines. A part of an expression has steps if all of its parts have; below
`&&`, `||` and `!` each operand has its own way.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from pyoxigraph import Literal, NamedNode, Variable

from millstream.kernels.dictionary.kinds import KIND_SHIFT, Kind
from millstream.kernels.rows.definition import Definition, TextTest
from millstream.kernels.rows.row_operations import Operation
from millstream.kernels.rows.row_program import RowProgram
from millstream.language import algebra as a
from millstream.language.scope import mentioned
from millstream.operators.expressions.values.values import DOUBLE, XSD, ExpressionError, read_term

if TYPE_CHECKING:
    from millstream.operators.expressions.evaluator import Evaluator

Step: TypeAlias = tuple[int, int]
"""An operation and its argument."""

_ARITHMETIC = {"+": Operation.ADD, "-": Operation.SUBTRACT, "*": Operation.MULTIPLY, "/": Operation.DIVIDE}
_COMPARISONS = {
    "=": Operation.EQUAL,
    "!=": Operation.UNEQUAL,
    "<": Operation.LESS,
    ">": Operation.GREATER,
    "<=": Operation.LESS_OR_EQUAL,
    ">=": Operation.GREATER_OR_EQUAL,
}
_FUNCTIONS = {
    "ABS": Operation.ABS,
    "BOUND": Operation.BOUND,
    "CEIL": Operation.CEIL,
    "FLOOR": Operation.FLOOR,
    "ISBLANK": Operation.IS_BLANK,
    "ISIRI": Operation.IS_IRI,
    "ISLITERAL": Operation.IS_LITERAL,
    "ISNUMERIC": Operation.IS_NUMERIC,
    "ISURI": Operation.IS_IRI,
    "ROUND": Operation.ROUND,
    **{name: Operation[name] for name in ("STR", "LANG", "STRLEN", "LCASE", "UCASE")},
    **{name: Operation[name] for name in ("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS")},
}
_OF_TWO = {
    "SAMETERM": Operation.SAME,
    **{name: Operation[name] for name in ("CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER", "SUBSTR")},
}

_ASKED = (Operation.DEFINED, Operation.MATCHES)
"""Steps that call Python."""
_MOST_COMPARED = 3
"""Choices of IN beyond which constants are looked up."""
_MOST_CHOICES = 32
"""Choices of IN that have steps if some are no constants."""


class ProgramWriter:
    """Writes a program over columns of some variables: tests, computed columns, other names."""

    def __init__(self, evaluator: Evaluator, variables: Sequence[object]) -> None:
        self._evaluator = evaluator
        self._width = self._next = len(variables)
        self.places = {v: i for i, v in enumerate(variables) if isinstance(v, Variable)}
        """Where the columns of variables are, given or computed."""
        self._steps: list[Step] = []
        self._definitions: list[Definition] = []
        self._choices: list[list[int]] = []
        self._tests: list[TextTest] = []
        self.constants: list[int] = []
        """Ids that the steps mention. Whoever runs the program holds them."""

    def test(self, expression: a.Expression) -> None:
        """Has rows dropped unless the effective boolean value is true."""
        self._write(expression)
        self._steps.append((Operation.TEST, self._define(expression, truth=True)))

    def compute(self, variable: Variable, expression: a.Expression) -> None:
        """Gives a variable a column: another one's, or one that is computed."""
        if isinstance(expression, Variable):
            if expression in self.places:
                self.places[variable] = self.places[expression]
            return
        start = len(self._steps)
        self._write(expression)
        if self._steps[-1][0] == Operation.DOUBLE:
            self._replace(start, expression)
        self._steps.append((Operation.STORE, self._define(expression)))
        self.places[variable] = self._next
        self._next += 1

    def program(self, outputs: Sequence[Variable] = ()) -> RowProgram:
        """The program; the columns of these variables stay."""
        places = [self.places.get(v, -1) for v in outputs]
        return RowProgram(
            self._evaluator.dictionary,
            self._width,
            self._steps,
            places,
            self._definitions,
            self._choices,
            self._tests,
            most_bytes=self._evaluator.bounds.value_bytes,
        )

    # Definitions

    def _define(self, expression: a.Expression, *, truth: bool = False) -> int:
        """The number of an expression's definition."""
        variables = sorted((v for v in mentioned(expression) if v in self.places), key=lambda v: self.places[v])
        function = self._evaluator.definition(expression, variables, truth=truth)
        places = [self.places[v] for v in variables]
        self._definitions.append(Definition(self._evaluator.dictionary, function, places))
        return len(self._definitions) - 1

    def _replace(self, start: int, expression: a.Expression) -> None:
        """Has a definition compute what the steps from a place on would."""
        del self._steps[start:]
        self._steps.append((Operation.DEFINED, self._define(expression)))

    # Steps

    def _write(self, expression: a.Expression) -> None:
        """Adds steps that push an expression's value."""
        start = len(self._steps)
        match expression:
            case a.And(left, right):
                self._connect(left, right, Operation.AND, Operation.SKIP_IF_FALSE)
            case a.Or(left, right):
                self._connect(left, right, Operation.OR, Operation.SKIP_IF_TRUE)
            case a.Not(operand):
                self._write(operand)
                self._steps.append((Operation.NOT, 0))
            case _ if not self._compile(expression):
                self._replace(start, expression)

    def _connect(self, left: a.Expression, right: a.Expression, operation: int, skip: int) -> None:
        """Of `&&` and `||` Python is not asked for a second operand that would decide nothing."""
        self._write(left)
        start = len(self._steps)
        self._write(right)
        self._steps.append((operation, 0))
        if any(step[0] in _ASKED for step in self._steps[start:]):
            self._steps.insert(start, (skip, len(self._steps) - start))

    def _compile(self, expression: a.Expression) -> bool:
        """Adds steps without definitions that push an expression's value; False if some part has none."""
        match expression:
            case a.Arithmetic(operator, left, right):
                return self._both(left, right, _ARITHMETIC[operator])
            case a.Comparison(operator, left, right):
                return self._both(left, right, _COMPARISONS[operator])
            case a.And(left, right):
                return self._both(left, right, Operation.AND)
            case a.Or(left, right):
                return self._both(left, right, Operation.OR)
            case a.Not(operand):
                return self._one(operand, Operation.NOT)
            case a.UnaryMinus(operand):
                return self._one(operand, Operation.MINUS)
            case a.UnaryPlus(operand):
                return self._one(operand, Operation.PLUS)
            case a.In(operand, choices):
                return self._member(operand, choices)
            case a.FunctionCall(str() as function, (operand,)) if function in _FUNCTIONS:
                return self._one(operand, _FUNCTIONS[function])
            case a.FunctionCall(str() as function, (left, right)) if function in _OF_TWO:
                return self._both(left, right, _OF_TWO[function])
            case a.FunctionCall("SUBSTR", (text, start, length)):
                return self._compile(text) and self._both(start, length, Operation.SUBSTR_OF)
            case a.FunctionCall("CONCAT", (first, *others)) if others:
                return self._compile(first) and all(self._one(other, Operation.CONCAT) for other in others)
            case a.FunctionCall("REGEX", (text, *constants)):
                return self._matches(text, constants)
            case a.FunctionCall("IF", (condition, then, otherwise)):
                return self._compile(condition) and self._chosen((then, otherwise), (Operation.CHOOSE,))
            case a.FunctionCall("COALESCE", choices) if choices:
                return self._chosen(choices, (Operation.OTHERWISE,) * (len(choices) - 1))
            case Variable():
                place = self.places.get(expression, -1)
                self._steps.append((Operation.CONSTANT, -1) if place < 0 else (Operation.COLUMN, place))
                return True
            case NamedNode() | Literal():
                return self._constant(expression)
            case _:
                return False

    def _one(self, operand: a.Expression, operation: int) -> bool:
        if not self._compile(operand):
            return False
        self._steps.append((operation, 0))
        return True

    def _both(self, left: a.Expression, right: a.Expression, operation: int) -> bool:
        return self._compile(left) and self._one(right, operation)

    def _chosen(self, choices: tuple[a.Expression, ...], operations: tuple[int, ...]) -> bool:
        """All choices, and what chooses; a double that is chosen keeps its spelling, which a program does not know.

        All are computed, so none may be work for Python.
        """
        start = len(self._steps)
        for choice in choices:
            if not self._compile(choice) or self._steps[-1][0] == Operation.DOUBLE:
                return False
        if any(step[0] in _ASKED for step in self._steps[start:]):
            return False
        self._steps += [(operation, 0) for operation in operations]
        return True

    def _member(self, operand: a.Expression, choices: tuple[a.Expression, ...]) -> bool:
        constants = [self._term_id(choice) for choice in choices if isinstance(choice, NamedNode | Literal)]
        if len(choices) > _MOST_COMPARED and len(constants) == len(choices) and not any(map(_is_outside, constants)):
            if not self._compile(operand):
                return False
            self._steps.append((Operation.MEMBER, len(self._choices)))
            self._choices.append(constants)
            self.constants += constants
            return True
        if not isinstance(operand, Variable) or not 0 < len(choices) <= _MOST_CHOICES:
            return False
        for number, choice in enumerate(choices):
            if not self._both(operand, choice, Operation.EQUAL):
                return False
            if number:
                self._steps.append((Operation.OR, 0))
        return True

    def _matches(self, text: a.Expression, constants: Sequence[a.Expression]) -> bool:
        """REGEX with a pattern, and flags, that are known."""
        texts = [c.value for c in constants if isinstance(c, Literal) and c.datatype.value == XSD + "string"]
        if len(texts) < len(constants) or not self._compile(text):
            return False
        try:
            test = self._evaluator.regex(*texts)
        except ExpressionError:  # A pattern that is none fails for every row.
            return False
        self._steps.append((Operation.MATCHES, len(self._tests)))
        self._tests.append(TextTest(self._evaluator.dictionary, test))
        return True

    def _term_id(self, constant: NamedNode | Literal) -> int:
        return self._evaluator.dictionary.encode_one(str(constant))

    def _constant(self, constant: NamedNode | Literal) -> bool:
        term_id = self._term_id(constant)
        if not _is_outside(term_id):
            self._steps.append((Operation.CONSTANT, term_id))
            self.constants.append(term_id)
            return True
        value = read_term(str(constant))
        if value.space != DOUBLE:
            return False
        self._steps.append((Operation.DOUBLE, *struct.unpack("<q", struct.pack("<d", value.value))))
        return True


def _is_outside(term_id: int) -> bool:
    """Whether an id is of a typed literal in the dictionary."""
    return term_id >> KIND_SHIFT == Kind.TYPED


def is_leaf(expression: a.Expression) -> bool:
    return isinstance(expression, Variable | NamedNode | Literal)
