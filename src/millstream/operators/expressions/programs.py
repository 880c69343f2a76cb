"""Arithmetic, comparisons and logic as steps of a row program (`kernels.rows.row_program`), which decides most rows by
itself.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode, Variable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.dictionary.kinds import Kind
from millstream.kernels.rows.row_operations import Operation
from millstream.language import algebra as a
from millstream.operators.expressions.values.values import DOUBLE, read_term

Step: TypeAlias = tuple[int, int]
"""An operation and its argument."""

Leaf: TypeAlias = Callable[[a.Expression], Step | None]
"""The step that pushes a variable, a constant or whatever else the caller has a column for; None if there is none."""

_KIND_SHIFT = 59

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
}


_MOST_CHOICES = 32


def leaf_of(places: Mapping[Variable, int], dictionary: Dictionary) -> Leaf:
    """The steps of variables, by the places of their columns, and of constants."""

    def leaf(expression: a.Expression) -> Step | None:
        match expression:
            case Variable():
                place = places.get(expression, -1)
                return (Operation.CONSTANT, -1) if place < 0 else (Operation.COLUMN, place)
            case NamedNode() | Literal():
                return constant_step(expression, dictionary)
            case _:
                return None

    return leaf


def steps_of(expression: a.Expression, leaf: Leaf) -> list[Step] | None:
    """The steps that push an expression's value; None if a part of it has none."""
    steps: list[Step] = []
    return steps if _write(expression, leaf, steps) else None


def _write(expression: a.Expression, leaf: Leaf, steps: list[Step]) -> bool:
    match expression:
        case a.Arithmetic(operator, left, right):
            return _both(left, right, _ARITHMETIC[operator], leaf, steps)
        case a.Comparison(operator, left, right):
            # Texts have an order that is not in their ids: a program would leave all rows undecided.
            if operator not in ("=", "!=") and (_is_text(left) or _is_text(right)):
                return False
            return _both(left, right, _COMPARISONS[operator], leaf, steps)
        case a.And(left, right):
            return _both(left, right, Operation.AND, leaf, steps)
        case a.Or(left, right):
            return _both(left, right, Operation.OR, leaf, steps)
        case a.Not(operand):
            return _one(operand, Operation.NOT, leaf, steps)
        case a.UnaryMinus(operand):
            return _one(operand, Operation.MINUS, leaf, steps)
        case a.UnaryPlus(operand):
            return _one(operand, Operation.PLUS, leaf, steps)
        # Of many the evaluator makes a set.
        case a.In(Variable() as operand, choices) if 0 < len(choices) <= _MOST_CHOICES:
            for number, choice in enumerate(choices):
                if not _both(operand, choice, Operation.EQUAL, leaf, steps):
                    return False
                if number:
                    steps.append((Operation.OR, 0))
            return True
        case a.FunctionCall(str() as function, (operand,)) if function in _FUNCTIONS:
            return _one(operand, _FUNCTIONS[function], leaf, steps)
        case a.FunctionCall("SAMETERM", (left, right)):
            return _both(left, right, Operation.SAME, leaf, steps)
        case a.FunctionCall("IF", (condition, then, otherwise)):
            return _write(condition, leaf, steps) and _chosen((then, otherwise), leaf, steps, (Operation.CHOOSE,))
        case a.FunctionCall("COALESCE", choices) if choices:
            return _chosen(choices, leaf, steps, (Operation.OTHERWISE,) * (len(choices) - 1))
        case _:
            step = leaf(expression)
            if step is None:
                return False
            steps.append(step)
            return True


def _one(operand: a.Expression, operation: int, leaf: Leaf, steps: list[Step]) -> bool:
    if not _write(operand, leaf, steps):
        return False
    steps.append((operation, 0))
    return True


def _both(left: a.Expression, right: a.Expression, operation: int, leaf: Leaf, steps: list[Step]) -> bool:
    return _write(left, leaf, steps) and _one(right, operation, leaf, steps)


def _chosen(choices: tuple[a.Expression, ...], leaf: Leaf, steps: list[Step], operations: tuple[int, ...]) -> bool:
    """All choices, and what chooses; a double that is chosen keeps its spelling, which a program does not know."""
    for choice in choices:
        if not _write(choice, leaf, steps) or steps[-1][0] == Operation.DOUBLE:
            return False
    steps += [(operation, 0) for operation in operations]
    return True


def _is_text(expression: a.Expression) -> bool:
    return isinstance(expression, Literal) and (bool(expression.language) or str(expression).endswith('"'))


def constant_step(constant: NamedNode | Literal, dictionary: Dictionary) -> Step | None:
    """The step that pushes a constant as an operand; None for a value of which a program knows nothing.

    Whoever runs the program holds the id of a CONSTANT, unless the value is in it.
    """
    term_id = dictionary.encode_one(str(constant))
    if term_id >> _KIND_SHIFT != Kind.TYPED:
        return Operation.CONSTANT, term_id
    value = read_term(str(constant))
    return (Operation.DOUBLE, *struct.unpack("<q", struct.pack("<d", value.value))) if value.space == DOUBLE else None


def is_outside(step: Step) -> bool:
    """Whether a step pushes a term of the dictionary, so that somebody must hold it."""
    return step[0] == Operation.CONSTANT and 0 <= step[1] >> _KIND_SHIFT <= Kind.TYPED


def is_leaf(expression: a.Expression) -> bool:
    return isinstance(expression, Variable | NamedNode | Literal)
