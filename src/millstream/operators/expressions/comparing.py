"""Comparisons, membership and effective boolean values over columns of ids.

The kernel decides exactly wherever both values are in their ids. Of the other rows the kinds decide: IRIs, blank nodes
and strings are equal if their ids are, and what has no order is an error. What remains (typed literals outside of ids,
order of strings, dateTimes of which one has a zone) is compared by value, each distinct pair once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary import columns as dictionary_columns
from millstream.kernels.dictionary.kinds import INCOMPARABLE, Kind
from millstream.operators.expressions.batch import ERROR, FALSE, TRUE, Batch, Ids, Truths, constant
from millstream.operators.expressions.rows import Row
from millstream.operators.expressions.values import comparison
from millstream.operators.expressions.values.values import ExpressionError, Value, boolean

KIND_SHIFT = 59
_UNBOUND = -1
_KINDS = (_UNBOUND, *(kind for kind in Kind if kind is not Kind.UNBOUND))
_SAME_ID, _BY_VALUE = 3, 4

_FEW = 8
"""Up to how many choices comparing with each costs less than looking all up at once."""

Order = npt.NDArray[np.int8]

_FROM_ORDER: dict[str, Callable[[Order], npt.NDArray[np.bool_]]] = {
    "=": lambda order: order == 0,
    "!=": lambda order: (order & 1) == 1,
    "<": lambda order: order == -1,
    ">": lambda order: order == 1,
    "<=": lambda order: order <= 0,
    ">=": lambda order: order.view(np.uint8) <= 1,
}
"""From -1, 0 or 1 to the truth of an operator; false for INCOMPARABLE."""


def _how_equal(left: int, right: int) -> int:
    if _UNBOUND in (left, right):
        return ERROR
    if {left, right} & {Kind.IRI, Kind.BLANK, Kind.LANGUAGE}:
        return _SAME_ID
    if Kind.TYPED in (left, right) or left == right == Kind.DATETIME:
        return _BY_VALUE
    return _SAME_ID


def _how_ordered(left: int, right: int) -> int:
    if min(left, right) <= Kind.BLANK:
        return ERROR
    if Kind.TYPED in (left, right) or (left == right and left in (Kind.STRING, Kind.LANGUAGE, Kind.DATETIME)):
        return _BY_VALUE
    return ERROR


def _by_kinds(how: Callable[[int, int], int]) -> npt.NDArray[np.uint8]:
    """What to do for two kinds; unbound is the last row and column, so that -1 finds it."""
    kinds = (*_KINDS[1:], _UNBOUND)
    return np.array([[how(left, right) for right in kinds] for left in kinds], np.uint8)


_EQUALITY, _ORDERING = _by_kinds(_how_equal), _by_kinds(_how_ordered)


def compare_columns(batch: Batch, operator: str, left: Ids, right: Ids) -> Truths:
    """The truth of a comparison by row."""
    if operator in ("=", "!=") and _named_only(left) and _named_only(right):
        return np.equal(left, right).view(np.uint8) if operator == "=" else np.not_equal(left, right).view(np.uint8)
    order = dictionary_columns.compare(left, right)
    truths = _FROM_ORDER[operator](order).view(np.uint8)
    undecided = (order == INCOMPARABLE).nonzero()[0]
    if len(undecided):
        truths[undecided] = _compare_undecided(batch, operator, left[undecided], right[undecided])
    return truths


def _named_only(ids: Ids) -> bool:
    """Whether all are IRIs, blank nodes or strings, which are equal if and only if their ids are."""
    return len(ids) > 0 and bool(ids.max() < Kind.TYPED << KIND_SHIFT) and bool(ids.min() >= 0)


def _compare_undecided(batch: Batch, operator: str, left: Ids, right: Ids) -> Truths:
    equality = operator in ("=", "!=")
    truths: Truths = (_EQUALITY if equality else _ORDERING)[left >> KIND_SHIFT, right >> KIND_SHIFT]
    same = np.flatnonzero(truths == _SAME_ID)
    if len(same):
        truths[same] = (left[same] == right[same]) == (operator == "=")
    by_value = np.flatnonzero(truths == _BY_VALUE)
    if len(by_value):

        def compare(row: Row) -> Value:
            first, second = row
            assert first is not None
            assert second is not None
            return boolean(comparison.compare(operator, first, second))

        truths[by_value] = batch.part(len(by_value)).test(compare, (left[by_value], right[by_value]))
    return truths


def is_member(batch: Batch, operand: Ids, choices: Ids) -> Truths:
    """IN over constants."""
    kinds = operand >> KIND_SHIFT
    found = _is_any(operand, choices) & (kinds != Kind.TYPED) & (operand >= 0)
    truths: Truths = found.view(np.uint8)
    rest = np.flatnonzero(~found)
    if len(rest):
        if np.all(choices >> KIND_SHIFT == Kind.IRI):
            truths[rest[operand[rest] < 0]] = ERROR
        else:
            truths[rest] = _equal_to_any(batch, operand[rest], choices)
    return truths


def _is_any(operand: Ids, choices: Ids) -> npt.NDArray[np.bool_]:
    if len(choices) > _FEW:
        return np.isin(operand, choices)
    found = np.zeros(len(operand), np.bool_)
    for choice in choices.tolist():
        found |= operand == choice
    return found


def _equal_to_any(batch: Batch, operand: Ids, choices: Ids) -> Truths:
    """Whether ids that are none of the choices are equal to one nevertheless, or cannot be compared with some."""
    # To an IRI or a string that is another, all of a kind are alike.
    kinds = choices >> KIND_SHIFT
    by_id = kinds < Kind.TYPED
    choices = np.concatenate([choices[by_id][np.unique(kinds[by_id], return_index=True)[1]], choices[~by_id]])
    truths = np.zeros(len(operand), np.uint8)
    if len(operand) < len(choices):
        for place, one in enumerate(operand.tolist()):
            found = compare_columns(batch, "=", constant(one, len(choices)), choices)
            truths[place] = TRUE if (found == TRUE).any() else found.max()
    else:
        for choice in choices.tolist():
            found = compare_columns(batch, "=", operand, constant(choice, len(operand)))
            truths = np.where((truths == TRUE) | (found == TRUE), TRUE, truths | found).astype(np.uint8)
    truths[operand < 0] = ERROR
    return truths


def effective_booleans(batch: Batch, ids: Ids, true_id: int, false_id: int) -> Truths:
    """The effective boolean value of each id."""
    truths: Truths = (ids == true_id).view(np.uint8)
    rest = np.flatnonzero((truths == FALSE) & (ids != false_id))
    if len(rest):
        truths[rest] = batch.part(len(rest)).test(_itself, (ids[rest],))
    return truths


def _itself(row: Row) -> Value:
    if row[0] is None:
        raise ExpressionError
    return row[0]
