"""The two orders of terms, by value: what ORDER BY compares, and the term order that completes it.

The *solution order* is section 15.1 of the recommendation: unbound, blank nodes, IRIs, literals; within a value space what
`<` says, and equal values tie. What the recommendation leaves open is settled so that the order is total and depends on
terms alone:

- literals by space: numbers, booleans, dateTimes, dates, times, the parts of dates, durations, all others as texts;
- texts by lexical form, datatype, language; blank nodes by label;
- numbers by the nearest double, then by what exact ones differ from its shortest spelling; NaN last;
- dates and times by instant, those without a zone as if in UTC, and before one with a zone at the same instant;
- durations by where they lead from the four dates by which XML Schema compares them, then by months.

The *term order* never ties: unbound, blank nodes, IRIs, numbers by double, other literals; then lexical form, language,
datatype.
"""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from typing import Any

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.order.term_order import TermOrder
from millstream.operators.expressions.values import durations, numbers
from millstream.operators.expressions.values.dates import Moment
from millstream.operators.expressions.values.durations import Duration
from millstream.operators.expressions.values.numbers import EXACT
from millstream.operators.expressions.values.values import Space, Value, read_term

Key = tuple[Any, ...]

UNBOUND, BLANK, IRI, NUMBER, BOOLEAN, DATE_TIME, DATE, TIME, CALENDAR, DURATION, TEXT = range(11)
"""Classes of the solution order, as in `kernels.order.term_order`."""
OTHER = 4
"""The class of the term order for literals that are no numbers."""

_CLASS_SHIFT = 60
_FIRST_CALENDAR = Space.G_YEAR
_MOMENTS = {Space.DATE_TIME: DATE_TIME, Space.DATE: DATE, Space.TIME: TIME}
_REMEMBERED = 1 << 16


def order_key(value: Value | None) -> Key:
    """What to compare for the solution order; keys tie where terms do."""
    if value is None:
        return (UNBOUND,)
    space = value.space
    if space == Space.BLANK:
        return (BLANK, value.value)
    if space == Space.IRI:
        return (IRI, value.value)
    if value.is_numeric:
        return (NUMBER, *_number_key(value))
    if space == Space.BOOLEAN:
        return (BOOLEAN, value.value)
    if space in _MOMENTS:
        return (_MOMENTS[space], *_moment_key(value.value))
    if Space.G_YEAR <= space <= Space.G_DAY:
        return (CALENDAR, int(space - _FIRST_CALENDAR), *_moment_key(value.value))
    if space == Space.DURATION:
        return (DURATION, *_duration_key(value.value))
    return (TEXT, value.lexical, value.datatype, value.language)


def term_key(value: Value | None) -> Key:
    """What to compare for the term order; different terms have different keys."""
    if value is None:
        return (UNBOUND,)
    if value.space == Space.BLANK:
        return (BLANK, value.value)
    if value.space == Space.IRI:
        return (IRI, value.value)
    rest = (value.lexical, value.language, value.datatype)
    if not value.is_numeric:
        return (OTHER, *rest)
    double = _double(value)
    return (NUMBER, math.inf, True, *rest) if math.isnan(double) else (NUMBER, double, False, *rest)


def _double(value: Value) -> float:
    return value.value if isinstance(value.value, float) else numbers.double_of(value.value)


def _number_key(value: Value) -> tuple[float, int, Decimal]:
    """The double, on which side of the exact numbers next to it, and by how much an exact number differs from it."""
    double = _double(value)
    if math.isnan(double):
        return (math.inf, 2, Decimal())
    if isinstance(value.value, float):
        return (double, 0 if math.isfinite(double) else 1 if double > 0 else -1, Decimal())
    exact = Decimal(value.value)
    return (double, 0, EXACT.subtract(exact, Decimal(repr(double))) if math.isfinite(double) else exact)


def _moment_key(moment: Moment) -> tuple[Decimal, bool]:
    return (moment.instant_s, moment.zone is not None)


def _duration_key(duration: Duration) -> tuple[Decimal, int]:
    return (durations.total_s(duration), duration.months)


# Keys of 64 bits, as in `kernels.order.term_order`.


def packed(key: Key) -> int:
    """64 bits that never contradict the order of keys: of both orders, for their first four classes agree."""
    found, *rest = key
    if found in (BLANK, IRI, TEXT) or isinstance(rest[0] if rest else None, str):
        prefix = packed_text(rest[0].encode())
    elif found == NUMBER:
        prefix = packed_double(rest[0])
    elif found == DURATION:
        prefix = packed_double(numbers.double_of(rest[0]))
    elif found in (DATE_TIME, DATE, TIME):
        prefix = packed_instant(rest[0], 58)
    elif found == CALENDAR:
        prefix = rest[0] << 57 | packed_instant(rest[1], 56)
    else:
        prefix = int(rest[0]) if rest else 0
    return int(found << _CLASS_SHIFT | prefix)


def packed_text(text: bytes) -> int:
    return int.from_bytes(text[:8].ljust(8, b"\0"), "big") >> 4


def packed_double(number: float) -> int:
    (bits,) = struct.unpack("<Q", struct.pack("<d", number + 0.0))
    ordered = bits ^ (1 << 64) - 1 if bits >> 63 else bits | 1 << 63
    return int(ordered >> 4)


def packed_instant(instant_s: Decimal, half_bits: int) -> int:
    """Milliseconds, rounded down, kept to what the bits can hold."""
    half = 1 << half_bits
    if abs(instant_s) > half:
        return 0 if instant_s < 0 else 2 * half - 1
    milliseconds = math.floor(EXACT.multiply(instant_s, Decimal(1000)))
    return min(max(milliseconds + half, 0), 2 * half - 1)


class Ordering:
    """Both orders for the ids of one dictionary; `kernel` is what fast code uses."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._epoch = dictionary.epoch
        self._order: dict[int, Key] = {}
        self._terms: dict[int, Key] = {}
        self.kernel = TermOrder(dictionary, self)

    # What the kernel asks.

    def order_key(self, term_id: int) -> int:
        return packed(self._order_of(term_id))

    def term_key(self, term_id: int) -> int:
        return packed(self._term_of(term_id))

    def compare_order(self, left: int, right: int) -> int:
        x, y = self._order_of(left), self._order_of(right)
        return (x > y) - (x < y)

    def compare_terms(self, left: int, right: int) -> int:
        x, y = self._term_of(left), self._term_of(right)
        return (x > y) - (x < y)

    def _order_of(self, term_id: int) -> Key:
        found = self._remembered(self._order).get(term_id)
        if found is None:
            found = self._order[term_id] = order_key(self._value(term_id))
        return found

    def _term_of(self, term_id: int) -> Key:
        found = self._remembered(self._terms).get(term_id)
        if found is None:
            found = self._terms[term_id] = term_key(self._value(term_id))
        return found

    def _remembered(self, keys: dict[int, Key]) -> dict[int, Key]:
        """Keys of earlier questions, unless their ids may name other terms by now."""
        if self._epoch != self._dictionary.epoch or len(keys) >= _REMEMBERED:
            self._epoch = self._dictionary.epoch
            self._order.clear()
            self._terms.clear()
        return keys

    def _value(self, term_id: int) -> Value | None:
        return None if term_id < 0 else read_term(self._dictionary.decode_one(term_id))
