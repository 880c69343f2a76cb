"""Total orders of terms, as keys that Python compares: for MIN, MAX and ORDER BY, and for what needs any one order.

Both start alike: blank nodes by label, IRIs, numbers, other literals. *Term order* goes on with a number's double, then
lexical form, language and datatype. *Value order* is `<` where that has an answer: numbers exactly, NaN after all others;
what has no `<` between its kinds is ordered by kind, and ties are broken as in term order. Where `<` leaves it open, for
moments of which one has no zone and for durations with months, UTC and months from September 1696 decide, which
contradicts no answer.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from millstream.operators.expressions import durations
from millstream.operators.expressions.numbers import double_of
from millstream.operators.expressions.values import BLANK, BOOLEAN, DATE_TIME, DURATION, IRI, Space, Value

Key: TypeAlias = tuple[Any, ...]

_BLANK, _IRI, _NUMBER, _OTHER = 1, 2, 3, 4
_TEXT, _TRUTH = 100, 101


def term_key(value: Value) -> Key:
    """A term's place in term order; distinct terms have distinct keys."""
    if not value.is_literal:
        return _name(value)
    rest = (value.lexical, value.language, value.datatype)
    if not value.is_numeric:
        return (_OTHER, *rest)
    number = value.value if isinstance(value.value, float) else double_of(value.value)
    return (_NUMBER, *_number(number), *rest)


def value_key(value: Value) -> Key:
    """A term's place in value order; distinct terms have distinct keys."""
    if not value.is_literal:
        return _name(value)
    rest = (value.lexical, value.language, value.datatype)
    if value.is_numeric:
        return (_NUMBER, *_number(value.value), *rest)
    return (_OTHER, *_other(value), *rest)


def _name(value: Value) -> Key:
    return (_IRI if value.space == IRI else _BLANK if value.space == BLANK else _OTHER, value.lexical)


def _number(number: Any) -> Key:
    """Python compares ints, Decimals and floats exactly; only NaN has no place among them."""
    return (1, 0) if isinstance(number, float) and math.isnan(number) else (0, number)


def _other(value: Value) -> Key:
    space = value.space
    if DATE_TIME <= space <= Space.G_DAY:
        return (int(space), value.value.instant_s)
    if space == DURATION:
        return (int(space), *durations.key(value.value))
    if space == BOOLEAN:
        return (_TRUTH, value.value)
    return (_TEXT,)
