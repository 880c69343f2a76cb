"""Parts of a query that only a comparison links: `?a < ?b`, `<=`, `>` or `>=` between a column of each.

An arriving row finds the rows of the other part that match in an ordered index, and looks at no others but those whose
keys do not tell. Only comparable values match, as in a filter: an error is no match.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.relations.ordered_join import OrderedJoin
from millstream.operators.expressions.values import comparison, numbers
from millstream.operators.expressions.values.dates import FARTHEST_ZONE_S, Moment
from millstream.operators.expressions.values.numbers import EXACT
from millstream.operators.expressions.values.values import ExpressionError, Space, Value, read_term
from millstream.operators.ordering import Ordering, packed_double, packed_instant, packed_text

Range = tuple[int, int, int, int]
"""Keys: first of a class, lowest and highest in doubt, last; see `kernels.relations.ordered_join`."""

# Classes, as in the kernel; those after it are known here only. Each of the second line is one with a zone and one without.
_NUMBER, _FLOAT, _BOOLEAN, _STRING, _LANGUAGE = range(1, 6)
_DATE_TIME, _DATE, _TIME, _CALENDAR = 6, 8, 10, 12
_DURATION = 14
_MOMENTS = {Space.DATE_TIME: _DATE_TIME, Space.DATE: _DATE, Space.TIME: _TIME}

_SHIFT = 60
_LAST = (1 << _SHIFT) - 1
_FAR = 3e38
"""From about here on numbers of single precision are infinite."""


def ordered_join(
    inputs: Sequence[Deltas], width: int, left_place: int, operator: str, right_place: int, dictionary: Dictionary
) -> OrderedJoin:
    """Pairs of a left and a right row whose columns compare; the columns of both, left first."""
    if operator not in ("<", "<=", ">", ">="):
        raise ValueError(f"a join through an order needs <, <=, > or >=, got {operator}")
    order, by_value = Ordering(dictionary).kernel, Comparing(operator, dictionary)
    return OrderedJoin(inputs, width, (left_place, right_place), operator[0] == "<", "=" in operator, order, by_value)


class Comparing:
    """What the kernel asks where ids do not tell."""

    def __init__(self, operator: str, dictionary: Dictionary) -> None:
        self._operator = operator
        self._dictionary = dictionary

    def matches(self, left: int, right: int) -> bool:
        """The comparison itself."""
        try:
            return comparison.compare(self._operator, self._value(left), self._value(right))
        except ExpressionError:
            return False

    def ranges(self, term_id: int, greater: bool) -> list[Range]:
        """Where values are that compare with a term's, its own class first; none for what compares with nothing."""
        return ranges(self._value(term_id), greater)

    def _value(self, term_id: int) -> Value:
        return read_term(self._dictionary.decode_one(term_id))


def ranges(value: Value, greater: bool) -> list[Range]:
    """Where values are that are greater than a value, or less."""
    space = value.space
    if value.is_numeric:
        return _number_ranges(value)
    if space == Space.BOOLEAN:
        return [_whole(_BOOLEAN, int(value.value), int(value.value))]
    if space == Space.STRING:
        key = packed_text(value.value.encode())
        return [_whole(_STRING, key, key)]
    if space == Space.LANGUAGE:
        return [_language_range(value)]
    if space in _MOMENTS:
        return _moment_ranges(_MOMENTS[space], 0, 58, value.value, greater)
    if Space.G_YEAR <= space <= Space.G_DAY:
        return _moment_ranges(_CALENDAR, (space - Space.G_YEAR) << 57, 56, value.value, greater)
    if space == Space.DURATION:
        # Ordered only in part: all of them are in doubt, under one key.
        return [_whole(_DURATION, 0, 0)]
    return []


def _whole(found: int, low: int, high: int) -> Range:
    first = found << _SHIFT
    return (first, first | low, first | high, first | _LAST)


def _number_ranges(value: Value) -> list[Range]:
    number = value.value if isinstance(value.value, float) else numbers.double_of(value.value)
    if math.isnan(number):
        return []
    room = abs(number) * 3e-7 + 1e-44 if math.isfinite(number) else 0.0
    low = -math.inf if number - room < -_FAR else min(number - room, _FAR)
    high = math.inf if number + room > _FAR else max(number + room, -_FAR)
    own, other = (_FLOAT, _NUMBER) if value.space == Space.FLOAT else (_NUMBER, _FLOAT)
    return [
        _whole(own, packed_double(number), packed_double(number)),
        _whole(other, packed_double(low), packed_double(high)),
    ]


def _language_range(value: Value) -> Range:
    language = value.language.encode() + b"\0"
    key = packed_text(language + value.value.encode())
    first, last = packed_text(language), packed_text(language + b"\xff" * 8)
    found = _LANGUAGE << _SHIFT
    return (found | first, found | key, found | key, found | last)


def _moment_ranges(found: int, part: int, half_bits: int, moment: Moment, greater: bool) -> list[Range]:
    """One for its own kind and one for those that have a zone if it has none, which are comparable beyond the farthest zone.

    `part` tells the types of one class apart.
    """
    own = found + (moment.zone is None)
    other = found + (moment.zone is not None)
    away = Decimal(FARTHEST_ZONE_S if greater else -FARTHEST_ZONE_S)
    key = packed_instant(moment.instant_s, half_bits)
    beyond = packed_instant(EXACT.add(moment.instant_s, away), half_bits)
    last = (2 << half_bits) - 1
    return [
        (base | part, base | part | at, base | part | at, base | part | last)
        for base, at in ((own << _SHIFT, key), (other << _SHIFT, beyond))
    ]
