"""Consolidating deltas against counters of one change each."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.operators.deltas import consolidated
from millstream.operators.ticks import Deltas
from tests.operators.deltas_model import listed
from tests.operators.histories import instants


def rows_of(width, rows):
    columns = np.array([row[0] for row in rows], np.int64).reshape(len(rows), width)
    return Deltas(columns, *(np.array([row[i] for row in rows], np.int64) for i in (1, 2, 3)))


@settings(deadline=None)
@given(st.data(), st.integers(0, 3))
def test_equal_rows_of_a_change_are_summed(data, width):
    row = st.tuples(*[st.integers(-1, 2)] * width)
    rows, expected = [], []
    for at in data.draw(instants()):
        members = data.draw(st.lists(st.tuples(row, st.integers(-2, 2)), max_size=data.draw(st.sampled_from([1, 6, 40]))))
        rows += [(values, *at, weight) for values, weight in members]
        counted = Counter()
        for values, weight in members:
            counted[values] += weight
        expected += [(values, *at, weight) for values, weight in sorted(counted.items()) if weight]
    assert listed(consolidated(rows_of(width, rows))) == expected


def test_changes_of_one_row_are_left_as_they_are():
    given = rows_of(1, [((5,), 1, -1, 1), ((5,), 2, -1, 1), ((5,), 2, 0, 1)])
    assert consolidated(given) is given


def test_a_row_without_weight_is_dropped_even_alone():
    assert len(consolidated(rows_of(1, [((5,), 1, 0, 0)]))) == 0
