"""The parts of sums that `kernels.aggregates.sums` cannot hold: large numbers, floats and doubles. All of it exact.

Every double is a whole multiple of 2^-1074, so a sum of them is an integer; it is rounded when a result is asked for, once,
and so follows from the operands whatever the order in which they came and went.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.expressions.bounds import Bounds, LimitError
from millstream.operators.expressions.functions import arithmetic
from millstream.operators.expressions.values import numbers
from millstream.operators.expressions.values.values import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    Space,
    Value,
    computed,
    integer,
    read_term,
)

_EXACT = numbers.EXACT
_LEAST_EXPONENT = 1074
_NOT_A_NUMBER, _AN_INTEGER, _A_DECIMAL, _INEXACT = range(4)


@dataclass(slots=True)
class Rest:
    """What a group's sum has beside the total in the kernel."""

    exact: Decimal = Decimal(0)
    binary: int = 0
    """The sum of finite floats and doubles, times 2^1074."""
    floats: int = 0
    doubles: int = 0
    nans: int = 0
    infinities: int = 0
    negative_infinities: int = 0

    def is_empty(self) -> bool:
        return self.exact == 0 and self.floats == 0 and self.doubles == 0

    def add(self, number: Value, weight: int) -> None:
        if number.space <= DECIMAL:
            self.exact = _EXACT.add(self.exact, _EXACT.multiply(Decimal(number.value), Decimal(weight)))
            return
        if number.space == FLOAT:
            self.floats += weight
        else:
            self.doubles += weight
        value: float = number.value
        if math.isnan(value):
            self.nans += weight
        elif math.isinf(value):
            if value > 0:
                self.infinities += weight
            else:
                self.negative_infinities += weight
        else:
            over, under = value.as_integer_ratio()
            self.binary += (over << (_LEAST_EXPONENT + 1 - under.bit_length())) * weight

    def total(self, exact: Decimal, decimals: bool) -> Value:
        """The sum with what the kernel has, in the type that all operands are promoted to."""
        exact = _EXACT.add(self.exact, exact)
        if not self.floats and not self.doubles:
            return computed(DECIMAL, exact) if decimals else computed(INTEGER, int(exact))
        space: Space = DOUBLE if self.doubles else FLOAT
        if self.nans or (self.infinities and self.negative_infinities):
            return computed(space, math.nan)
        if self.infinities or self.negative_infinities:
            return computed(space, math.inf if self.infinities else -math.inf)
        return computed(space, _rounded(Fraction(exact) + Fraction(self.binary, 1 << _LEAST_EXPONENT), space))


def _rounded(exact: Fraction, space: Space) -> float:
    try:
        nearest = exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if space == DOUBLE or nearest == 0:
        return nearest
    beside = Fraction(nearest)
    return numbers.single_beside(nearest, (exact > beside) - (exact < beside))


class RestOfSums:
    """The rests of one aggregate's sums by slot."""

    def __init__(self, dictionary: Dictionary, bounds: Bounds) -> None:
        self._dictionary = dictionary
        self._bounds = bounds
        self._rests: dict[int, Rest] = {}

    def __contains__(self, slot: int) -> bool:
        return slot in self._rests

    def add(self, slot: int, term_id: int, weight: int) -> int:
        """Adds a typed literal so many times; says what it is, see `kernels.aggregates.sums`."""
        number = read_term(self._dictionary.decode_one(term_id))
        if not number.is_numeric:
            return _NOT_A_NUMBER
        rest = self._rests.setdefault(slot, Rest())
        rest.add(number, weight)
        if rest.is_empty():
            del self._rests[slot]
        return _AN_INTEGER if number.space == INTEGER else _A_DECIMAL if number.space == DECIMAL else _INEXACT

    def spill(self, slot: int, total: int, scale: int) -> None:
        """Takes over what the kernel cannot hold."""
        rest = self._rests.setdefault(slot, Rest())
        rest.exact = _EXACT.add(rest.exact, Decimal(total).scaleb(-scale, _EXACT))

    def spill_doubles(self, slot: int, total: int, count: int) -> None:
        """Takes over so many finite doubles, their sum times 2^1074."""
        rest = self._rests.setdefault(slot, Rest())
        rest.binary += total
        rest.doubles += count

    def result(self, slot: int, total: int, scale: int, decimals: bool, count: int, average: bool) -> int:
        """The id of a sum, or of an average: that is the sum, rounded if it is not exact, divided by the count.

        An error if it has too many digits.
        """
        found = self._rests.get(slot, Rest()).total(Decimal(total).scaleb(-scale, _EXACT), decimals)
        try:
            if average:
                found = arithmetic.calculate(self._bounds, "/", found, integer(count))
            elif found.space <= DECIMAL:
                found = arithmetic.exact_number(self._bounds, found.space, found.value)
        except LimitError:
            return -1
        return self._dictionary.encode_one(found.text())

    def forget(self, slot: int) -> None:
        self._rests.pop(slot, None)
