"""What is emitted of deltas, and rows that wait, against doing the same with lists; answer sets against counters."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.answer_set import AnswerSet, summed
from millstream.kernels.emission.emission import APPEARS, BOTH, DISAPPEARS, Selection, parted, selected
from millstream.kernels.emission.pending import PendingRows
from millstream.kernels.flow.deltas import Deltas

GRID = 2
LATER = 1 << 40
BEFORE_ALL = -(1 << 62) + 1
Row = tuple[tuple[int, ...], int, int, int]
"""Columns, tick, change, weight."""


def deltas_of(rows: list[Row], width: int) -> Deltas:
    columns = np.array([columns for columns, *_ in rows], np.int64).reshape(len(rows), width)
    tick, change, weight = (np.array([row[i] for row in rows], np.int64) for i in (1, 2, 3))
    return Deltas(columns, tick, change, weight)


def listed(rows: Deltas) -> list[tuple[tuple[int, ...], int, int]]:
    columns = [tuple(row) for row in rows.columns.tolist()]
    return list(zip(columns, rows.tick.tolist(), rows.weight.tolist(), strict=True))


def consolidated(rows: list[Row], seen: int) -> list[tuple[tuple[int, ...], int]]:
    counts: Counter[tuple[int, ...]] = Counter()
    for columns, _, _, weight in rows:
        counts[columns[:seen]] += weight
    return [(columns, weight) for columns, weight in sorted(counts.items()) if weight]


def emitted(columns: tuple[int, ...], weight: int, sign: int) -> list[tuple[tuple[int, ...], int]]:
    if sign == APPEARS:
        return [(columns, 1)] * weight
    if sign == DISAPPEARS:
        return [(columns, 1)] * -weight
    return [(columns, 1 if weight > 0 else -1)] * abs(weight)


@st.composite
def changes(draw: st.DrawFn, width: int) -> list[Row]:
    """Deltas in order, each change consolidated."""
    row = st.tuples(*[st.integers(0, 2)] * width)
    found: list[Row] = []
    for tick in sorted(draw(st.sets(st.integers(0, 11), max_size=5))):
        for change in range(draw(st.integers(1, 2))):
            weights = draw(st.dictionaries(row, st.integers(-3, 3).filter(bool), max_size=4))
            found.extend((columns, tick, change, weight) for columns, weight in sorted(weights.items()))
    return found


@given(st.data(), st.sampled_from([APPEARS, DISAPPEARS, BOTH]), st.booleans(), st.integers(0, 2), st.booleans())
def test_a_selection_emits_every_change_in_its_direction(
    data: st.DataObject, sign: int, on_grids: bool, seen: int, is_first: bool
) -> None:
    rows = data.draw(changes(2))
    expected = []
    for (tick, _), some in groupby(rows, lambda r: (r[1], 0 if on_grids and r[1] & 3 == GRID else r[2])):
        at_tick = 77 if is_first else tick
        for columns, weight in consolidated(list(some), seen):
            expected.extend((c, at_tick, w) for c, w in emitted(columns, weight, sign))
    found: list[tuple[tuple[int, ...], int, int]] = []
    selection = Selection(sign, seen, lambda out: found.extend(listed(out)), 77, on_grids)
    selection.answers = answers = AnswerSet(seen)
    selection.report(deltas_of(rows, 2), BEFORE_ALL if is_first else LATER)
    assert found == expected
    counted, weights = answers.counted()
    assert [(tuple(row), w) for row, w in zip(counted.tolist(), weights.tolist(), strict=True)] == consolidated(rows, seen)


def test_nothing_is_emitted_of_no_rows() -> None:
    def fail(rows: Deltas) -> None:
        raise AssertionError

    selection = Selection(APPEARS, 1, fail, 0, False)
    selection.report(deltas_of([], 1), LATER)
    selection.report(deltas_of([((1,), 5, 0, -1)], 1), LATER)


def test_what_a_receiver_raises_is_raised_and_the_next_change_stands_alone() -> None:
    found: list[int] = []

    def refuse(rows: Deltas) -> None:
        found.extend(rows.tick.tolist())
        raise ValueError("enough")

    selection = Selection(APPEARS, 1, refuse, 0, False)
    for tick in (4, 8):
        with pytest.raises(ValueError, match="enough"):
            selection.report(deltas_of([((1,), tick, 0, 1)], 1), LATER)
    assert found == [4, 8]


def test_more_rows_than_there_is_memory_for_are_refused() -> None:
    with pytest.raises(MemoryError):
        selected(deltas_of([((1,), 0, 0, 1 << 50)], 1), APPEARS)
    # Nor can weights add up to few rows by running over.
    for weight in ((1 << 63) - 1, 1 << 62, -(1 << 62), -(1 << 63)):
        with pytest.raises(MemoryError):
            selected(deltas_of([((n,), 0, 0, weight) for n in range(4)], 1), BOTH)


@given(st.lists(st.tuples(changes(2), st.integers(-1, 2)), max_size=6), st.integers(0, 2))
def test_an_answer_set_is_the_sum_of_all_that_came(parts: list[tuple[list[Row], int]], width: int) -> None:
    answers = AnswerSet(width)
    rows: list[Row] = []
    for part, times in parts:
        answers.apply(deltas_of(part, 2), times)
        rows.extend((columns, tick, change, weight * times) for columns, tick, change, weight in part)
        if times:
            assert len(answers) == len(consolidated(rows, width))
    expected = consolidated(rows, width)
    assert listed(answers.at(9)) == [(columns, 9, weight) for columns, weight in expected]
    assert (len(answers), answers.total) == (len(expected), sum(weight for _, weight in expected))


def test_many_rows_are_merged_while_they_come() -> None:
    rng = np.random.default_rng(3)
    answers, counts = AnswerSet(1), Counter[int]()
    for _ in range(30):
        values, weights = rng.integers(0, 5_000, 1_000), rng.integers(-2, 3, 1_000)
        answers.apply(Deltas(values.reshape(-1, 1), values * 0, values * 0, weights))
        for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
            counts[value] += weight
    columns, weight = answers.counted()
    assert dict(zip(columns[:, 0].tolist(), weight.tolist(), strict=True)) == {v: w for v, w in counts.items() if w}
    assert (np.diff(columns[:, 0]) > 0).all()


def test_sums_have_the_columns_that_are_asked_for() -> None:
    one, other = [((1, 5), 0, 0, 1)], [((1, 6), 3, 0, 2), ((2, 5), 3, 0, -1)]
    found = summed(1, deltas_of(one, 2), deltas_of(other, 2))
    assert listed(found.at(0)) == [((1,), 0, 3), ((2,), 0, -1)]
    with pytest.raises(ValueError, match="columns"):
        summed(3, deltas_of(one, 2))


@given(changes(2))
def test_parts_have_the_rows_of_one_first_column_in_order(rows: list[Row]) -> None:
    found = [(first, listed(part)) for first, part in parted(deltas_of(rows, 2))]
    firsts = sorted({columns[0] for columns, *_ in rows})
    assert found == [(f, [(c[1:], tick, w) for c, tick, _, w in rows if c[0] == f]) for f in firsts]


@given(st.lists(changes(2), min_size=1, max_size=5), st.data())
def test_what_waits_is_summed_up_as_one_change_at_the_time_of_the_last(parts: list[list[Row]], data: st.DataObject) -> None:
    dictionary = Dictionary()
    terms = dictionary.encode([f"<http://e/{i}>" for i in range(-50, 50)])
    kept, counts, last = PendingRows(width=2), Counter[tuple[int, ...]](), 0
    for number, rows in enumerate(parts):
        # The ids of rows are places of terms; later parts happen later.
        given = [(tuple(int(terms[c + 50]) for c in columns), 1000 * number + tick, 0, w) for columns, tick, _, w in rows]
        kept.add(deltas_of(given, 2))
        for columns, tick, _, weight in given:
            counts[columns] += weight
            last = tick
        if data.draw(st.booleans()):
            kept.hold(dictionary)
        if data.draw(st.booleans()):
            kept.sum_up(dictionary)
            left = sorted((columns, n) for columns, n in counts.items() if n)
            assert listed(kept) == [(columns, last, n) for columns, n in left]
    kept.sum_up(dictionary)
    kept.hold(dictionary)
    dictionary.forget_before(1 << 40)
    dictionary.settle()
    dictionary.sweep(1 << 20)
    assert listed(kept) == [(columns, last, n) for columns, n in sorted(counts.items()) if n]
    assert dictionary.stats()["live"] == len({term for columns, n in counts.items() if n for term in columns})
    kept.drop(dictionary)
    assert len(kept) == 0


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.data())
def test_rows_that_wait_go_from_the_front_and_hold_their_terms(sizes: list[int], data: st.DataObject) -> None:
    dictionary = Dictionary()
    kept, expected, number = PendingRows(width=1), list[int](), 0
    for size in sizes:
        ids = dictionary.encode([f"<http://e/{i}>" for i in range(number, number + size)])
        ticks = np.arange(number, number + size)
        number += size
        kept.add(Deltas(ids.reshape(-1, 1), ticks, ticks * 0, ticks * 0 + 1))
        expected.extend(ticks.tolist())
        if data.draw(st.booleans()):
            kept.hold(dictionary)
        count = data.draw(st.integers(0, len(expected)))
        assert kept.first(count).tick.tolist() == expected[:count]
        assert kept.drop(dictionary, count) == count
        del expected[:count]
        assert kept.tick.tolist() == expected
        until = data.draw(st.integers(-1, number))
        assert kept.count_until(until) == sum(tick <= until for tick in expected)
    kept.hold(dictionary)
    dictionary.forget_before(1 << 40)
    dictionary.settle()
    dictionary.sweep(1 << 20)
    texts = dictionary.decode(np.ascontiguousarray(kept.columns[:, 0])).to_pylist()
    assert texts == [f"<http://e/{i}>" for i in expected]
    assert dictionary.stats()["live"] == len(expected)
    kept.drop(dictionary)
    dictionary.settle()
    dictionary.sweep(1 << 20)
    assert (len(kept), dictionary.stats()["live"]) == (0, 0)


def test_rows_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match="columns"):
        PendingRows(width=2).add(deltas_of([((1,), 0, 0, 1)], 1))
    with pytest.raises(ValueError, match="columns"):
        Selection(BOTH, 2, lambda rows: None, 0, False).report(deltas_of([((1,), 0, 0, 1)], 1), LATER)
    with pytest.raises(ValueError, match="no first"):
        parted(deltas_of([], 0))
