"""Numbers of XML Schema: reading, spelling, and arithmetic as XPath defines it for one type at a time.

Integers are unbounded and decimals exact under addition, subtraction and multiplication; a quotient of decimals is cut
after 18 digits behind the point, which XPath leaves to the implementation. xsd:float is a Python float that is rounded
to single precision after every operation, which gives the IEEE result since a double has more than twice the bits.
"""

from __future__ import annotations

import decimal
import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal

import numpy as np

QUOTIENT_DIGITS = 18
MOST_DIGITS = 10_000
"""Longer numbers are not read and not computed: to convert them takes time with the square of their length."""
LONGEST = MOST_DIGITS + 2
"""Characters, with a sign and a point."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
_LONG = 4000
"""From about this many digits on Python refuses to convert between int and str directly."""

EXACT = decimal.Context(
    prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, rounding=decimal.ROUND_HALF_EVEN
)

DERIVED_INTEGERS: dict[str, tuple[int | None, int | None]] = {
    "long": (-(1 << 63), (1 << 63) - 1),
    "int": (-(1 << 31), (1 << 31) - 1),
    "short": (-(1 << 15), (1 << 15) - 1),
    "byte": (-(1 << 7), (1 << 7) - 1),
    "unsignedLong": (0, (1 << 64) - 1),
    "unsignedInt": (0, (1 << 32) - 1),
    "unsignedShort": (0, (1 << 16) - 1),
    "unsignedByte": (0, (1 << 8) - 1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
}
"""Types derived from xsd:integer with their least and greatest value."""


# Reading: None for what is not in the lexical space.


def read_integer(lexical: str) -> int | None:
    if _INTEGER.fullmatch(lexical) is None:
        return None
    return int(lexical) if len(lexical) < _LONG else int(Decimal(lexical))


def reader_between(least: int | None, greatest: int | None) -> Callable[[str], int | None]:
    """Reads the integers within limits."""

    def read(lexical: str) -> int | None:
        value = read_integer(lexical)
        if value is None or (least is not None and value < least) or (greatest is not None and value > greatest):
            return None
        return value

    return read


def read_decimal(lexical: str) -> Decimal | None:
    return Decimal(lexical) if _DECIMAL.fullmatch(lexical) else None


def read_double(lexical: str) -> float | None:
    if _DOUBLE.fullmatch(lexical):
        return float(lexical)
    return _SPECIAL.get(lexical)


def read_float(lexical: str) -> float | None:
    if not _DOUBLE.fullmatch(lexical):
        return _SPECIAL.get(lexical)
    nearest = float(lexical)
    if nearest == 0 or math.isinf(nearest):
        return nearest
    return _single_of_exact(Decimal(lexical), nearest)


# Spelling, as an engine of its own prints them: decimals without superfluous digits, doubles without exponent.


def spell_integer(value: int) -> str:
    return str(value) if abs(value) < 1 << 10000 else f"{Decimal(value):f}"


def spell_decimal(value: Decimal) -> str:
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def spell_double(value: float) -> str:
    return _spell_special(value) or np.format_float_positional(np.float64(value), trim="-")


def spell_float(value: float) -> str:
    return _spell_special(value) or np.format_float_positional(np.float32(value), trim="-")


def _spell_special(value: float) -> str:
    if math.isfinite(value):
        return ""
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"


# Promotion.


def to_single(value: float) -> float:
    """The nearest number of single precision."""
    try:
        rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _single_of_exact(exact: Decimal, nearest: float) -> float:
    """Single precision straight from the exact number."""
    return single_beside(nearest, int(EXACT.compare(exact, Decimal(nearest))))


def single_beside(nearest: float, difference: int) -> float:
    """The nearest single of a number whose nearest double is known, and on which side of that it lies: -1, 0 or 1.

    Straight from the double it could be rounded twice.
    """
    rounded = to_single(nearest)
    if difference == 0:
        return rounded
    # The number lies strictly between two adjacent doubles; if these round apart, one of them is the midpoint.
    other = to_single(math.nextafter(nearest, math.inf if difference > 0 else -math.inf))
    if rounded == other or math.isinf(rounded) or math.isinf(other):
        return rounded
    return other if (rounded + other) / 2 == nearest else rounded


def double_of(value: int | Decimal) -> float:
    """The nearest double; a decimal has one zero, whatever sign Python gives it."""
    try:
        return float(value) if value else 0.0
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def single_of(value: int | Decimal) -> float:
    nearest = double_of(value)
    if nearest == 0 or math.isinf(nearest):
        return nearest
    return _single_of_exact(Decimal(value), nearest)


# Arithmetic.


def divide_decimals(left: Decimal, right: Decimal) -> Decimal:
    """The quotient, cut after 18 digits behind the point; the divisor is not 0."""
    over, under = left.as_integer_ratio()
    by, of = right.as_integer_ratio()
    dividend, divisor = over * of * 10**QUOTIENT_DIGITS, under * by
    cut = abs(dividend) // abs(divisor)
    return Decimal(cut if (dividend < 0) == (divisor < 0) else -cut).scaleb(-QUOTIENT_DIGITS, EXACT)


def divide_doubles(left: float, right: float) -> float:
    if right != 0 or math.isnan(right):
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def round_decimal(value: Decimal) -> Decimal:
    """To an integer, halves towards positive infinity."""
    return EXACT.add(value, Decimal("0.5")).to_integral_value(decimal.ROUND_FLOOR, EXACT)


def ceil_decimal(value: Decimal) -> Decimal:
    return value.to_integral_value(decimal.ROUND_CEILING, EXACT)


def floor_decimal(value: Decimal) -> Decimal:
    return value.to_integral_value(decimal.ROUND_FLOOR, EXACT)


def round_double(value: float) -> float:
    """As for decimals; zeros keep the sign of what was rounded."""
    if not math.isfinite(value):
        return value
    below = math.floor(value)
    return math.copysign(float(below + 1 if value - below >= 0.5 else below), value)


def ceil_double(value: float) -> float:
    return math.copysign(float(math.ceil(value)), value) if math.isfinite(value) else value


def floor_double(value: float) -> float:
    return math.copysign(float(math.floor(value)), value) if math.isfinite(value) else value
