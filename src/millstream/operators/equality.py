"""A key for terms that `=` may find equal, of which most are told by the kernel, and here those of all other terms.

Numbers go by their value as a double, moments of a kind by their instant. What is compared more coarsely, xsd:float and
durations, has no key and so meets everything. The comparison itself still follows the join.
"""

from __future__ import annotations

from collections.abc import Sequence

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.relations.equality import EqualityKey
from millstream.operators.expressions.values.numbers import double_of
from millstream.operators.expressions.values.values import (
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


def equality_key(
    inputs: Sequence[Deltas], width: int, place: int, dictionary: Dictionary, references: TermReferences
) -> EqualityKey:
    """One more column: the key of another."""

    def rest(term_id: int) -> str | None:
        key = key_of(read_term(dictionary.decode_one(term_id)))
        return None if key is None else key.text()

    return EqualityKey(inputs, width, place, dictionary, references, rest)


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
