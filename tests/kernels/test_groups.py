"""Groups and accumulators, where callers do what they should not; what they compute is tested with the operator."""

import numpy as np
import pytest

from millstream.kernels.counts import Counts, RowCounts
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.distinct import Distinct
from millstream.kernels.groups import GroupTable
from millstream.kernels.ranked import Rank, Ranked
from millstream.kernels.sums import Sums

INTEGER = 5 << 59 | 1 << 58


class Nothing:
    def key_of(self, term_id):
        return term_id


def columns(*values):
    return tuple(np.array(v, np.int64) for v in values)


def accumulators():
    dictionary = Dictionary()
    return [RowCounts(), Counts(), Sums(dictionary, Nothing(), False), Ranked(dictionary, Nothing(), Rank.FIRST, True)]


def test_a_group_is_emitted_with_its_results():
    table = GroupTable(2, (1,), 2)
    table.enter(np.array([[INTEGER + 4, 7], [INTEGER + 5, 7], [-1, 8]]), *columns([1, 2, 2], [0, 0, 0], [1, 2, 1]))
    RowCounts().accumulate(table, 0, -1, None)
    Counts().accumulate(table, 1, 0, None)
    rows, tick, change, weight, appeared, went = table.emit()
    assert (rows - [0, INTEGER, INTEGER]).tolist() == [[7, 1, 1], [7, 1, 1], [7, 3, 3], [8, 1, 0]]
    assert (tick.tolist(), change.tolist(), weight.tolist()) == ([1, 2, 2, 2], [0] * 4, [1, -1, 1, 1])
    assert appeared is went is None
    assert table.stats["groups"] == 2


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_may_lie_in_any_order(order):
    table = GroupTable(3, (2, 0), 0)
    table.enter(np.asarray([[1, 2, 3], [4, 5, 6]], order=order)[::-1], *columns([0, 0], [0, 0], [1, 1]))
    assert table.emit()[0].tolist() == [[6, 4], [3, 1]]


@pytest.mark.parametrize("width", [0, 1, 5])
def test_columns_of_another_width_are_refused(width):
    with pytest.raises(ValueError):
        GroupTable(2, (0,), 0).enter(np.zeros((1, width), np.int64), *columns([0], [0], [1]))


def test_columns_of_another_length_or_type_are_refused():
    table, rows = GroupTable(1, (0,), 0), np.zeros((2, 1), np.int64)
    for given in (columns([0], [0, 0], [1, 1]), columns([0, 0], [0], [1, 1]), columns([0, 0], [0, 0], [1])):
        with pytest.raises(ValueError):
            table.enter(rows, *given)
    for strange in (rows.astype(np.int32), rows.astype(float), rows[:, 0], rows.byteswap().view(rows.dtype.newbyteorder())):
        with pytest.raises(ValueError):
            table.enter(strange, *columns([0, 0], [0, 0], [1, 1]))
    with pytest.raises(TypeError):
        table.enter([[1]], *columns([0], [0], [1]))
    assert len(table.emit()[0]) == 0


@pytest.mark.parametrize(("width", "keys", "results"), [(1, (1,), 0), (1, (-1,), 0), (-1, (), 0), (1, (), -1)])
def test_a_table_of_impossible_columns_is_refused(width, keys, results):
    with pytest.raises(ValueError):
        GroupTable(width, keys, results)


def test_more_rows_cannot_leave_than_entered():
    with pytest.raises(ValueError, match="more rows of a group left"):
        GroupTable(1, (0,), 0).enter(np.array([[3]]), *columns([0], [0], [-1]))


@pytest.mark.parametrize("accumulator", accumulators(), ids=lambda a: type(a).__name__)
def test_an_accumulator_refuses_what_the_table_does_not_have(accumulator):
    table = GroupTable(1, (), 1)
    table.enter(np.array([[INTEGER]]), *columns([0], [0], [1]))
    for place, operand in ((1, 0), (-1, 0), (0, 1), (0, -2)):
        with pytest.raises(ValueError):
            accumulator.accumulate(table, place, operand, None)
    if not isinstance(accumulator, RowCounts):
        with pytest.raises(ValueError):
            accumulator.accumulate(table, 0, 0, Distinct((7,)))
    with pytest.raises(TypeError):
        accumulator.accumulate(None, 0, 0, None)


@pytest.mark.parametrize("accumulator", accumulators(), ids=lambda a: type(a).__name__)
def test_an_accumulator_has_nothing_to_do_without_a_batch(accumulator):
    table = GroupTable(1, (), 1)
    accumulator.accumulate(table, 0, 0, None)
    table.enter(np.array([[INTEGER]]), *columns([0], [0], [1]))
    table.emit()
    accumulator.accumulate(table, 0, 0, None)
    assert len(table.emit()[0]) == 0


@pytest.mark.parametrize("accumulator", accumulators()[2:], ids=lambda a: type(a).__name__)
def test_an_id_that_is_no_number_is_refused(accumulator):
    table = GroupTable(1, (), 1)
    table.enter(np.array([[6 << 59 | 31 << 54]]), *columns([0], [0], [1]))
    with pytest.raises(ValueError, match="no number"):
        accumulator.accumulate(table, 0, 0, None)


def test_only_a_table_without_keys_has_a_group_of_nothing():
    with pytest.raises(ValueError):
        GroupTable(1, (0,), 0).enter_nothing(0, 0)


def test_slots_are_used_again():
    table, counts = GroupTable(1, (0,), 1), Counts()
    for key in range(1000):
        table.enter(np.array([[key], [key]]), *columns([key, key], [0, 1], [1, -1]))
        counts.accumulate(table, 0, 0, None)
        assert table.emit()[3].tolist() == [1, -1]
    assert table.stats["groups"] == 0
    assert table.stats["bytes"] < 10_000
