"""The relational kernels, by hand and at sizes at which tables grow, shrink and are widened."""

from collections import Counter

import numpy as np
import pytest

from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.relations.relation import Distinct, KeyMatcher, MatchCounter, RowCounter, row_hashes
from millstream.kernels.relations.relation_join import JoinTable

NONE = -1


def columns(width, rows):
    return np.array(rows, np.int64).reshape(len(rows), width)


def at_once(width, rows, tick=0):
    """Rows {row: weight} of one change."""
    n = len(rows)
    weights = np.array(list(rows.values()), np.int64)
    return Deltas(columns(width, list(rows)), np.full(n, tick), np.zeros(n, np.int64), weights)


def feed(operator, left, right):
    out = operator.run(*(at_once(given.width, rows) for given, rows in zip(operator.inputs, (left, right), strict=True)))
    return dict(zip(map(tuple, out.columns.tolist()), out.weight.tolist(), strict=True))


EITHER = pytest.mark.parametrize("distinct", [(False, False), (False, True), (True, True)], ids=["all", "right", "both"])


def join(left_width, right_width, pairs, certain, copies=(), overlap=False, distinct=(False, False)):
    width = left_width + right_width - len(pairs) + len(copies)
    inputs = [Deltas(width=left_width), Deltas(width=right_width)]
    return JoinTable(inputs, width, pairs, certain, copies, overlap, distinct)


def matcher(width, marks=None):
    return MatchCounter([Deltas(width=width), Deltas(width=width)], width + (marks is not None), marks=marks)


def count(counter, rows, weights):
    places, sign = counter.apply(columns(2, rows), np.array(weights, np.int64))
    return list(zip(places.tolist(), sign.tolist(), strict=True))


def test_a_row_is_told_when_its_count_leaves_zero_and_comes_back():
    counter = RowCounter(2)
    assert count(counter, [(1, 2), (3, NONE), (1, 2)], [1, 2, 1]) == [(0, 1), (1, 1)]
    assert count(counter, [(1, 2), (3, NONE)], [-1, -2]) == [(1, -1)]
    assert count(counter, [(1, 2)], [-1]) == [(0, -1)]
    assert counter.stats["rows"] == 0


def test_rows_of_many_counts_grow_and_shrink():
    counter, random = RowCounter(3), np.random.default_rng(1)
    held = Counter()
    for grows in [True] * 20 + [False] * 20:
        rows = [tuple(row) for row in random.integers(0, 30, (2_000, 3)).tolist()] if grows else list(held)[:4_000]
        weights = [1 if grows else -held[row] for row in rows]
        places, sign = counter.apply(columns(3, rows), np.array(weights, np.int64))
        expected = []
        for place, (row, weight) in enumerate(zip(rows, weights, strict=True)):
            before = held[row]
            held[row] += weight
            if (before > 0) != (held[row] > 0):
                expected.append((place, 1 if weight > 0 else -1))
        assert list(zip(places.tolist(), sign.tolist(), strict=True)) == expected
        held = +held
        assert counter.stats["rows"] == len(held)


def test_a_row_unbound_on_the_other_side_matches_and_is_completed():
    table = join(2, 2, [(1, 0)], [False])
    assert feed(table, {(1, 5): 1, (2, NONE): 1}, {(5, 8): 1, (NONE, 9): 1, (6, 7): 1}) == {
        (1, 5, 8): 1,
        (1, 5, 9): 1,
        (2, 5, 8): 1,
        (2, NONE, 9): 1,
        (2, 6, 7): 1,
    }


def test_weights_are_multiplied():
    table = join(2, 2, [(1, 0)], [True])
    assert feed(table, {(1, 5): 2}, {(5, 8): 3}) == {(1, 5, 8): 6}
    assert feed(table, {(1, 5): -1}, {(5, 8): 1}) == {(1, 5, 8): -2}
    assert feed(table, {(1, 5): -1}, {(5, 8): -4}) == {(1, 5, 8): -4}
    assert table.stats["left"] == table.stats["right"] == 0


def test_what_appears_and_disappears_within_a_change_is_not_told():
    table = join(2, 2, [(1, 0)], [True])
    assert feed(table, {(1, 5): 1}, {(5, 8): 1}) == {(1, 5, 8): 1}
    assert feed(table, {(1, 5): 1}, {(5, 8): -1, (5, 9): 1}) == {(1, 5, 8): -1, (1, 5, 9): 2}


def test_copies_tell_which_left_row_was_completed():
    table = join(2, 2, [(1, 0)], [False], [1])
    assert feed(table, {(1, 5): 1, (1, NONE): 1}, {(5, 8): 1}) == {(1, 5, 8, 5): 1, (1, 5, 8, NONE): 1}


def test_with_overlap_a_pair_needs_a_column_bound_in_both():
    table = join(2, 2, [(0, 0), (1, 1)], [False, False], overlap=True)
    assert feed(table, {(1, NONE): 1}, {(NONE, 2): 1, (1, 2): 1, (1, NONE): 1}) == {(1, 2): 1, (1, NONE): 1}


def joined(left, right, pairs, distinct=(False, False)):
    out = Counter()
    left, right = (
        {row: 1 for row, count in side.items() if count > 0} if once else side
        for side, once in zip((left, right), distinct, strict=True)
    )
    for a, n in left.items():
        for b, m in right.items():
            if all(NONE in (a[i], b[j]) or a[i] == b[j] for i, j in pairs):
                whole = list(a)
                for i, j in pairs:
                    whole[i] = b[j] if a[i] == NONE else a[i]
                out[(*whole, *(v for j, v in enumerate(b) if j not in {j for _, j in pairs}))] += n * m
    return out


@pytest.mark.parametrize("certain", [[True, True], [True, False], [False, False]])
def test_many_rows_come_and_go_in_every_class(certain):
    random, pairs = np.random.default_rng(7), [(1, 0), (2, 1)]
    table = join(3, 3, pairs, certain)
    held, before = (Counter(), Counter()), Counter()
    for round_number in range(24):
        changes = []
        for side, places in enumerate(zip(*pairs, strict=True)):
            change = Counter()
            for row in random.integers(0, 12, (60, 3)).tolist():
                for place, sure in zip(places, certain, strict=True):
                    # Rows without a value come late, so that rows are there when a new class asks for them.
                    if not sure and round_number > 4 and random.random() < 0.15:
                        row[place] = NONE
                change[tuple(row)] = 1
            for row in list(held[side]):
                if random.random() < (0.2 if round_number < 16 else 0.6):
                    change[row] = -held[side][row]
            held[side].update(change)
            changes.append(change)
        held = tuple(+side for side in held)
        after = joined(*held, pairs)
        out = feed(table, *changes)
        assert out == {row: after[row] - before[row] for row in before | after if after[row] != before[row]}
        assert (table.stats["left"], table.stats["right"]) == tuple(map(len, held))
        before = after
    for side in range(2):
        gone = [{}, {}]
        gone[side] = {row: -n for row, n in held[side].items()}
        feed(table, *gone)
    assert table.stats["left"] == table.stats["right"] == 0


@pytest.mark.parametrize("certain", [True, False])
@pytest.mark.parametrize("keys", [1, 3])
@EITHER
def test_many_rows_of_few_keys_come_and_go_in_any_order(certain, keys, distinct):
    random, pairs = np.random.default_rng(keys), [(1, 0)]
    table = join(2, 2, pairs, [certain], distinct=distinct)
    held, before = (Counter(), Counter()), Counter()
    for share in (0.1, 0.2, 0.5, 0.9, 0.2, 0.8, 1.0):
        changes = []
        for side, place in enumerate((1, 0)):
            change = Counter()
            for row in random.integers(0, 40, (30, 2)).tolist():
                row[place] = NONE if not certain and random.random() < 0.1 else row[place] % keys
                change[tuple(row)] += int(random.integers(1, 3))
            for row in random.permutation(np.array(list(held[side]), np.int64).reshape(-1, 2)).tolist():
                if random.random() < share:
                    # Some lose a part of their count only.
                    change[tuple(row)] -= held[side][tuple(row)] if random.random() < 0.8 else 1
            held[side].update(change)
            changes.append({row: weight for row, weight in change.items() if weight})
        held = tuple(Counter({row: n for row, n in side.items() if n}) for side in held)
        after = joined(*held, pairs, distinct)
        out = feed(table, *changes)
        assert out == {row: after[row] - before[row] for row in before | after if after[row] != before[row]}
        assert (table.stats["left"], table.stats["right"]) == tuple(map(len, held))
        before = after


@pytest.mark.parametrize("certain", [True, False])
@EITHER
def test_rows_that_are_replaced_by_others_of_their_key(certain, distinct):
    random, pairs = np.random.default_rng(3), [(0, 0)]
    table = join(2, 2, pairs, [certain], distinct=distinct)
    held, before = (Counter(), Counter()), Counter()
    for _ in range(40):
        changes = []
        for side in range(2):
            change = Counter()
            for key in range(12):
                key = NONE if not certain and key == 11 and random.random() < 0.2 else key
                rows = [row for row in held[side] if row[0] == key]
                if rows and random.random() < 0.8:
                    old = rows[random.integers(len(rows))]
                    count = held[side][old] if random.random() < 0.8 else 1
                    change[old] -= count
                    if random.random() < 0.8:
                        change[key, int(random.integers(6))] += count
                elif random.random() < 0.5:
                    change[key, int(random.integers(6))] += int(random.integers(1, 3))
            held[side].update(change)
            changes.append({row: weight for row, weight in sorted(change.items()) if weight})
        held = tuple(Counter({row: n for row, n in side.items() if n}) for side in held)
        after = joined(*held, pairs, distinct)
        out = feed(table, *changes)
        assert out == {row: after[row] - before[row] for row in before | after if after[row] != before[row]}
        assert (table.stats["left"], table.stats["right"]) == tuple(map(len, held))
        before = after


def test_rows_without_shared_columns_form_the_product():
    table = join(1, 1, [], [])
    left, right = {(i,): 1 for i in range(40)}, {(i,): 2 for i in range(30)}
    assert feed(table, left, right) == {(i, j): 2 for i in range(40) for j in range(30)}


def test_a_left_row_is_unmatched_while_its_matches_sum_to_zero():
    counter = matcher(2)
    assert feed(counter, {(1, 2): 3}, {}) == {(1, 2): 3}
    assert feed(counter, {}, {(1, 2): 2}) == {(1, 2): -3}
    assert feed(counter, {(1, 2): -1}, {(1, 2): -1}) == {}
    assert feed(counter, {}, {(1, 2): -1}) == {(1, 2): 2}
    assert feed(counter, {(1, 2): -2}, {}) == {(1, 2): -2}
    assert counter.stats["rows"] == 0


def test_a_match_may_be_told_before_its_left_row():
    counter = matcher(2)
    assert feed(counter, {}, {(1, 2): 1}) == {}
    assert feed(counter, {(1, 2): 1}, {}) == {}


def test_a_marked_row_changes_its_mark():
    counter = matcher(2, (70, 71))
    assert feed(counter, {(1, 2): 3}, {}) == {(1, 2, 70): 3}
    assert feed(counter, {(1, 2): -1}, {(1, 2): 2}) == {(1, 2, 70): -3, (1, 2, 71): 2}


@pytest.mark.parametrize(
    ("pairs", "certain", "message"),
    [
        ([(2, 0)], [True], "different places of 2 columns"),
        ([(0, 0), (0, 1)], [True, True], "different places"),
        ([(0, -1)], [True], "different places"),
        ([(0, 0)], [], "known whether they are certain"),
    ],
)
def test_shared_columns_that_are_not_there_are_refused(pairs, certain, message):
    with pytest.raises(ValueError, match=message):
        join(2, 2, pairs, certain)


def test_copies_of_columns_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="copies"):
        join(2, 2, [], [], [2])


TWO = [Deltas(width=2), Deltas(width=2)]
OTHER = [Deltas(width=1), Deltas(width=1)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: JoinTable(TWO, 3, [], []),
        lambda: JoinTable(TWO, 5, [(0, 0)], [True]),
        lambda: MatchCounter(OTHER, 2),
        lambda: MatchCounter(TWO, 2, marks=(1, 2)),
        lambda: MatchCounter([TWO[0], OTHER[0]], 2),
        lambda: KeyMatcher(TWO, 2, [0]),
        lambda: KeyMatcher(OTHER, 2, [0]),
        lambda: Distinct([TWO[0]], 1),
    ],
)
def test_rows_of_another_width_are_refused(make):
    with pytest.raises(ValueError, match=r"expected \d columns, got \d"):
        make()


@pytest.mark.parametrize("inputs", [[], [TWO[0]], [*TWO, TWO[0]]])
def test_as_many_inputs_as_sides(inputs):
    with pytest.raises(ValueError, match="expected two inputs"):
        MatchCounter(inputs, 2)


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        RowCounter(2).apply(columns(2, [(1, 2)]), np.ones(2, np.int64))


def test_widths_below_zero_are_refused():
    with pytest.raises(ValueError, match="at least 0"):
        RowCounter(-1)
    with pytest.raises(ValueError, match="at least 0"):
        MatchCounter(TWO, -1)


def test_a_class_can_be_asked_by_a_new_key_at_every_size():
    # Its table may just then be moving from an old place to a new one.
    for size in range(1, 120):
        table = join(2, 2, [(1, 0)], [False])
        feed(table, {(i, i): 1 for i in range(size)}, {})
        assert feed(table, {}, {(NONE, 9): 1}) == {(i, i, 9): 1 for i in range(size)}


SO_MANY = 300_000
"""Among so many keys about ten pairs have the same hash of 32 bits."""
MANY = np.random.default_rng(0).permutation(np.arange(SO_MANY, dtype=np.int64) * 1_000_003**2)


def test_keys_with_equal_hashes_are_told_apart():
    keys, table = MANY, join(1, 1, [(0, 0)], [True])
    # Half of them at once, so that a large table meets the others.
    for some, weight in ((keys[::2], 1), (keys[1::2], 1), (keys, -1)):
        rows = Deltas(some[:, None], np.arange(len(some)), np.zeros(len(some)), np.full(len(some), weight))
        out = table.run(rows, rows)
        assert np.array_equal(out.columns[:, 0], some)
        assert (out.weight == weight).all()
    assert table.stats["left"] == table.stats["right"] == 0


def test_rows_with_equal_hashes_are_told_apart():
    rows, ones = np.ascontiguousarray(MANY[:, None]), np.ones(SO_MANY, np.int64)
    counter = RowCounter(1)
    assert len(counter.apply(rows, ones)[0]) == SO_MANY
    assert len(counter.apply(rows, -ones)[0]) == SO_MANY
    assert counter.stats["rows"] == 0


def _different_hashes(rows):
    assert len(np.unique(rows, axis=0)) == len(rows)
    return len(np.unique(row_hashes(np.ascontiguousarray(rows, np.int64))))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 17, 40])
@pytest.mark.parametrize("kind", [0, 1 << 60, 3 << 60])
def test_rows_of_small_numbers_have_different_hashes(width, kind):
    rows = np.unique(np.random.default_rng(width).integers(0, 60, (60_000, width)), axis=0) | kind
    # By chance about one pair of 60,000 rows.
    assert _different_hashes(rows) > len(rows) - 10


def test_rows_of_equal_sums_have_different_hashes():
    #  sums of all columns are equal, and so are sums of columns times their places
    steps = np.arange(20_000)
    for places in ((0, 1, 2), (3, 5, 7), (14, 15, 16), (15, 16, 17), (16, 24, 32)):
        rows = np.zeros((len(steps), places[-1] + 1), np.int64)
        rows[:, places[0]] = rows[:, places[2]] = steps
        rows[:, places[1]] = 100_000 - 2 * steps
        assert _different_hashes(rows) > len(rows) - 5


def test_rows_of_many_keys_turn_as_their_keys_are_matched():
    by_key, random = KeyMatcher([Deltas(width=2), Deltas(width=1)], 2, [1]), np.random.default_rng(2)
    rows, keys, shown = Counter(), Counter(), Counter()
    for step in range(60):
        grows = step < 30
        left = Counter(map(tuple, random.integers(0, (400, 40), (500, 2)).tolist())) if grows else Counter(list(rows)[:400])
        right = Counter(map(tuple, random.integers(0, 60, (5, 1)).tolist())) if grows else Counter(list(keys)[:3])
        if not grows:
            left, right = Counter({r: rows[r] for r in left}), Counter({r: keys[r] for r in right})
        sign = 1 if grows else -1
        found = feed(by_key, {r: sign * n for r, n in left.items()}, {r: sign * n for r, n in right.items()})
        for one, change in ((rows, left), (keys, right)):
            for row, n in change.items():
                one[row] += sign * n
        rows, keys = +rows, +keys
        for row, n in found.items():
            shown[row] += n
        assert +shown == Counter({r: n for r, n in rows.items() if not keys[r[1:]]})
        assert min(shown.values(), default=0) >= 0
        assert by_key.stats["rows"] == len(rows)
        assert by_key.stats["keys"] == len({r[1] for r in rows} | {k[0] for k in keys})


def test_many_rows_turn_as_they_are_matched():
    counter, random = matcher(2), np.random.default_rng(3)
    held, shown = (Counter(), Counter()), Counter()
    for step in range(40):
        changes = []
        for side in held:
            if step < 20:
                change = Counter(map(tuple, random.integers(0, 100, (600, 2)).tolist()))
            else:
                change = Counter({row: -side[row] for row in list(side)[:500]})
            side.update(change)
            changes.append({row: n for row, n in change.items() if n})
        held = tuple(+side for side in held)
        shown.update(feed(counter, *changes))
        assert +shown == Counter({row: n for row, n in held[0].items() if not held[1][row]})
        assert min(shown.values(), default=0) >= 0
        assert counter.stats["rows"] == len(held[0] | held[1])
    assert counter.stats["rows"] == 0


def test_a_key_is_columns_of_the_row():
    for key in ([2], [-1]):
        with pytest.raises(ValueError, match="a key is columns of a row of 2"):
            KeyMatcher([Deltas(width=2), Deltas(width=1)], 2, key)
