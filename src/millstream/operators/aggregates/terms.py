"""What ordered operands of aggregates are, where their ids do not say it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary import Dictionary
from millstream.operators.expressions import arithmetic
from millstream.operators.expressions.values import BLANK, Value, integer, read_term, string
from millstream.operators.ordering import Key, order_key, term_key

_TWO = integer(2)


def value_key(value: Value) -> Key:
    """The solution order, ties broken by the term order: different terms have different keys."""
    return order_key(value), term_key(value)


class Terms:
    """Terms by id for `kernels.ranked`: their keys, half their sum, and all of them joined."""

    def __init__(self, dictionary: Dictionary, key: Callable[[Value], Key], separator: str) -> None:
        self._dictionary = dictionary
        self._key = key
        self._separator = separator

    def _read(self, term_id: int) -> Value:
        return read_term(self._dictionary.decode_one(term_id))

    def key_of(self, term_id: int) -> Key:
        return self._key(self._read(term_id))

    def is_number(self, term_id: int) -> bool:
        return self._read(term_id).is_numeric

    def halve(self, left: int, right: int) -> int:
        """Half the sum of two numbers."""
        total = arithmetic.calculate("+", self._read(left), self._read(right))
        return self._dictionary.encode_one(arithmetic.calculate("/", total, _TWO).text())

    def join(self, ids: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> int:
        """The string of all terms, each as often as it counts; an error if one is a blank node."""
        values = [read_term(self._dictionary.decode_one(term_id)) for term_id in ids.tolist()]
        if any(value.space == BLANK for value in values):
            return -1
        parts = [value.lexical for value, count in zip(values, counts.tolist(), strict=True) for _ in range(count)]
        return self._dictionary.encode_one(string(self._separator.join(parts)).text())
