"""Joins through an order: every change against comparing all pairs again."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.comparing_join import ordered_join
from millstream.operators.expressions.values import comparison
from millstream.operators.expressions.values.values import ExpressionError, read_term
from tests.operators.deltas_model import applied, buffers, deltas, listed, recomputed
from tests.operators.ordered_terms import ALL, NUMBERS, typed

MORE = [
    *(typed(n, "float") for n in ("0.1", "0.10000001", "3.4028235e38", "1e39", "1e-45", "1e-46", "16777216", "16777217")),
    *(typed(n, "decimal") for n in ("0.1", "0.100000001490116", "16777217.0", "340282346638528859811704183484516925440")),
    *(typed(n, "double") for n in ("0.1", "0.10000000149011612", "3.5e38", "-1e300", "1e-320")),
    *(typed(f"2020-01-01T14:00:0{s}{zone}", "dateTime") for s in ("0", "0.001", "0.0001") for zone in ("", "Z")),
    *(typed(f"2020-01-0{day}{zone}", "date") for day in (1, 2, 3) for zone in ("", "Z", "-14:00")),
    *(
        f'"{text}"@{language}'
        for text in ("a", "b")
        for language in ("en-latn", "en-latn-us", "en-latn-gb", "zh-hans", "abcdefgh")
    ),
]
DICTIONARY = Dictionary()
TEXTS = list(dict.fromkeys([*ALL, *MORE]))
IDS = [-1, *DICTIONARY.encode(TEXTS).tolist()]
DICTIONARY.hold(np.array([i for i in IDS if i >= 0], np.int64))
VALUE = {i: None if text is None else read_term(text) for i, text in zip(IDS, [None, *TEXTS], strict=True)}
OPERATORS = ["<", "<=", ">", ">="]


def compares(operator, left, right):
    x, y = VALUE[left], VALUE[right]
    if x is None or y is None:
        return False
    try:
        return comparison.compare(operator, x, y)
    except ExpressionError:
        return False


@pytest.mark.parametrize("operator", OPERATORS)
def test_any_two_terms_are_joined_as_a_filter_compares_them(operator):
    join = ordered_join(buffers(1, 1), 2, 0, operator, 0, DICTIONARY)
    side = {(i,): 1 for i in IDS}
    found = join.run(deltas(1, [((0, 0), side)]), deltas(1, [((0, 1), side)]))
    expected = {pair for pair in itertools.product(IDS, IDS) if compares(operator, *pair)}
    assert {row for row, *_ in listed(found)} == expected
    also = ordered_join(buffers(1, 1), 2, 0, operator, 0, DICTIONARY)
    assert {r for r, *_ in listed(also.run(deltas(1, [((0, 1), side)]), deltas(1, [((0, 0), side)])))} == expected


@st.composite
def histories(draw, ids, most):
    """Changes of two multisets at common times."""
    held, changes = (Counter(), Counter()), ([], [])
    for change in range(draw(st.integers(1, most))):
        for side in range(2):
            members = dict.fromkeys(draw(st.lists(st.tuples(ids, st.integers(1, 2)), max_size=3, unique=True)), 0)
            for row in members:
                members[row] = draw(st.integers(1, 2))
            for row in draw(st.lists(st.sampled_from(sorted(held[side])), max_size=3, unique=True)) if held[side] else ():
                members[row] = -draw(st.integers(1, held[side][row]))
            for row, weight in members.items():
                held[side][row] += weight
                if not held[side][row]:
                    del held[side][row]
            changes[side].append(((change // 2, change), members))
    return changes


@settings(deadline=None, max_examples=150)
@given(
    histories(st.one_of(st.sampled_from(IDS), st.sampled_from(IDS[1 : len(NUMBERS)])), 8),
    st.sampled_from(OPERATORS),
    st.sets(st.integers(0, 8)),
)
def test_the_pairs_are_those_of_comparing_all_again_after_every_change(history, operator, cuts):
    def joined(left, right):
        return Counter(
            {(*a, *b): n * m for a, n in left.items() for b, m in right.items() if compares(operator, a[0], b[0])}
        )

    found = applied(ordered_join(buffers(2, 2), 4, 0, operator, 0, DICTIONARY), [2, 2], history, cuts)
    assert sorted(found, key=lambda r: (r[1:3], r[0])) == recomputed(history, joined)


def test_the_place_of_the_compared_column_is_free():
    join = ordered_join(buffers(2, 3), 5, 1, "<", 2, DICTIONARY)
    one, two = DICTIONARY.encode([typed("1", "integer"), typed("2", "integer")]).tolist()
    found = join.run(deltas(2, [((0, 0), {(7, one): 1})]), deltas(3, [((0, 0), {(8, 9, two): 2})]))
    assert listed(found) == [((7, one, 8, 9, two), 0, 0, 2)]


def test_rows_that_leave_are_forgotten():
    join = ordered_join(buffers(1, 1), 2, 0, "<", 0, DICTIONARY)
    rows = [(i,) for i in IDS]
    join.run(deltas(1, [((0, 0), dict.fromkeys(rows, 1))]), deltas(1, []))
    join.run(deltas(1, [((1, 1), dict.fromkeys(rows, -1))]), deltas(1, []))
    assert join.stats["left"] == join.stats["right"] == 0


def test_other_operators_are_refused():
    with pytest.raises(ValueError, match="got ="):
        ordered_join(buffers(1, 1), 2, 0, "=", 0, DICTIONARY)
