"""What ordered operands of aggregates are, where their ids do not say it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.expressions.bounds import Bounds, LimitError, size_of
from millstream.operators.expressions.functions import arithmetic
from millstream.operators.expressions.values.values import BLANK, Value, integer, read_term, string

_TWO = integer(2)


class Terms:
    """Terms by id for `kernels.aggregates.ranked`: half their sum, and all of them joined."""

    def __init__(self, dictionary: Dictionary, separator: str, bounds: Bounds) -> None:
        self._dictionary = dictionary
        self._bounds = bounds
        self._separator = separator
        # As a dictionary writes it.
        self.separator = dictionary.decode_one(dictionary.encode_one(string(separator).text()))[1:-1].encode()
        self.most_bytes = bounds.value_bytes

    def _read(self, term_id: int) -> Value:
        return read_term(self._dictionary.decode_one(term_id))

    def is_number(self, term_id: int) -> bool:
        return self._read(term_id).is_numeric

    def halve(self, left: int, right: int) -> int:
        """Half the sum of two numbers; an error if it has too many digits."""
        try:
            total = arithmetic.calculate(self._bounds, "+", self._read(left), self._read(right))
            half = arithmetic.calculate(self._bounds, "/", total, _TWO)
        except LimitError:
            return -1
        return self._dictionary.encode_one(half.text())

    def join(self, ids: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> int:
        """The string of all terms, each as often as it counts; an error if one is a blank node, or if it is too long."""
        parts: list[str] = []
        separator, size = size_of(self._separator), 0
        try:
            for term_id, count in zip(ids.tolist(), counts.tolist(), strict=True):
                value = self._read(term_id)
                if value.space == BLANK:
                    return -1
                size += (size_of(value.lexical) + separator) * count
                self._bounds.check(size - separator)
                parts += [value.lexical] * count
        except LimitError:
            return -1
        return self._dictionary.encode_one(string(self._separator.join(parts)).text())
