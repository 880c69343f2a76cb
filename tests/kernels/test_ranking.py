"""Rows between two ranks against a sorted list, with enough rows for the tree to grow and shrink by several levels."""

import random
from bisect import bisect_left, insort

import numpy as np
import pytest

from millstream.kernels.dictionary import Dictionary
from millstream.kernels.ranking import ALL, ASCENDING, DESCENDING, TERM, Ranking
from millstream.operators.ordering import Ordering

ZERO = Dictionary().encode_one('"0"^^<http://www.w3.org/2001/XMLSchema#integer>')


def ranking(width=1, levels=((0, ASCENDING),), **more):
    return Ranking(width, levels, Ordering(Dictionary()).kernel, **more)


def put(ranks, numbers, weights):
    n = len(numbers)
    columns = (np.array(numbers, np.int64) + ZERO).reshape(n, 1)
    ids, _, change, weight = ranks.apply(columns, np.zeros(n, np.int64), np.arange(n), np.array(weights, np.int64))
    return list(zip((ids[:, 0] - ZERO).tolist(), change.tolist(), weight.tolist(), strict=True))


@pytest.mark.parametrize("order", ["random", "ascending", "descending"])
@pytest.mark.parametrize(("offset", "limit"), [(0, 10), (1000, 50), (3000, ALL)])
def test_thousands_of_rows_come_and_go_as_in_a_sorted_list(order, offset, limit):
    chance = random.Random(7)
    ranks, ordered, held = ranking(offset=offset, limit=limit), [], {}
    numbers = list(range(5000))
    if order == "random":
        chance.shuffle(numbers)
    elif order == "descending":
        numbers.reverse()
    changes = [(n, 1) for n in numbers]
    leaving = numbers[:]
    chance.shuffle(leaving)
    changes += [(n, -1) for n in leaving[:4990]]
    for start in range(0, len(changes), 500):
        part = changes[start : start + 500]
        for n, _, weight in put(ranks, *zip(*part, strict=True)):
            held[n] = held.get(n, 0) + weight
        for n, weight in part:
            if weight > 0:
                insort(ordered, n)
            else:
                del ordered[bisect_left(ordered, n)]
        assert sorted(n for n, weight in held.items() if weight) == ordered[offset : offset + limit]
        assert set(held.values()) <= {0, 1}
        assert (ranks.rows(0, ALL)[0][:, 0] - ZERO).tolist() == ordered
    assert ranks.stats["rows"] == 10


def test_a_unit_changes_two_rows_at_most():
    ranks = ranking(offset=100, limit=100)
    put(ranks, range(1000), [1] * 1000)
    written = put(ranks, [-5, 5000, 150], [1, 1, 1])
    assert [change for _, change, _ in written] == [0, 0, 2, 2]


def test_rows_taken_out_leave_nothing_behind():
    ranks = ranking()
    for _ in range(3):
        put(ranks, range(3000), [2] * 3000)
        put(ranks, range(3000), [-2] * 3000)
    assert ranks.stats["rows"] == ranks.stats["weight"] == 0


def test_a_row_without_columns_is_counted():
    ranks = Ranking(0, (), Ordering(Dictionary()).kernel, 1, 2)
    one = np.zeros(1, np.int64)
    assert ranks.apply(np.empty((1, 0), np.int64), one, one, np.array([5]))[3].tolist() == [2]
    assert ranks.apply(np.empty((1, 0), np.int64), one, one, np.array([-4]))[3].tolist() == [-2]


def test_one_row_may_come_and_go_within_a_change():
    ranks = ranking()
    columns, zeros = np.full((4, 1), ZERO), np.zeros(4, np.int64)
    assert len(ranks.apply(columns, zeros, zeros, np.array([1, -1, 1, -1]))[3]) == 0
    assert ranks.stats["rows"] == 0


@pytest.mark.parametrize("levels", [((1, ASCENDING),), ((-1, TERM),), ((0, 3),)])
def test_levels_name_columns(levels):
    with pytest.raises(ValueError, match="levels"):
        ranking(levels=levels)


def test_columns_of_other_widths_or_lengths_are_refused():
    ranks, one = ranking(levels=((0, DESCENDING),)), np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="columns"):
        ranks.apply(np.zeros((1, 2), np.int64), one, one, one)
    with pytest.raises(ValueError, match="length"):
        ranks.apply(np.zeros((2, 1), np.int64), one, one, one)


def test_ids_that_name_no_term_are_refused():
    one = np.ones(1, np.int64)
    with pytest.raises(LookupError):
        ranking().apply(np.full((1, 1), 77), one, one, one)
