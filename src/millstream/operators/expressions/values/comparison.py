"""`=`, `<`, effective boolean values and sameTerm: sections 17.2.2, 17.3 and 17.4.1.

Where the table of operators has no row for two literals, `=` is RDFterm-equal, which says error unless they are the
same term. Section 17.3.1 lets an implementation that knows both value spaces answer instead: values of different known
spaces are different, and a string with a language differs from every literal without one, whatever its type.
"""

from __future__ import annotations

import math

from millstream.operators.expressions.functions.arithmetic import promoted
from millstream.operators.expressions.values import dates, durations
from millstream.operators.expressions.values.values import (
    BOOLEAN,
    DURATION,
    ILL_TYPED,
    LANGUAGE,
    NUMERIC_TYPES,
    STRING,
    XSD,
    ExpressionError,
    Space,
    Value,
)


def equal(left: Value, right: Value) -> bool:
    """The operator `=`."""
    if left.is_numeric and right.is_numeric:
        _, x, y = promoted(left, right)
        return bool(x == y)
    if not left.is_literal or not right.is_literal:
        return left.same_term(right)
    if LANGUAGE in (left.space, right.space):
        return left.same_term(right)
    if left.space >= ILL_TYPED or right.space >= ILL_TYPED:
        if left.same_term(right):
            return True
        raise ExpressionError
    if left.space != right.space:
        return False
    if left.space in (STRING, BOOLEAN):
        return bool(left.value == right.value)
    if left.space == DURATION:
        return durations.equal(left.value, right.value)
    return _determined(dates.compare(left.value, right.value)) == 0


def order(left: Value, right: Value) -> int | None:
    """-1, 0 or 1 for operands of `<`; None beside NaN, which is neither less nor equal nor greater."""
    if left.is_numeric and right.is_numeric:
        _, x, y = promoted(left, right)
        return None if isinstance(x, float) and (math.isnan(x) or math.isnan(y)) else (x > y) - (x < y)
    if left.space != right.space or not left.is_literal or left.space >= ILL_TYPED:
        raise ExpressionError
    if left.space == LANGUAGE and left.language != right.language:
        raise ExpressionError
    if left.space in (STRING, LANGUAGE, BOOLEAN):
        # Python compares strings by code points, as XPath's default collation does.
        return int(left.value > right.value) - int(left.value < right.value)
    if left.space == DURATION:
        return _determined(durations.compare(left.value, right.value))
    return _determined(dates.compare(left.value, right.value))


def _determined(found: int | None) -> int:
    if found is None:
        raise ExpressionError
    return found


def compare(operator: str, left: Value, right: Value) -> bool:
    """One of `=`, `!=`, `<`, `>`, `<=`, `>=`."""
    if operator == "=":
        return equal(left, right)
    if operator == "!=":
        return not equal(left, right)
    found = order(left, right)
    if found is None:
        return False
    return {"<": found < 0, ">": found > 0, "<=": found <= 0, ">=": found >= 0}[operator]


def effective_boolean(value: Value) -> bool:
    """Section 17.2.2. Ill-typed booleans and numbers are false; everything else without such a value is an error."""
    space = value.space
    if space == BOOLEAN:
        return bool(value.value)
    if space in (STRING, LANGUAGE):
        return bool(value.value)
    if Space.INTEGER <= space <= Space.DOUBLE:
        return bool(value.value != 0) and not (isinstance(value.value, float) and math.isnan(value.value))
    if space == ILL_TYPED and (value.datatype == XSD + "boolean" or value.datatype in NUMERIC_TYPES):
        return False
    raise ExpressionError
