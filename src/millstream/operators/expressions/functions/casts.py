"""The constructor functions of section 17.5, called by the datatype's IRI.

Casting follows XPath: strings are read with white space around them dropped, numbers convert by value. A literal of
another or no known type casts to xsd:string by its lexical form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

from millstream.operators.expressions.values import dates, numbers
from millstream.operators.expressions.values.durations import Duration, spell_year_month
from millstream.operators.expressions.values.values import (
    BOOLEAN,
    DATE,
    DATE_TIME,
    DECIMAL,
    DOUBLE,
    DURATION,
    FLOAT,
    INTEGER,
    IRI,
    READERS,
    STRING,
    TIME,
    XSD,
    ExpressionError,
    Space,
    Value,
    boolean,
    computed,
    string,
)


def _read(value: Value, datatype: str) -> Value:
    """A simple literal read as a datatype, spelled canonically."""
    if value.space != STRING:
        raise ExpressionError
    space, reader = READERS[datatype]
    lexical = value.value.strip(" \t\n\r")
    found = reader(lexical) if len(lexical) <= numbers.LONGEST else None
    if found is None:
        raise ExpressionError
    return Value(space, found, datatype)


def to_string(value: Value) -> Value:
    """IRIs and other literals by their text, values canonically: doubles of unusual size with an exponent."""
    if value.space == IRI:
        return string(value.value)
    if not value.is_literal:
        raise ExpressionError
    if value.space in (FLOAT, DOUBLE) and math.isfinite(value.value):
        size = abs(value.value)
        plain = Value(value.space, value.value).lexical
        return string(plain if size == 0 or 1e-6 <= size < 1e6 else _scientific(plain))
    if BOOLEAN <= value.space <= TIME:
        return string(Value(value.space, value.value).lexical)
    return string(value.lexical)


def _scientific(plain: str) -> str:
    sign, digits, exponent = Decimal(plain).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    assert isinstance(exponent, int)
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{exponent + len(digits) - 1}"


def to_boolean(value: Value) -> Value:
    if value.space == BOOLEAN:
        return boolean(value.value)
    if value.is_numeric:
        nan = isinstance(value.value, float) and math.isnan(value.value)
        return boolean(value.value != 0 and not nan)
    return _read(value, XSD + "boolean")


def to_integer(value: Value) -> Value:
    if value.space == BOOLEAN or value.is_numeric:
        if isinstance(value.value, float) and not math.isfinite(value.value):
            raise ExpressionError
        return computed(INTEGER, int(value.value))
    return _read(value, XSD + "integer")


def to_decimal(value: Value) -> Value:
    if value.space == BOOLEAN or value.is_numeric:
        if isinstance(value.value, float) and not math.isfinite(value.value):
            raise ExpressionError
        return computed(DECIMAL, Decimal(value.value))
    return _read(value, XSD + "decimal")


def to_float(value: Value) -> Value:
    if value.space == BOOLEAN or value.is_numeric:
        exact = value.space not in (FLOAT, DOUBLE)
        return computed(FLOAT, numbers.single_of(value.value) if exact else numbers.to_single(value.value))
    return _read(value, XSD + "float")


def to_double(value: Value) -> Value:
    if value.space == BOOLEAN or value.is_numeric:
        return computed(DOUBLE, numbers.double_of(value.value))
    return _read(value, XSD + "double")


def _moment(space: Space) -> Callable[[Value], Value]:
    """A dateTime gives its date, its time, and itself; a date the dateTime of its start; the rest is read."""
    datatype = {DATE_TIME: XSD + "dateTime", DATE: XSD + "date", TIME: XSD + "time"}[space]

    def cast(value: Value) -> Value:
        if value.space == space or (value.space == DATE and space == DATE_TIME):
            return computed(space, value.value)
        if value.space != DATE_TIME:
            return _read(value, datatype)
        m: dates.Moment = value.value
        if space == DATE:
            return computed(DATE, dates.moment(m.year, m.month, m.day, 0, 0, Decimal(0), m.zone))
        return computed(TIME, dates.moment(1972, 12, 1, m.hour, m.minute, m.second, m.zone))

    return cast


def _duration(name: str) -> Callable[[Value], Value]:
    datatype = XSD + name

    def cast(value: Value) -> Value:
        if value.space != DURATION:
            value = _read(value, datatype)
        months = 0 if name == "dayTimeDuration" else value.value.months
        seconds = Decimal(0) if name == "yearMonthDuration" else value.value.seconds
        duration = Duration(months, seconds)
        return Value(DURATION, duration, datatype, spell_year_month(duration) if name == "yearMonthDuration" else None)

    return cast


CASTS: dict[str, Callable[[Value], Value]] = {
    XSD + "string": to_string,
    XSD + "boolean": to_boolean,
    XSD + "integer": to_integer,
    XSD + "decimal": to_decimal,
    XSD + "float": to_float,
    XSD + "double": to_double,
    XSD + "dateTime": _moment(DATE_TIME),
    XSD + "date": _moment(DATE),
    XSD + "time": _moment(TIME),
    XSD + "duration": _duration("duration"),
    XSD + "dayTimeDuration": _duration("dayTimeDuration"),
    XSD + "yearMonthDuration": _duration("yearMonthDuration"),
}
