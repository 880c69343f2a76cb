"""Relations of three columns as pairs with a hidden tuple, against a join of tuples by brute force."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.containers.tuples import TUPLE, TupleTable
from millstream.kernels.joins.join import FOREVER, IntervalJoin
from tests.kernels.joins.test_join import Fed, Written, by_change, columns_of, written

A, B, C, T = 0, 1, 2, 3


def intern(table, rows, now, until, op=1):
    n = len(rows)
    columns = np.array(rows, np.int64).reshape(n, -1)
    return table.intern(columns, *(np.full(n, value, np.int64) for value in (now, until, op))).tolist()


def test_a_tuple_keeps_its_number_while_it_is_live():
    table = TupleTable(3)
    first, second = intern(table, [(1, 2, 3), (1, 2, 4)], 0, 10)
    assert first >= TUPLE
    assert second >= TUPLE
    assert first != second
    assert intern(table, [(1, 2, 3)], 5, 15) == [first]
    assert intern(table, [(9, 9, 9), (1, 2, 3)], 5, 5, -1) == [-1, first]


def test_a_number_is_given_again_after_the_tuple_ended():
    table = TupleTable(2)
    (first,) = intern(table, [(1, 2)], 0, 10)
    assert intern(table, [(1, 2)], 3, 3, -1) == [first]
    assert intern(table, [(1, 2)], 3, 3, -1) == [-1]
    assert intern(table, [(5, 6)], 3, FOREVER) == [first]
    # What has ended is forgotten when others come.
    intern(table, [(7, 8)], 4, 10)
    intern(table, [(7, 9)], 100, FOREVER)
    assert table.stats["tuples"] == 2


@st.composite
def changes(draw):
    """(relation, row, now, until, op): relation 0 is wide, 1 holds pairs."""
    out, now = [], 0
    for _ in range(draw(st.integers(1, 40))):
        now += draw(st.integers(0, 2))
        wide = draw(st.booleans())
        row = tuple(draw(st.integers(0, 2)) for _ in range(3 if wide else 2))
        out.append((0 if wide else 1, row, now, now + 6, draw(st.sampled_from([1, 1, 1, -1]))))
    return out


def naive(history):
    """R(a, b, c) joined with S(b, c), recomputed before and after every change."""
    out, held = [], ({}, {})

    def matches(now):
        return {
            row: min(end, held[1].get(row[1:], now))
            for row, end in held[0].items()
            if end > now and held[1].get(row[1:], now) > now
        }

    for change, (relation, row, now, until, op) in enumerate(history):
        before = matches(now)
        if op < 0:
            held[relation].pop(row, None)
        else:
            held[relation][row] = until
        after = matches(now)
        for match in before.keys() | after.keys():
            old, new = before.get(match, now), after.get(match, now)
            if old != new:
                out.append(Written(match, change, min(old, new), max(old, new), 1 if new > old else -1))
    return by_change(out)


@settings(deadline=None, max_examples=150)
@given(changes(), st.integers(0, 1))
def test_a_wide_relation_joins_as_pairs_with_a_hidden_tuple(history, reverse):
    patterns = [(T, A), (T, B), (T, C), (B, C)]
    join = IntervalJoin(patterns, [0, 0, 0, 0], 4, visible=[A, B, C])
    table, rows = TupleTable(3), []
    for change, (relation, row, now, until, op) in enumerate(history):
        if relation:
            rows.append(Fed(3, *row, now, until, op, change))
            continue
        (number,) = intern(table, [row], now, until, op)
        if number >= 0:
            places = reversed(range(3)) if reverse else range(3)
            rows += [Fed(place, number, row[place], now, until, op, change) for place in places]
    join.feed(*columns_of(rows))
    assert by_change(written(join)) == naive(history)
