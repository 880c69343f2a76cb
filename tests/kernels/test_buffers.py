"""Buffers that flow between operators, and operators written in Python."""

from __future__ import annotations

import numpy as np
import pytest

from millstream.kernels.flow.deltas import Arrivals, Bound, Deltas, PythonOperator
from millstream.kernels.flow.flow import Flow


def made(size: int, width: int = 2) -> Deltas:
    numbers = np.arange(size)
    return Deltas(np.arange(size * width).reshape(size, width), numbers, numbers * 2, numbers + 1)


@pytest.mark.parametrize("width", [0, 1, 3])
def test_columns_come_back_as_they_were_given(width: int) -> None:
    rows = made(5, width)
    assert rows.columns.tolist() == np.arange(5 * width).reshape(5, width).tolist()
    assert (rows.tick.tolist(), rows.change.tolist()) == ([0, 1, 2, 3, 4], [0, 2, 4, 6, 8])
    assert rows.weight.tolist() == [1, 2, 3, 4, 5]
    assert (len(rows), rows.width) == (5, width)


def test_a_copy_stays_when_the_buffer_is_written_anew() -> None:
    class Twice(PythonOperator):
        def changed(self, *inputs: Deltas) -> Deltas:
            (rows,) = inputs
            return Deltas(rows.columns, rows.tick, rows.change, rows.weight * 2)

    twice = Twice([made(3)], 2)
    kept = twice.run().copy()
    assert twice.run().weight.tolist() == [2, 4, 6] == kept.weight.tolist()


def test_lengths_must_agree() -> None:
    ones = np.ones(2, np.int64)
    with pytest.raises(ValueError, match="length"):
        Deltas(np.zeros((3, 1), np.int64), ones, ones, ones)
    with pytest.raises(ValueError, match="length"):
        Arrivals(ones, np.zeros((3, 3), np.int64), ones, ones, ones, ones)


def test_arrivals_are_picked_by_place() -> None:
    numbers = np.arange(4)
    rows = Arrivals(numbers, np.arange(12).reshape(4, 3), numbers + 1, numbers + 2, numbers * 0 + 1, numbers)
    some = rows.pick(numbers % 2 == 1)
    assert some.triples.tolist() == [[3, 4, 5], [9, 10, 11]]
    assert (some.now.tolist(), some.until.tolist(), some.change.tolist()) == ([2, 4], [3, 5], [1, 3])


def test_a_large_drain_gives_its_room_back_when_it_was_read() -> None:
    class Drained:
        def __init__(self) -> None:
            self.size = 3

        def drain(self) -> Deltas:
            return made(self.size)

    class Unbound(Bound):
        def check(self, rows: int) -> None:
            raise AssertionError

    given, twice = Drained(), Deltas(width=2)
    unbound = Unbound()
    unbound.most = 1 << 62
    flow = Flow([], [twice], [], [twice], unbound, others=[(twice, given)])
    for size in (3, 1 << 19, 5):
        given.size = size
        (found,) = flow.drain(0)
        assert found.weight.tolist() == list(range(1, size + 1))
        before = found.capacity
        flow.give_back()
        assert found.capacity == (0 if size > 1 << 18 else before)
    assert before < 1 << 18
