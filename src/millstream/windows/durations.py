"""The durations that windows are written with, in whole milliseconds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

_UNITS_MS = {
    "ns": Fraction(1, 1_000_000),
    "ms": Fraction(1),
    "s": Fraction(1000),
    "m": Fraction(60_000),
    "h": Fraction(3_600_000),
    "d": Fraction(86_400_000),
}
_LONG_UNITS = {
    "nanosecond": "ns",
    "millisecond": "ms",
    "second": "s",
    "sec": "s",
    "minute": "m",
    "min": "m",
    "hour": "h",
    "day": "d",
}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)", re.IGNORECASE)
_ISO = re.compile(
    r"P(?:(?P<d>\d+(?:\.\d+)?)D)?(?:T(?:(?P<h>\d+(?:\.\d+)?)H)?(?:(?P<m>\d+(?:\.\d+)?)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Duration:
    """A length in whole milliseconds: rounded up where the text said less, spelt out where it used long words."""

    ms: int
    rounded: bool = False
    spelt_out: bool = False


def parse_duration(text: str) -> Duration:
    """A duration as queries write it; raises ValueError with the reason.

    >>> parse_duration("1h30m").ms, parse_duration("PT10M").ms, parse_duration("250").ms
    (5400000, 600000, 250)
    """
    spelt_out = False
    if len(text) > 100:
        raise ValueError("too many digits")
    if text.isdigit():
        exact = Fraction(int(text))
    elif text[:1] in ("P", "p"):
        match = _ISO.fullmatch(text)
        if match is None or not any(match.groupdict().values()):
            if re.search(r"[YM]|W", text.upper().partition("T")[0]):
                raise ValueError("years, months and weeks have no fixed length here; write days, as in P7D")
            raise ValueError("not an XSD dayTimeDuration such as PT10M or P1DT12H")
        exact = sum((Fraction(v) * _UNITS_MS[u] for u, v in match.groupdict().items() if v), Fraction(0))
    else:
        if not text or _PART.sub("", text).strip():
            raise ValueError("not a duration such as 10s or 1h30m")
        exact = Fraction(0)
        for number, word in _PART.findall(text):
            unit = word.lower()
            if unit not in _UNITS_MS:
                long, spelt_out = unit.removesuffix("s"), True
                if long not in _LONG_UNITS:
                    raise ValueError(f"the unit {long!r} is not known")
                unit = _LONG_UNITS[long]
            exact += Fraction(number) * _UNITS_MS[unit]
    ms = ceil(exact)
    if ms >= 1 << 60:
        raise ValueError("longer than time itself can be counted here (2^60 ms)")
    return Duration(ms, rounded=exact != ms, spelt_out=spelt_out)


def format_duration(ms: int) -> str:
    """The shortest usual way to write it: `1h30m`, `250ms`."""
    parts = []
    rest = ms
    for unit in ("d", "h", "m", "s", "ms"):
        count, rest = divmod(rest, int(_UNITS_MS[unit]))
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0ms"
