"""The functions on dates and times of section 17.4.5, for every type that has the part asked for."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from millstream.operators.expressions.values import dates
from millstream.operators.expressions.values.durations import Duration
from millstream.operators.expressions.values.values import (
    DATE,
    DATE_TIME,
    DECIMAL,
    DURATION,
    TIME,
    XSD,
    ExpressionError,
    Space,
    Value,
    computed,
    integer,
    string,
)

_WITH_YEAR = frozenset({DATE_TIME, DATE, Space.G_YEAR, Space.G_YEAR_MONTH})
_WITH_MONTH = frozenset({DATE_TIME, DATE, Space.G_YEAR_MONTH, Space.G_MONTH, Space.G_MONTH_DAY})
_WITH_DAY = frozenset({DATE_TIME, DATE, Space.G_MONTH_DAY, Space.G_DAY})
_WITH_TIME = frozenset({DATE_TIME, TIME})
_WITH_ZONE = _WITH_YEAR | _WITH_MONTH | _WITH_DAY | _WITH_TIME


def _part(name: str, spaces: frozenset[Space]) -> Callable[[Value], Value]:
    def function(value: Value) -> Value:
        if value.space not in spaces:
            raise ExpressionError
        return integer(getattr(value.value, name))

    return function


year = _part("year", _WITH_YEAR)
month = _part("month", _WITH_MONTH)
day = _part("day", _WITH_DAY)
hours = _part("hour", _WITH_TIME)
minutes = _part("minute", _WITH_TIME)


def seconds(value: Value) -> Value:
    if value.space not in _WITH_TIME:
        raise ExpressionError
    return computed(DECIMAL, value.value.second)


def timezone(value: Value) -> Value:
    """The zone as an xsd:dayTimeDuration; an error without one."""
    if value.space not in _WITH_ZONE or value.value.zone is None:
        raise ExpressionError
    return Value(DURATION, Duration(0, Decimal(value.value.zone * 60)), XSD + "dayTimeDuration")


def tz(value: Value) -> Value:
    """The zone as it is written, empty without one."""
    if value.space not in _WITH_ZONE:
        raise ExpressionError
    if value.value.zone is None:
        return string("")
    return string(dates.zone_text(value.lexical))


def now(at_ms: int) -> Value:
    """A time in milliseconds as an xsd:dateTime in UTC."""
    return computed(DATE_TIME, dates.at_instant(Decimal(at_ms).scaleb(-3)))
