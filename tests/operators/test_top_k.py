"""ORDER BY with LIMIT and OFFSET: every change against sorting everything again."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.order.top_k import ALL as ALL_ROWS
from millstream.kernels.order.top_k import TopK, TopKOfEach
from millstream.operators.expressions.values.values import read_term
from millstream.operators.ordering import Ordering, order_key, term_key
from millstream.operators.ranking import levels, sort_rows
from tests.operators.deltas_model import applied, buffers, deltas, listed, recomputed
from tests.operators.ordered_terms import ALL

DICTIONARY = Dictionary()
IDS = [-1, *DICTIONARY.encode(ALL).tolist()]
DICTIONARY.hold(np.array([i for i in IDS if i >= 0], np.int64))
TEXT = dict(zip(IDS, [None, *ALL], strict=True))
VALUE = {i: None if text is None else read_term(text) for i, text in TEXT.items()}
INTEGERS = DICTIONARY.encode([f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>' for n in range(1000)]).tolist()
VALUE |= {i: read_term(DICTIONARY.decode_one(i)) for i in INTEGERS}


class Reversed:
    def __init__(self, key):
        self.key = key

    def __lt__(self, other):
        return other.key < self.key

    def __eq__(self, other):
        return other.key == self.key


def row_key(row, conditions, completion):
    keys = []
    for place, descending in conditions:
        key = order_key(VALUE[row[place]])
        keys.append(Reversed(key) if descending else key)
    return (*keys, *(term_key(VALUE[row[place]]) for place in (*completion, *range(len(row)))))


def sliced(multiset, conditions, completion, offset, limit):
    ordered = sorted(multiset.elements(), key=lambda row: row_key(row, conditions, completion))
    return Counter(ordered[offset : None if limit is None else offset + limit])


@st.composite
def histories(draw, width, ids, most):
    """Changes of a multiset that never goes below nothing."""
    held, changes = Counter(), []
    for change in range(draw(st.integers(1, most))):
        members = {}
        for row in draw(st.lists(st.tuples(*[ids] * width), min_size=1, max_size=6, unique=True)):
            members[row] = draw(st.integers(1, 4))
        for row in draw(st.lists(st.sampled_from(sorted(held)), max_size=6, unique=True)) if held else ():
            members[row] = -draw(st.integers(1, held[row]))
        for row, weight in members.items():
            held[row] += weight
            if not held[row]:
                del held[row]
        changes.append(((change // 3, change), members))
    return changes


def ranked(width, conditions, completion, offset, limit, tag=None):
    """The operator, of one order or of one for each tag."""
    more = levels(conditions, completion), Ordering(DICTIONARY).kernel, offset, ALL_ROWS if limit is None else limit
    return TopK(buffers(width), width, *more) if tag is None else TopKOfEach(buffers(width), width, tag, *more)


def checked(history, width, conditions, completion, offset, limit, cuts):
    operator = ranked(width, conditions, completion, offset, limit)
    found = applied(operator, [width], [history], cuts)
    expected = recomputed([history], lambda held: sliced(held, conditions, completion, offset, limit))
    assert sorted(found, key=lambda r: (r[1:3], r[0])) == expected
    return operator


conditions = st.lists(st.tuples(st.integers(0, 1), st.booleans()), max_size=2).map(tuple)
limits = st.one_of(st.none(), st.integers(0, 8))


@settings(deadline=None, max_examples=200)
@given(
    histories(2, st.sampled_from(IDS), 12),
    conditions,
    st.sampled_from([(), (0,), (1, 0)]),
    st.integers(0, 6),
    limits,
    st.sets(st.integers(0, 12)),
)
def test_the_slice_is_that_of_sorting_again_after_every_change(history, conditions, completion, offset, limit, cuts):
    checked(history, 2, conditions, completion, offset, limit, cuts)


@settings(deadline=None, max_examples=60)
@given(histories(1, st.sampled_from(INTEGERS), 60), st.integers(0, 40), limits, st.sets(st.integers(0, 60)))
def test_many_integers_are_ranked_as_by_sorting(history, offset, limit, cuts):
    checked(history, 1, ((0, True),), (0,), offset, limit, cuts)


@settings(deadline=None, max_examples=60)
@given(histories(2, st.sampled_from(IDS), 8), conditions, st.integers(0, 3), limits)
def test_the_rows_of_the_slice_come_in_order(history, conditions, offset, limit):
    operator = checked(history, 2, conditions, (1,), offset, limit, ())
    rows, weights = operator.rows(offset, ALL_ROWS if limit is None else limit)
    keys = [row_key(row, conditions, (1,)) for row in rows.tolist()]
    assert keys == sorted(keys)
    assert sum(weights.tolist()) <= (limit if limit is not None else 1 << 60)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)), max_size=30), conditions)
def test_sorting_rows_puts_them_in_order_and_counts_equal_ones(rows, conditions):
    columns = np.array(rows, np.int64).reshape(-1, 2)
    found, weight = sort_rows(columns, np.ones(len(rows), np.int64), conditions, (1,), DICTIONARY)
    assert np.repeat(found, weight, 0).tolist() == [
        list(row) for row in sorted(rows, key=lambda r: row_key(r, conditions, (1,)))
    ]


@settings(deadline=None, max_examples=100)
@given(
    histories(2, st.sampled_from(INTEGERS[:4]), 12),
    st.integers(0, 2),
    st.one_of(st.none(), st.integers(0, 3)),
    st.sets(st.integers(0, 12)),
)
def test_each_of_several_orders_has_its_own_slice_change_by_change(history, offset, limit, cuts):
    def slice_of_each(held):
        found = Counter()
        for tag in {row[0] for row in held}:
            ours = Counter({row: weight for row, weight in held.items() if row[0] == tag})
            found += sliced(ours, ((1, True),), (), offset, limit)
        return found

    operator = ranked(2, ((1, True),), (), offset, limit, tag=0)
    found = applied(operator, [2], [history], cuts)
    assert sorted(found, key=lambda r: (r[1:3], r[0])) == recomputed([history], slice_of_each)
    left = Counter()
    for _, members in history:
        left.update(members)
    assert operator.stats["orders"] == len({row[0] for row, weight in left.items() if weight})


def top(offset, limit):
    return ranked(1, ((0, True),), (0,), offset, limit)


def one(n, weight, at):
    return deltas(1, [((at, at), {(INTEGERS[n],): weight})])


def changed(found):
    return {INTEGERS.index(row[0]): weight for row, _, _, weight in listed(found)}


def test_a_row_that_enters_the_slice_pushes_the_last_one_out():
    operator = top(0, 2)
    operator.run(deltas(1, [((0, 0), {(INTEGERS[n],): 1 for n in (5, 3, 1)})]))
    assert changed(operator.run(one(4, 1, 1))) == {4: 1, 3: -1}


def test_a_row_before_the_slice_shifts_it():
    operator = top(1, 1)
    operator.run(deltas(1, [((0, 0), {(INTEGERS[n],): 1 for n in (5, 3, 1)})]))
    assert changed(operator.run(one(9, 1, 1))) == {5: 1, 3: -1}
    assert changed(operator.run(one(9, -1, 2))) == {5: -1, 3: 1}


def test_a_row_behind_the_slice_changes_nothing():
    operator = top(0, 2)
    operator.run(deltas(1, [((0, 0), {(INTEGERS[n],): 1 for n in (5, 3)})]))
    assert changed(operator.run(one(1, 7, 1))) == {}


def test_a_row_is_in_the_slice_as_often_as_there_is_room():
    operator = top(1, 3)
    assert changed(operator.run(one(5, 10, 0))) == {5: 3}
    assert changed(operator.run(one(7, 2, 1))) == {7: 1, 5: -1}


def test_an_integer_and_a_decimal_of_one_value_tie():
    one, also = DICTIONARY.encode(
        ['"1"^^<http://www.w3.org/2001/XMLSchema#integer>', '"1.0"^^<http://www.w3.org/2001/XMLSchema#decimal>']
    )
    a, b = DICTIONARY.encode(["<urn:a>", "<urn:b>"])
    operator = ranked(2, ((0, False),), (1,), 0, 1)
    operator.run(deltas(2, [((0, 0), {(one, b): 1, (also, a): 1})]))
    assert operator.rows(0, 1)[0].tolist() == [[also, a]]


def test_limit_0_gives_nothing():
    assert changed(top(0, 0).run(one(5, 1, 0))) == {}


def test_a_row_that_is_not_there_cannot_be_taken_out():
    with pytest.raises(ValueError, match="more often"):
        top(0, 1).run(one(5, -1, 0))
