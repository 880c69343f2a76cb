"""The arithmetic operators of section 17.3 and the functions on numerics of section 17.4.4."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from millstream.operators.expressions.bounds import Bounds
from millstream.operators.expressions.values import numbers
from millstream.operators.expressions.values.values import (
    DECIMAL,
    FLOAT,
    INTEGER,
    ExpressionError,
    Space,
    Value,
    computed,
)


def promoted(left: Value, right: Value) -> tuple[Space, Any, Any]:
    """Two numbers in the type that both are promoted to: integer, decimal, float, double in this order."""
    space = left.space if left.space >= right.space else right.space
    return space, promote(left, space), promote(right, space)


def promote(number: Value, space: Space) -> Any:
    """A number's value in its own or a later type."""
    value = number.value
    if number.space >= FLOAT or space <= INTEGER or number.space == space:
        return value
    if space == DECIMAL:
        return Decimal(value)
    return numbers.single_of(value) if space == FLOAT else numbers.double_of(value)


def calculate(bounds: Bounds, operator: str, left: Value, right: Value) -> Value:
    """One of `+`, `-`, `*`, `/`; what two integers are divided into is a decimal."""
    if not left.is_numeric or not right.is_numeric:
        raise ExpressionError
    space, x, y = promoted(left, right)
    if operator == "/":
        return _divide(bounds, space, x, y)
    if space == INTEGER:
        return exact_number(bounds, space, x + y if operator == "+" else x - y if operator == "-" else x * y)
    if space == DECIMAL:
        exact = numbers.EXACT
        operation = exact.add if operator == "+" else exact.subtract if operator == "-" else exact.multiply
        return exact_number(bounds, space, operation(x, y))
    value = x + y if operator == "+" else x - y if operator == "-" else x * y
    return computed(space, numbers.to_single(value) if space == FLOAT else value)


def exact_number(bounds: Bounds, space: Space, value: Any) -> Value:
    """An integer or decimal that was computed; of numbers with no more digits than there may be, it has few more."""
    return computed(space, bounds.check_integer(value) if space == INTEGER else bounds.check_decimal(value))


def _divide(bounds: Bounds, space: Space, x: Any, y: Any) -> Value:
    if space <= DECIMAL:
        if y == 0:
            raise ExpressionError
        return exact_number(bounds, DECIMAL, numbers.divide_decimals(Decimal(x), Decimal(y)))
    value = numbers.divide_doubles(x, y)
    return computed(space, numbers.to_single(value) if space == FLOAT else value)


def plus(operand: Value) -> Value:
    if not operand.is_numeric:
        raise ExpressionError
    return computed(operand.space, operand.value)


def minus(operand: Value) -> Value:
    if not operand.is_numeric:
        raise ExpressionError
    value = operand.value
    return computed(operand.space, value.copy_negate() if operand.space == DECIMAL else -value)


def _numeric(
    on_decimal: Callable[[Any], Any], on_double: Callable[[Any], Any], on_integer: Callable[[int], int] = int
) -> Callable[[Bounds, Value], Value]:
    def function(bounds: Bounds, operand: Value) -> Value:
        if not operand.is_numeric:
            raise ExpressionError
        if operand.space == INTEGER:
            return exact_number(bounds, INTEGER, on_integer(operand.value))
        if operand.space == DECIMAL:
            return exact_number(bounds, DECIMAL, on_decimal(operand.value))
        return computed(operand.space, on_double(operand.value))

    return function


absolute = _numeric(lambda d: d.copy_abs(), abs, abs)
round_half_up = _numeric(numbers.round_decimal, numbers.round_double)
ceil = _numeric(numbers.ceil_decimal, numbers.ceil_double)
floor = _numeric(numbers.floor_decimal, numbers.floor_double)
