"""Durations of XML Schema: months and seconds, which no calendar relates, hence ordered only in part."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from millstream.operators.expressions.values.numbers import EXACT, spell_decimal
from millstream.rdf.times import days_of_date

_FORM = re.compile(
    r"(?P<minus>-)?P(?=.)(?:(?P<years>[0-9]+)Y)?(?:(?P<months>[0-9]+)M)?(?:(?P<days>[0-9]+)D)?"
    r"(?:T(?=.)(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?(?:(?P<seconds>[0-9]+(?:\.[0-9]+)?)S)?)?"
)
# XML Schema 1.1 part 2, 3.3.6.1: one duration is less if it is when added to each of these.
_REFERENCES = ((1696, 9), (1697, 2), (1903, 3), (1903, 7))


@dataclass(frozen=True, slots=True)
class Duration:
    """Both parts have the same sign."""

    months: int
    seconds: Decimal


def read(lexical: str) -> Duration | None:
    match = _FORM.fullmatch(lexical)
    if match is None or len(lexical) > 4000:
        return None
    part = {name: Decimal(text or 0) for name, text in match.groupdict().items() if name != "minus"}
    seconds = EXACT.add(
        EXACT.multiply(part["days"], Decimal(86400)),
        EXACT.add(EXACT.multiply(part["hours"], Decimal(3600)), EXACT.multiply(part["minutes"], Decimal(60))),
    )
    seconds = EXACT.add(seconds, part["seconds"])
    months = int(part["years"]) * 12 + int(part["months"])
    return Duration(-months, EXACT.minus(seconds)) if match["minus"] else Duration(months, seconds)


def read_year_month(lexical: str) -> Duration | None:
    return read(lexical) if re.fullmatch("-?P[^DT]*", lexical) else None


def read_day_time(lexical: str) -> Duration | None:
    return read(lexical) if re.fullmatch("-?P[^YM]*(?:T.*)?", lexical) else None


def spell(duration: Duration) -> str:
    """The canonical form; nothing at all is PT0S."""
    if not duration.months and not duration.seconds:
        return "PT0S"
    negative = duration.months < 0 or duration.seconds < 0
    years, months = divmod(abs(duration.months), 12)
    whole = int(abs(duration.seconds))
    rest = EXACT.subtract(abs(duration.seconds), Decimal(whole))
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    seconds = EXACT.add(rest, Decimal(whole % 60))
    date = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n)
    time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    time += f"{spell_decimal(seconds)}S" if seconds else ""
    return f"{'-' if negative else ''}P{date}{'T' + time if time else ''}"


def spell_year_month(duration: Duration) -> str:
    return spell(duration) if duration.months else "P0M"


def compare(left: Duration, right: Duration) -> int | None:
    """-1, 0 or 1; None where it depends on the months meant."""
    if equal(left, right):
        return 0
    orders = {_sign(EXACT.subtract(_after(r, left), _after(r, right))) for r in _REFERENCES}
    return orders.pop() if len(orders) == 1 and 0 not in orders else None


def total_s(duration: Duration) -> Decimal:
    """A number that orders durations wherever `compare` does: the sum of where they lead from each of the references."""
    total = Decimal()
    for reference in _REFERENCES:
        total = EXACT.add(total, _after(reference, duration))
    return total


def equal(left: Duration, right: Duration) -> bool:
    return left.months == right.months and left.seconds == right.seconds


def _sign(number: Decimal) -> int:
    return (number > 0) - (number < 0)


def _after(reference: tuple[int, int], duration: Duration) -> Decimal:
    year, month = divmod(reference[0] * 12 + reference[1] - 1 + duration.months, 12)
    return EXACT.add(Decimal(days_of_date(year, month + 1, 1) * 86400), duration.seconds)
