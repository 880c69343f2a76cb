"""Python values as literals, and terms as Python values, by XSD datatype.

Invariant: a value that is made a literal is read as an equal value of the same type, and equal values of one type are one
literal, spelled as computed literals are. What Python cannot hold exactly is its lexical form.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from millstream.operators.expressions.values import values as v
from millstream.operators.expressions.values.dates import Moment, moment
from millstream.operators.expressions.values.durations import Duration

_MOST_ZONE_MINUTES = 14 * 60
_DAY_TIME = v.XSD + "dayTimeDuration"


def literal_text(value: object) -> str | None:
    """The N-Triples text of a number, boolean, date, time or timedelta; None for what is none of these.

    Raises ValueError for what XSD does not have.

    >>> literal_text(2.5), literal_text(datetime.date(2024, 2, 29))[:12]
    ('"2.5"^^<http://www.w3.org/2001/XMLSchema#double>', '"2024-02-29"')
    """
    match value:
        case bool() | np.bool_():
            return v.boolean(bool(value)).text()
        case Integral():
            return v.integer(int(value)).text()
        case float() | np.floating():
            return v.computed(v.DOUBLE, float(value)).text()
        case Decimal():
            if not value.is_finite():
                raise ValueError(f"xsd:decimal has no {value}; write float('{value}')")
            return v.computed(v.DECIMAL, value).text()
        case datetime.timedelta():
            seconds = Decimal(value // datetime.timedelta(microseconds=1)).scaleb(-6)
            return v.Value(v.DURATION, Duration(0, seconds), _DAY_TIME).text()
        case datetime.datetime() if value == value:
            at = moment(value.year, value.month, value.day, value.hour, value.minute, _second(value), _zone(value))
            return v.computed(v.DATE_TIME, at).text()
        case datetime.date() if value == value:
            return v.computed(v.DATE, moment(value.year, value.month, value.day, 0, 0, Decimal(0), None)).text()
        case datetime.time():
            at = moment(1972, 12, 1, value.hour, value.minute, _second(value), _zone(value))
            return v.computed(v.TIME, at).text()
    return None


def _second(value: datetime.datetime | datetime.time) -> Decimal:
    return Decimal(value.second) + Decimal(value.microsecond).scaleb(-6)


def _zone(value: datetime.datetime | datetime.time) -> int | None:
    offset = value.utcoffset()
    if offset is None:
        return None
    minutes, rest = divmod(offset, datetime.timedelta(minutes=1))
    if rest or abs(minutes) > _MOST_ZONE_MINUTES:
        raise ValueError(f"XSD has time zones of whole minutes up to 14:00, got {offset}")
    return minutes


def python_of(term: NamedNode | BlankNode | Literal | Triple) -> Any:
    """The Python value of a term: IRIs are strings, blank nodes their labels after `_:`, literals what their datatype says.

    >>> python_of(Literal("7", datatype=NamedNode(v.XSD + "byte"))), python_of(Literal("chat", language="fr"))
    (7, 'chat')
    """
    if isinstance(term, NamedNode):
        return term.value
    if not isinstance(term, Literal):
        return str(term)
    value = v.literal(term.value, term.datatype.value)
    found: Any = None
    match value.space:
        case v.BOOLEAN | v.INTEGER | v.DECIMAL | v.FLOAT | v.DOUBLE:
            return value.value
        case v.DATE_TIME | v.DATE | v.TIME:
            found = _python_moment(value.space, value.value)
        case v.DURATION if value.datatype == _DAY_TIME:
            microseconds = _microseconds(value.value.seconds)
            if microseconds is not None and abs(value.value.seconds) < 86400 * 10**9:
                found = datetime.timedelta(microseconds=microseconds)
    return term.value if found is None else found


def _microseconds(seconds: Decimal) -> int | None:
    """How many there are, unless it is more exact than that."""
    scaled = seconds.scaleb(6)
    return int(scaled) if scaled == scaled.to_integral_value() else None


def _python_moment(space: v.Space, at: Moment) -> datetime.datetime | datetime.date | datetime.time | None:
    microseconds = _microseconds(at.second)
    if not 1 <= at.year <= 9999 or microseconds is None:
        return None
    if space == v.DATE:
        return None if at.zone is not None else datetime.date(at.year, at.month, at.day)
    zone = None if at.zone is None else datetime.timezone(datetime.timedelta(minutes=at.zone))
    clock = datetime.time(at.hour, at.minute, *divmod(microseconds, 1_000_000), tzinfo=zone)
    return clock if space == v.TIME else datetime.datetime.combine(datetime.date(at.year, at.month, at.day), clock)
