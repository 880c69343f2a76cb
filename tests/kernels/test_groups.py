"""Groups and accumulators, where callers do what they should not, and many of them; what they compute is tested with the
operator.
"""

from collections import Counter

import numpy as np
import pytest

from millstream.kernels.aggregates.counts import Counts, RowCounts
from millstream.kernels.aggregates.groups import GroupTable
from millstream.kernels.aggregates.ranked import Rank, Ranked
from millstream.kernels.aggregates.sums import Sums
from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas
from millstream.operators.ordering import Ordering

INTEGER = 5 << 59 | 1 << 58
DICTIONARY = Dictionary()
ORDER = Ordering(DICTIONARY).kernel


def rows(columns, tick, change, weight):
    return Deltas(*(np.array(values, np.int64) for values in (columns, tick, change, weight)))


def groups(width, keys, accumulators=()):
    return GroupTable([Deltas(width=width)], len(keys) + len(accumulators), keys, accumulators, TermReferences(DICTIONARY))


ACCUMULATORS = {
    "rows": lambda **more: RowCounts(),
    "counts": Counts,
    "sums": lambda **more: Sums(DICTIONARY, None, False, **more),
    "ranked": lambda **more: Ranked(ORDER, None, Rank.FIRST, True, **more),
}


def test_a_group_is_shown_with_its_results():
    table = groups(2, (1,), [RowCounts(), Counts(operand=0)])
    found = table.run(rows([[INTEGER + 4, 7], [INTEGER + 5, 7], [-1, 8]], [1, 2, 2], [0, 0, 0], [1, 2, 1]))
    assert (found.columns - [0, INTEGER, INTEGER]).tolist() == [[7, 1, 1], [7, 1, 1], [7, 3, 3], [8, 1, 0]]
    assert (found.tick.tolist(), found.change.tolist(), found.weight.tolist()) == ([1, 2, 2, 2], [0] * 4, [1, -1, 1, 1])
    assert table.stats["groups"] == 2


def test_counts_beyond_ids_are_terms_of_the_dictionary():
    table = groups(1, (), [RowCounts(), Counts(operand=0)])
    many = (1 << 58) - 1
    found = table.run(rows([[1], [2]], [1, 2], [0, 0], [many, 1]))
    texts = [DICTIONARY.decode(np.ascontiguousarray(column)).to_pylist() for column in found.columns.T]
    wanted = [f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>' for n in (0, many, many, many + 1)]
    assert texts == [wanted[4 - len(found.columns) :]] * 2


def test_keys_may_be_in_any_order():
    found = groups(3, (2, 0)).run(rows([[1, 2, 3], [4, 5, 6]], [0, 0], [0, 0], [1, 1]))
    assert found.columns.tolist() == [[3, 1], [6, 4]]


@pytest.mark.parametrize(("width", "keys"), [(1, (1,)), (1, (-1,))])
def test_keys_that_are_not_there_are_refused(width, keys):
    with pytest.raises(ValueError, match="are not places among 1"):
        groups(width, keys)


def test_an_output_of_another_width_is_refused():
    with pytest.raises(ValueError, match="expected 2 columns, got 1"):
        GroupTable([Deltas(width=1)], 1, (0,), [RowCounts()], TermReferences(DICTIONARY))


def test_more_rows_cannot_leave_than_entered():
    with pytest.raises(ValueError, match="more rows of a group left"):
        groups(1, (0,)).run(rows([[3]], [0], [0], [-1]))


@pytest.mark.parametrize("name", ["counts", "sums", "ranked"])
@pytest.mark.parametrize("more", [{"operand": 1}, {"operand": 0, "distinct": (0, 7)}])
def test_an_accumulator_of_columns_that_are_not_there_is_refused(name, more):
    with pytest.raises(ValueError, match="there is no column"):
        groups(1, (), [ACCUMULATORS[name](**more)])


@pytest.mark.parametrize("name", ["sums", "ranked"])
def test_sums_and_orders_need_an_operand(name):
    with pytest.raises(ValueError, match="need"):
        ACCUMULATORS[name]()


def test_negative_columns_are_not_distinct():
    with pytest.raises(ValueError, match="negative"):
        Counts(distinct=(-1,))


def test_what_does_not_accumulate_is_refused():
    for strange in (None, 7, DICTIONARY):
        with pytest.raises(TypeError):
            groups(1, (), [strange])


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_a_table_without_keys_shows_its_group_once_it_begins(name):
    table = groups(1, (), [ACCUMULATORS[name](operand=0)])
    table.begin(3, 4)
    assert table.out.weight.tolist() == [1]
    assert (table.out.tick.tolist(), table.out.change.tolist()) == ([3], [4])


def test_a_table_with_keys_begins_with_nothing():
    table = groups(1, (0,), [RowCounts()])
    table.begin(3, 4)
    assert len(table.out) == 0


@pytest.mark.parametrize("name", ["sums", "ranked"])
def test_an_id_that_is_no_number_is_refused(name):
    with pytest.raises(ValueError, match="no number"):
        groups(1, (), [ACCUMULATORS[name](operand=0)]).run(rows([[6 << 59 | 31 << 54]], [0], [0], [1]))


def test_slots_are_used_again():
    table = groups(1, (0,), [Counts(operand=0)])
    for key in range(1000):
        assert table.run(rows([[key], [key]], [key, key], [0, 1], [1, -1])).weight.tolist() == [1, -1]
    assert table.stats["groups"] == 0
    assert table.stats["bytes"] < 10_000


def test_many_groups_come_and_go_as_counters_do():
    table, random = groups(2, (0, 1), [RowCounts()]), np.random.default_rng(3)
    held, shown = Counter(), Counter()
    pairs = np.unique(random.integers(0, 400, (60_000, 2)), axis=0)
    random.shuffle(pairs)
    for number, sign in enumerate([1, 1, -1, 1, -1, -1]):
        # Twice the same, so that one batch meets groups it has made or lost itself.
        some = np.concatenate([pairs, pairs[::-1]]) if number else pairs[:100]
        ticks = np.arange(len(some)) // 3 + number * 100_000
        if sign < 0:
            some = np.array([pair for pair in some.tolist() if held[tuple(pair)]][: len(pairs)]).reshape(-1, 2)
            ticks = np.arange(len(some)) + number * 100_000
        for pair in map(tuple, some.tolist()):
            held[pair] += sign
        found = table.run(rows(some, ticks, np.zeros(len(some)), np.full(len(some), sign)))
        for row, weight in zip((found.columns - [0, 0, INTEGER]).tolist(), found.weight.tolist(), strict=True):
            shown[tuple(row)] += weight
        held, shown = +held, +shown
        assert shown == Counter({(*pair, count): 1 for pair, count in held.items()})
        assert table.stats["groups"] == len(held)
