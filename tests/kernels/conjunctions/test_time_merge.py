"""The time merge against counters: one for every change and one for every tick at which something falls due."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.conjunctions.time_merge import NO_CHANGE, TimeMerge

FOREVER = 1 << 62
END = 10_000


def push(merge, rows):
    """Rows are (columns, change, now, start, until, weight)."""
    if not rows:
        return
    columns = np.array([row[0] for row in rows], np.int64).reshape(len(rows), len(rows[0][0]))
    merge.push(columns, *(np.array([row[i] for row in rows], np.int64) for i in range(1, 6)))


def drain(merge, upto=END):
    columns, tick, change, weight = merge.drain(upto)
    return [
        (tuple(c), *more) for c, *more in zip(columns.tolist(), tick.tolist(), change.tolist(), weight.tolist(), strict=True)
    ]


def expected(rows, upto=END):
    out, due = [], defaultdict(Counter)

    def write(counter, tick, change):
        out.extend((columns, tick, change, weight) for columns, weight in sorted(counter.items()) if weight)

    def pass_to(tick):
        for at in sorted(t for t in due if t <= tick):
            write(due.pop(at), at, NO_CHANGE)

    changes = {}
    for columns, change, now, start, until, weight in rows:
        changes.setdefault((change, now), []).append((columns, start, until, weight))
    for (change, now), members in changes.items():
        pass_to(now)
        counter = Counter()
        for columns, start, until, weight in members:
            (counter if start <= now else due[start])[columns] += weight
            if until < FOREVER:
                due[until][columns] -= weight
        write(counter, now, change)
    pass_to(upto)
    return out


@st.composite
def streams(draw):
    width = draw(st.integers(0, 3))
    rows, now = [], 0
    for change in range(draw(st.integers(0, 12))):
        now += draw(st.integers(0, 3))
        for _ in range(draw(st.integers(0, 6) if draw(st.booleans()) else st.integers(0, 40))):
            columns = tuple(draw(st.integers(0, 2)) for _ in range(width))
            start = now + draw(st.sampled_from([0, 0, 0, 1, 4]))
            until = draw(st.sampled_from([start + 1, start + 2, start + 7, FOREVER]))
            rows.append((columns, change, now, start, until, draw(st.sampled_from([-2, -1, 1, 1]))))
    return width, rows


@settings(deadline=None, max_examples=200)
@given(streams(), st.data())
def test_deltas_are_those_of_counters_however_the_rows_are_cut(stream, data):
    width, rows = stream
    whole = TimeMerge(width)
    push(whole, rows)
    assert drain(whole) == expected(rows)
    cut, out = TimeMerge(width), []
    while rows:
        size = data.draw(st.integers(1, 10))
        push(cut, rows[:size])
        # Time is known to have passed up to just before the change that may go on.
        out += drain(cut, rows[:size][-1][2] - 1)
        rows = rows[size:]
    out += drain(cut)
    assert out == expected(stream[1])
    assert cut.stats["pending"] == 0


@settings(deadline=None)
@given(streams(), st.integers(0, 20))
def test_a_loaded_merge_goes_on_like_the_dumped_one(stream, passed):
    width, rows = stream
    first, second = TimeMerge(width), TimeMerge(width)
    push(first, rows)
    upto = (rows[-1][2] if rows else 0) + passed
    drain(first, upto)
    columns, tick, weight = first.dump()
    assert (tick > upto).all()
    second.load(columns, tick, weight)
    assert drain(second) == drain(first)


def test_many_rows_at_one_tick_are_ordered_by_columns():
    merge = TimeMerge(2)
    values = np.random.default_rng(1).integers(0, 300, (5_000, 2))
    rows = [((int(a), int(b)), 0, 0, 0, 9, 1) for a, b in values]
    push(merge, rows)
    assert drain(merge) == expected(rows)


def test_an_extension_cancels_the_end_it_replaces():
    #  0    5    10
    #  x----)             pushed at 0
    #       x----)        its extension, pushed at 3
    merge = TimeMerge(1)
    push(merge, [((7,), 0, 0, 0, 5, 1), ((7,), 1, 3, 5, 10, 1)])
    assert merge.next_tick == 5
    assert drain(merge) == [((7,), 0, 0, 1), ((7,), 10, NO_CHANGE, -1)]
    assert merge.next_tick is None


def test_what_falls_due_comes_before_a_change_at_a_later_tick():
    merge = TimeMerge(1)
    push(merge, [((1,), 0, 0, 0, 4, 1), ((2,), 1, 5, 5, FOREVER, 1)])
    assert drain(merge, 5) == [((1,), 0, 0, 1), ((1,), 4, NO_CHANGE, -1), ((2,), 5, 1, 1)]


def test_rows_without_columns_are_counted():
    merge = TimeMerge(0)
    push(merge, [((), 0, 0, 0, 4, 1), ((), 0, 0, 0, 4, 1)])
    assert drain(merge) == [((), 0, 0, 2), ((), 4, NO_CHANGE, -2)]


def test_the_last_change_stays_open_until_time_has_reached_it():
    merge = TimeMerge(1)
    push(merge, [((1,), 0, 8, 8, FOREVER, 1)])
    assert drain(merge, 7) == []
    push(merge, [((1,), 0, 8, 8, FOREVER, 1)])
    assert drain(merge, 8) == [((1,), 8, 0, 2)]


def test_dumping_before_draining_is_refused():
    merge = TimeMerge(1)
    push(merge, [((1,), 0, 8, 8, FOREVER, 1)])
    with pytest.raises(ValueError, match="drain"):
        merge.dump()


def test_columns_of_another_width_are_refused():
    with pytest.raises(ValueError, match="expected 2 columns"):
        push(TimeMerge(2), [((1,), 0, 8, 8, FOREVER, 1)])


def test_rows_of_equal_change_number_at_different_ticks_are_different_changes():
    merge = TimeMerge(1)
    push(merge, [((1,), NO_CHANGE, 4, 4, FOREVER, 1), ((1,), NO_CHANGE, 8, 8, FOREVER, -1)])
    assert drain(merge) == [((1,), 4, NO_CHANGE, 1), ((1,), 8, NO_CHANGE, -1)]


@pytest.mark.parametrize("spread", [1, 3, 1 << 13, 1 << 40, 1 << 62], ids=["equal", "few", "ids", "wide", "widest"])
@pytest.mark.parametrize("width", [1, 2, 3, 9])
def test_a_large_change_is_consolidated_and_in_order(width: int, spread: int) -> None:
    """However many bits tell its rows apart: by digits, or by comparing."""
    rng = np.random.default_rng(width)
    for size, low in ((511, 0), (512, 0), (3_000, 0), (3_000, -spread)):
        columns = rng.integers(low, spread, (size, width))
        columns[: size // 2] = columns[rng.integers(size // 2, size, size // 2)]
        weight = rng.choice([-1, 1], size)
        merge, zeros = TimeMerge(width), np.zeros(size, np.int64)
        merge.push(columns, zeros, zeros, zeros, zeros + FOREVER, weight)
        found, *_, sums = merge.drain(0)
        distinct, place = np.unique(columns, axis=0, return_inverse=True)
        expected = np.bincount(place.ravel(), weight, len(distinct)).astype(np.int64)
        assert found.tolist() == distinct[expected != 0].tolist()
        assert sums.tolist() == expected[expected != 0].tolist()


def test_a_row_that_comes_and_goes_while_its_end_is_ahead_is_kept_twice_at_most():
    #  0                 9
    #  x-----------------)     and again at 1, 2, 3 and so on
    merge, rows = TimeMerge(1), [((5,), 0, 0, 0, 9, 1)]
    for change in range(1, 1000):
        rows.append(((5,), change, change // 200, change // 200, 9, 1 if change % 2 == 0 else -1))
    push(merge, rows)
    assert merge.stats["pending"] == 2
    assert drain(merge, 8) == expected(rows, 8)
    columns, tick, weight = merge.dump()
    assert (columns.tolist(), tick.tolist(), weight.tolist()) == ([[5], [5]], [9, 9], [-1, 1])
    assert drain(merge) == []
    assert merge.stats["pending"] == 0


def edits(count: int, rows: int, step: int) -> list[tuple[tuple[int, ...], int, int, int, int, int]]:
    """Edits at one tick, each of rows that end one after the other: what one brings, the next takes away."""
    return [
        ((change // 2, row), change, 1, 1, 2 + step * row + change // 2 % 3, -1 if change % 2 else 1)
        for change in range(count)
        for row in range(rows)
    ]


@pytest.mark.parametrize("step", [0, 1, 7, 1 << 31, 1 << 33], ids=["at once", "densely", "apart", "far apart", "very far"])
def test_ends_of_many_edits_fall_due_in_order(step: int) -> None:
    #  1    2    3    4
    #  x----)                  of one edit, row by row
    #  x---------)
    #  x--------------)
    #  x----)                  of the next
    rows = [row for row in edits(31, 20, step) if row[5] > 0 or row[0][1] % 2]
    merge = TimeMerge(2)
    push(merge, rows)
    last = rows[-1][4] + 3
    assert merge.stats["pending"] == len(rows)
    assert merge.next_tick == 2
    found = [part for upto in range(1, last, max(1, last // 7)) for part in drain(merge, upto)] + drain(merge, last)
    assert found == expected(rows, last)
    assert merge.stats["pending"] == 0


def test_ends_of_edits_survive_a_dump_in_the_middle() -> None:
    rows = edits(21, 20, 3)
    first, second = TimeMerge(2), TimeMerge(2)
    push(first, rows)
    drain(first, 30)
    columns, tick, weight = first.dump()
    assert len(tick) == first.stats["pending"] > 0
    second.load(columns, tick, weight)
    assert drain(second) == drain(first) != []


@pytest.mark.parametrize("size", [13, 24, 25, 100, 511, 2_000])
@pytest.mark.parametrize("runs", ["rising", "falling", "equal", "two", "sawtooth", "zigzag", "none"])
def test_rows_are_ordered_from_whatever_runs_they_come_in(runs: str, size: int) -> None:
    row = np.arange(size)
    value = {
        "rising": row,
        "falling": size - row,
        "equal": row * 0,
        "two": row % (size // 2) * 3,
        "sawtooth": row % 17 - row // 17,
        "zigzag": np.where(row // 14 % 2, row % 14, 14 - row % 14),
        "none": np.random.default_rng(size).permutation(size),
    }[runs]
    # So wide that they are compared, not sorted by digits.
    columns = [(int(v) << 40, -int(v), int(v) << 20) for v in value]
    rows = [(given, 0, 0, 0, FOREVER, 1 + place % 2) for place, given in enumerate(columns)]
    merge = TimeMerge(3)
    push(merge, rows)
    assert drain(merge) == expected(rows)
