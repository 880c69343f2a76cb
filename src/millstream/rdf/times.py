"""XSD values that say when something happened, as milliseconds since 1970-01-01T00:00:00Z.

Calendar arithmetic is the proleptic Gregorian of XSD 1.1 over any year (year 0 is 1 BCE), which Python's datetime does
not reach. Invariant: every result is a time that an engine can count, from `MIN_MS` to `MAX_MS`.
"""

from __future__ import annotations

import re
import time

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from millstream.errors import DataError

XSD = "http://www.w3.org/2001/XMLSchema#"
# Four ticks to a millisecond, and room for windows: so many fit the 64 bits of a tick.
MIN_MS, MAX_MS = -(2**59) + 1, 2**59 - 1
OUT_OF_RANGE = "a time lies between -2^59 and 2^59 milliseconds"

_DAY_MS = 86_400_000
_INTEGERS = frozenset(
    XSD + name
    for name in "integer long int short byte unsignedLong unsignedInt unsignedShort unsignedByte nonNegativeInteger "
    "positiveInteger nonPositiveInteger negativeInteger".split()
)
# 13 digits of year are far outside 64 bits of milliseconds, and int() refuses texts of thousands of digits.
_YEAR = r"(?P<year>-?(?:[1-9][0-9]{3,12}|0[0-9]{3}))"
_ZONE = r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
_DATE = re.compile(rf"{_YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}}){_ZONE}")
_DATE_TIME = re.compile(
    rf"{_YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})"
    rf"T(?P<hour>[0-9]{{2}}):(?P<minute>[0-9]{{2}}):(?P<second>[0-9]{{2}})(?:\.(?P<fraction>[0-9]+))?{_ZONE}"
)
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
_MONTH_DAYS = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def now_ms() -> int:
    """What the clock on the wall says."""
    return time.time_ns() // 1_000_000


def time_ms(value: Literal | NamedNode | BlankNode | Triple) -> int:
    """The milliseconds a literal states: dateTime, dateTimeStamp, date, any integer type, or a plain dateTime or date.

    >>> time_ms(Literal("1970-01-01T00:00:01.0019Z", datatype=NamedNode(XSD + "dateTime")))
    1001
    """
    if not isinstance(value, Literal):
        raise DataError(f"a time must be a literal, got {value}")
    datatype = value.datatype.value
    if value.language is not None:
        raise DataError(f"a time must be an xsd:dateTime, xsd:date or xsd:integer, got {value}")
    # JSON-LD without a type coercion gives plain strings: a complete date and time cannot be meant otherwise.
    if datatype == XSD + "string":
        parse = date_ms if _DATE.fullmatch(_collapse(value.value)) else date_time_ms
        return parse(value.value)
    if datatype == XSD + "dateTime":
        return date_time_ms(value.value)
    if datatype == XSD + "dateTimeStamp":
        return date_time_ms(value.value, zone_required=True)
    if datatype == XSD + "date":
        return date_ms(value.value)
    if datatype in _INTEGERS:
        return integer_ms(value.value)
    raise DataError(f"a time must be an xsd:dateTime, xsd:date or xsd:integer, got {value}")


def date_time_ms(lexical: str, *, zone_required: bool = False) -> int:
    """The milliseconds of an xsd:dateTime; without a time zone it is UTC, beyond milliseconds it is rounded down."""
    match = _DATE_TIME.fullmatch(_collapse(lexical))
    if match is None:
        raise DataError(f"not an xsd:dateTime: {lexical!r}")
    if zone_required and match["zone"] is None:
        raise DataError(f"an xsd:dateTimeStamp needs a time zone: {lexical!r}")
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"])
    fraction = match["fraction"] or ""
    end_of_day = hour == 24 and minute == second == 0 and not fraction.strip("0")
    if not end_of_day and (hour > 23 or minute > 59 or second > 59):
        raise DataError(f"not a time of day in xsd:dateTime {lexical!r}")
    in_day = ((hour * 60 + minute) * 60 + second) * 1000 + int(fraction[:3].ljust(3, "0"))
    return _within_range(_days(match, lexical) * _DAY_MS + in_day - _zone_ms(match["zone"], lexical), lexical)


def date_ms(lexical: str) -> int:
    """The milliseconds at which an xsd:date begins; without a time zone in UTC."""
    match = _DATE.fullmatch(_collapse(lexical))
    if match is None:
        raise DataError(f"not an xsd:date: {lexical!r}")
    return _within_range(_days(match, lexical) * _DAY_MS - _zone_ms(match["zone"], lexical), lexical)


def integer_ms(lexical: str) -> int:
    """An integer that already counts milliseconds."""
    text = _collapse(lexical)
    if _INTEGER.fullmatch(text) is None:
        raise DataError(f"not an integer of milliseconds: {lexical[:60]!r}")
    return _within_range(int(text), lexical)


def days_of_date(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01, by counting from the first of March, so that a leap day ends its year."""
    era, of_era = divmod(year - (month <= 2), 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def days_in_month(year: int, month: int) -> int:
    """How many days a month has."""
    if month == 2 and (year % 4 != 0 or (year % 100 == 0 and year % 400 != 0)):
        return 28
    return _MONTH_DAYS[month]


def _days(match: re.Match[str], lexical: str) -> int:
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    if not 1 <= month <= 12:
        raise DataError(f"no such month in {lexical!r}")
    if not 1 <= day <= days_in_month(year, month):
        raise DataError(f"no such day in {lexical!r}")
    return days_of_date(year, month, day)


def _zone_ms(zone: str | None, lexical: str) -> int:
    if zone is None or zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        raise DataError(f"no such time zone in {lexical!r}")
    offset = (hours * 60 + minutes) * 60_000
    return -offset if zone[0] == "-" else offset


def _within_range(ms: int, lexical: str) -> int:
    if not MIN_MS <= ms <= MAX_MS:
        raise DataError(f"the time is {lexical!r}: {OUT_OF_RANGE}")
    return ms


def _collapse(lexical: str) -> str:
    # The white space facet of these types: only XML's four characters, not all that str.strip() takes.
    return lexical.strip(" \t\r\n")
