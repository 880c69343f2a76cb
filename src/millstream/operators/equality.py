"""A key for terms that `=` may find equal: what has different keys is not equal, so a join can look partners up by it.

Terms other than typed literals are their own keys. Numbers go by their value as a double, moments of a kind by their
instant. What is compared more coarsely, xsd:float and durations, has no key and so meets everything. The comparison itself
still follows the join.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from millstream.kernels.deltas import Deltas, PythonOperator
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.dictionary_kinds import Kind
from millstream.kernels.keeping import Keeper, Kept
from millstream.operators.expressions.batch import distinct
from millstream.operators.expressions.comparing import KIND_SHIFT
from millstream.operators.expressions.numbers import double_of
from millstream.operators.expressions.values import (
    BOOLEAN,
    DOUBLE,
    DURATION,
    FLOAT,
    ILL_TYPED,
    Value,
    boolean,
    read_term,
    string,
)


class EqualityKey(PythonOperator):
    """One more column: the key of another."""

    def __init__(self, inputs: Sequence[Deltas], width: int, place: int, dictionary: Dictionary, keeper: Keeper) -> None:
        super().__init__(inputs, width)
        self._place = place
        self._dictionary = dictionary
        self._kept = Kept(keeper)

    def changed(self, rows: Deltas) -> Deltas:
        given = rows.columns
        keys = self._keys(np.ascontiguousarray(given[:, self._place]))
        self._kept.count(keys, rows.weight, rows.tick)
        columns = np.empty((self.out.width, len(rows)), np.int64)
        columns[:-1] = given.T
        columns[-1] = keys
        return Deltas(columns.T, rows.tick, rows.change, rows.weight)

    def _keys(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        by_value = np.flatnonzero(ids >> KIND_SHIFT >= Kind.TYPED)
        if not len(by_value):
            return ids
        different, place = distinct(ids[by_value])
        texts = self._dictionary.decode(different).to_pylist()
        keys = ids.copy()
        found = [key_of(read_term(str(text))) for text in texts]
        encoded = np.full(len(found), -1, np.int64)
        keyed = [i for i, key in enumerate(found) if key is not None]
        encoded[keyed] = self._dictionary.encode([key.text() for key in found if key is not None])
        keys[by_value] = encoded[place]
        return keys

    def close(self, at_tick: int) -> None:
        self._kept.close(at_tick)


def key_of(value: Value) -> Value | None:
    """A term that is the same for all literals that a typed one equals, if there is one."""
    if value.space in (FLOAT, DURATION):
        return None
    if value.is_numeric:
        number = value.value if value.space == DOUBLE else double_of(value.value)
        # -0 equals 0.
        return string(f"number {number + 0.0}")
    if value.space == BOOLEAN:
        return boolean(value.value)
    if value.space >= ILL_TYPED:
        return value
    return string(f"{value.space.name} {value.value.instant_s.normalize()}")
