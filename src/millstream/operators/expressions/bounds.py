"""How large a value may become, and how often one was refused for that or for the work it would have been.

Sizes are asked before a value is made: what is refused is never in memory. A refusal is an error of the expression, as any
other is to `&&`, `||`, IN and COALESCE.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NoReturn

from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.operators.expressions.values.numbers import EXACT, MOST_DIGITS, spell_decimal
from millstream.operators.expressions.values.values import ExpressionError

_FEW_DIGITS = 64
"""Numbers of so many digits are computed whatever the limit: kernels do so."""
_BITS_OF_A_DIGIT = 3
"""A number with fewer bits than this times some digits has no more digits than that."""


class LimitError(ExpressionError):
    """A value that would be too large, or a match that takes too many steps."""


class Bounds:
    """The limits of one engine's expressions."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.value_bytes = limits.value_bytes
        self._digits = min(max(limits.value_bytes, _FEW_DIGITS), MOST_DIGITS)
        self.refused = 0
        """How many values were not made."""

    def refuse(self) -> NoReturn:
        self.refused += 1
        raise LimitError

    def check(self, size: int) -> None:
        """Refuses a value of so many bytes."""
        if size > self.value_bytes:
            self.refuse()

    def check_integer(self, number: int) -> int:
        """The number; refuses one of too many digits."""
        if number.bit_length() > _BITS_OF_A_DIGIT * self._digits and abs(number) >= 10**self._digits:
            self.refuse()
        return number

    def check_decimal(self, number: Decimal) -> Decimal:
        """The number, without zeros at its end if there are many; refuses one of too many digits as it is written out."""
        if len(f"{number:f}") <= self._digits:
            return number
        number = EXACT.normalize(number)
        if sum(map(str.isdigit, spell_decimal(number))) > self._digits:
            self.refuse()
        return number

    def check_text(self, *texts: str) -> None:
        """Refuses a string of these parts."""
        # A character is at most four bytes: almost always there is nothing to count.
        if 4 * sum(map(len, texts)) > self.value_bytes:
            self.check(sum(map(size_of, texts)))


def size_of(text: str) -> int:
    """How many bytes a text has in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())
