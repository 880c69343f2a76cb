"""Dates and times of XML Schema 1.1: the seven properties, their place on the time line, reading, spelling, order.

A value without a zone has no one place on the time line: against a value with one it is ordered only if they lie
further apart than the 14 hours a zone can make, and comparing them is otherwise an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from millstream.operators.expressions.values.numbers import EXACT
from millstream.rdf.times import days_in_month, days_of_date

FARTHEST_ZONE_S = 14 * 3600

_ZONE = r"(?P<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?"
_YEAR = r"(?P<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))"
_DATE = rf"{_YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2}(?:\.[0-9]+)?)"
_FORMS = {
    name: re.compile(form + _ZONE)
    for name, form in {
        "dateTime": f"{_DATE}T{_TIME}",
        "date": _DATE,
        "time": _TIME,
        "gYear": _YEAR,
        "gYearMonth": rf"{_YEAR}-(?P<month>[0-9]{{2}})",
        "gMonth": r"--(?P<month>[0-9]{2})",
        "gMonthDay": r"--(?P<month>[0-9]{2})-(?P<day>[0-9]{2})",
        "gDay": r"---(?P<day>[0-9]{2})",
    }.items()
}
# What a type leaves out: a leap year, and for days a month that has all of them.
_ABSENT = {"year": "1972", "month": "12", "day": "01", "hour": "00", "minute": "00", "second": "00"}


@dataclass(frozen=True, slots=True)
class Moment:
    """The seven properties, zone in minutes (None: absent), and the seconds since 1970 in UTC, or without a zone."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: Decimal
    zone: int | None
    instant_s: Decimal


def moment(year: int, month: int, day: int, hour: int, minute: int, second: Decimal, zone: int | None) -> Moment:
    whole = days_of_date(year, month, day) * 86400 + hour * 3600 + (minute - (zone or 0)) * 60
    return Moment(year, month, day, hour, minute, second, zone, EXACT.add(Decimal(whole), second))


def at_instant(instant_s: Decimal) -> Moment:
    """The moment of UTC at an instant of the time line."""
    whole = int(instant_s // 1) if instant_s >= 0 else -int(-instant_s // 1) - (instant_s != instant_s.to_integral_value())
    days, rest = divmod(whole, 86400)
    year, month, day = date_of_days(days)
    second = EXACT.add(EXACT.subtract(instant_s, Decimal(whole)), Decimal(rest % 60))
    return Moment(year, month, day, rest // 3600, rest // 60 % 60, second, 0, instant_s)


def date_of_days(days: int) -> tuple[int, int, int]:
    """The civil date so many days after 1970-01-01, as `days_of_date` counts them."""
    era, day_of_era = divmod(days + 719468, 146097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    m = (5 * day_of_year + 2) // 153
    month = m + 3 if m < 10 else m - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * m + 2) // 5 + 1


# Order.


def compare(left: Moment, right: Moment) -> int | None:
    """-1, 0 or 1 for values of one type; None where a missing zone leaves it open."""
    difference = EXACT.subtract(left.instant_s, right.instant_s)
    if (left.zone is None) != (right.zone is None) and abs(difference) <= FARTHEST_ZONE_S:
        return None
    return (difference > 0) - (difference < 0)


# Reading: None for what is not in the lexical space.


def read(form: str, lexical: str) -> Moment | None:
    """A value of a type by its name there."""
    match = _FORMS[form].fullmatch(lexical)
    if match is None or len(lexical) > 4000:
        return None
    found = match.groupdict()
    year, month, day, hour, minute = (
        int(found.get(name) or _ABSENT[name]) for name in ("year", "month", "day", "hour", "minute")
    )
    second = Decimal(found.get("second") or "0")
    end_of_day = hour == 24 and minute == 0 and second == 0
    if not 1 <= month <= 12 or not 1 <= day <= days_in_month(year, month):
        return None
    if minute > 59 or second >= 60 or (hour > 23 and not end_of_day):
        return None
    if end_of_day:
        hour = 0
        if form == "dateTime":
            year, month, day = date_of_days(days_of_date(year, month, day) + 1)
    return moment(year, month, day, hour, minute, second, read_zone(found["zone"]))


def read_zone(text: str | None) -> int | None:
    if not text:
        return None
    if text == "Z":
        return 0
    minutes = int(text[1:3]) * 60 + int(text[4:6])
    return -minutes if text[0] == "-" else minutes


def zone_text(lexical: str) -> str:
    """The zone as it stands at the end of a date or time, empty where it has none."""
    found = re.search(r"(?:Z|[+-][0-9]{2}:[0-9]{2})$", lexical)
    return found[0] if found else ""


# Spelling: the canonical form of XML Schema 1.1, the zone kept.


def spell_zone(zone: int | None) -> str:
    if zone is None:
        return ""
    return f"{'-' if zone < 0 else '+'}{abs(zone) // 60:02}:{abs(zone) % 60:02}" if zone else "Z"


def _spell_year(year: int) -> str:
    return f"{'-' if year < 0 else ''}{abs(year):04}"


def _spell_seconds(second: Decimal) -> str:
    text = f"{second:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text if second >= 10 else f"0{text}"


def _calendar(m: Moment) -> str:
    return f"{_spell_year(m.year)}-{m.month:02}-{m.day:02}"


def _clock(m: Moment) -> str:
    return f"{m.hour:02}:{m.minute:02}:{_spell_seconds(m.second)}"


def spell(form: str, m: Moment) -> str:
    """A value of a type by its name there."""
    match form:
        case "dateTime":
            text = f"{_calendar(m)}T{_clock(m)}"
        case "date":
            text = _calendar(m)
        case "time":
            text = _clock(m)
        case "gYear":
            text = _spell_year(m.year)
        case "gYearMonth":
            text = f"{_spell_year(m.year)}-{m.month:02}"
        case "gMonth":
            text = f"--{m.month:02}"
        case "gMonthDay":
            text = f"--{m.month:02}-{m.day:02}"
        case _:
            text = f"---{m.day:02}"
    return text + spell_zone(m.zone)
