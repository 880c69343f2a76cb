"""Rows between two ranks against a sorted list, with enough rows for the tree to grow and shrink by several levels."""

import random
from bisect import bisect_left, insort
from collections import Counter

import numpy as np
import pytest

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.order.row_order import ASCENDING, DESCENDING, TERM
from millstream.kernels.order.top_k import ALL, TopK, TopKOfEach
from millstream.operators.ordering import Ordering

ZERO = Dictionary().encode_one('"0"^^<http://www.w3.org/2001/XMLSchema#integer>')


def ranking(width=1, levels=((0, ASCENDING),), **more):
    return TopK([Deltas(width=width)], width, levels, Ordering(Dictionary()).kernel, **more)


def at_once(columns, weights):
    """Rows of one change."""
    zeros = np.zeros(len(weights), np.int64)
    return Deltas(np.array(columns, np.int64), zeros, zeros, np.array(weights, np.int64))


def put(ranks, numbers, weights):
    n = len(numbers)
    columns = (np.array(numbers, np.int64) + ZERO).reshape(n, 1)
    out = ranks.run(Deltas(columns, np.zeros(n, np.int64), np.arange(n), np.array(weights, np.int64)))
    return list(zip((out.columns[:, 0] - ZERO).tolist(), out.change.tolist(), out.weight.tolist(), strict=True))


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


@pytest.mark.parametrize("seed", range(40))
def test_rows_that_tie_in_the_first_key_come_and_go_around_the_end_of_the_slice(seed):
    chance = random.Random(seed)
    offset, limit = chance.choice(((0, 1), (0, 3), (2, 4), (5, 0), (0, 40)))
    how, values = chance.choice((ASCENDING, DESCENDING)), chance.choice((1, 3, 20))
    ranks, there, shown = ranking(2, ((0, how),), offset=offset, limit=limit), Counter(), Counter()
    for _ in range(300):
        row, weight = (chance.randrange(values), chance.randrange(5)), chance.randint(1, 3)
        if there and chance.random() < 0.6:
            row = chance.choice(sorted(there))
            weight = -chance.randint(1, there[row])
        there[row] += weight
        there = +there
        out = ranks.run(at_once([[ZERO + value for value in row]], [weight]))
        for (first, second), change in zip((out.columns - ZERO).tolist(), out.weight.tolist(), strict=True):
            shown[first, second] += change
        ordered = sorted(there.elements(), key=lambda r: (-r[0] if how == DESCENDING else r[0], r[1]))
        assert +shown == Counter(ordered[offset : offset + limit])
        assert not -shown


@pytest.mark.parametrize("seed", range(12))
def test_a_short_slice_of_many_rows_is_right_after_every_change(seed):
    # Most rows are far behind the slice, where they have no order until those before them are gone.
    chance, terms = random.Random(seed), Dictionary()
    offset, limit = chance.choice(((0, 1), (0, 10), (3, 5), (40, 2), (2, 0)))
    how, values, most_weight = chance.choice((ASCENDING, DESCENDING)), chance.choice((1, 4, 2000)), chance.choice((1, 9))
    ranks = TopK([Deltas(width=2)], 2, ((0, how),), Ordering(terms).kernel, offset=offset, limit=limit)
    names = [f"<http://a/{'x' * (n % 3)}{n:04}>" for n in range(600)]
    ids = {name: terms.encode_one(name) for name in names}
    name_of = {term_id: name for name, term_id in ids.items()}
    there, shown = Counter(), Counter()

    def place(row):
        return (-row[0] if how == DESCENDING else row[0], row[1])

    def change(row, weight):
        there[row] += weight
        if there[row] == 0:
            del there[row]
        out = ranks.run(at_once([[ZERO + row[0], ids[row[1]]]], [weight]))
        for (first, second), more in zip(out.columns.tolist(), out.weight.tolist(), strict=True):
            shown[first - ZERO, name_of[second]] += more
        ordered = sorted(there, key=place)
        wanted, rank = Counter(), 0
        for row in ordered:
            if rank >= offset + limit:
                break
            inside = min(rank + there[row], offset + limit) - max(rank, offset)
            if inside > 0:
                wanted[row] = inside
            rank += there[row]
        assert +shown == wanted
        assert not -shown
        return ordered

    ordered = []
    for _ in range(700):
        ordered = change((chance.randrange(values), chance.choice(names)), chance.randint(1, most_weight))
    for step in range(700):
        if chance.random() < 0.3:
            ordered = change((chance.randrange(values), chance.choice(names)), chance.randint(1, most_weight))
        if ordered:
            # Often from the front, so that the tree runs out of rows.
            row = ordered[0] if chance.random() < 0.7 else chance.choice(ordered)
            ordered = change(row, -chance.randint(1, there[row]))
        if step == 350:
            columns, weight = ranks.rows(0, ALL)
            found = [(first - ZERO, name_of[second]) for first, second in columns.tolist()]
            assert list(zip(found, weight.tolist(), strict=True)) == [(row, there[row]) for row in ordered]
    assert ranks.stats["rows"] == len(there)
    assert ranks.stats["weight"] == sum(there.values())


@pytest.mark.parametrize("seed", range(12))
def test_a_row_that_leaves_and_returns_within_a_change_is_where_it_belongs(seed):
    # It was far behind the slice when it left, and is near when it returns: the rows between go in the same change.
    chance = random.Random(seed)
    how, values = chance.choice((ASCENDING, DESCENDING)), chance.choice((1, 3))
    ranks, there, shown = ranking(2, ((0, how), (1, ASCENDING)), limit=3), set(), Counter()

    def place(row):
        return (-row[0] if how == DESCENDING else row[0], row[1])

    for _ in range(60):
        new = {(chance.randrange(values), chance.randrange(1000)) for _ in range(200 - len(there))} - there
        rows = [(row, 1) for row in sorted(new)]
        there |= new
        ordered = sorted(there, key=place)
        first = chance.randint(0, len(ordered) - 2)
        returning = chance.sample(ordered[first:], min(20, len(ordered) - first))
        leaving = [row for row in ordered[:first] if row not in returning]
        rows += [(row, -1) for row in returning + leaving] + [(row, 1) for row in returning]
        there -= set(leaving)
        out = ranks.run(at_once([[ZERO + value for value in row] for row, _ in rows], [weight for _, weight in rows]))
        for (one, other), weight in zip((out.columns - ZERO).tolist(), out.weight.tolist(), strict=True):
            shown[one, other] += weight
        assert +shown == Counter(sorted(there, key=place)[:3])
        assert not -shown


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
    ranks = ranking(0, (), offset=1, limit=2)
    assert ranks.run(at_once(np.empty((1, 0)), [5])).weight.tolist() == [2]
    assert ranks.run(at_once(np.empty((1, 0)), [-4])).weight.tolist() == [-2]


def test_one_row_may_come_and_go_within_a_change():
    ranks = ranking()
    assert len(ranks.run(at_once(np.full((4, 1), ZERO), [1, -1, 1, -1]))) == 0
    assert ranks.stats["rows"] == 0


@pytest.mark.parametrize("levels", [((1, ASCENDING),), ((-1, TERM),), ((0, 3),)])
def test_levels_name_columns(levels):
    with pytest.raises(ValueError, match="levels"):
        ranking(levels=levels)


def test_columns_of_other_widths_are_refused():
    order = Ordering(Dictionary()).kernel
    with pytest.raises(ValueError, match="expected 1 columns, got 2"):
        TopK([Deltas(width=2)], 1, ((0, DESCENDING),), order)
    with pytest.raises(ValueError, match="no column 1"):
        TopKOfEach([Deltas(width=1)], 1, 1, (), order)


def test_ids_that_name_no_term_are_refused_and_nothing_goes_on_from_there():
    ranks = ranking()
    with pytest.raises(LookupError):
        ranks.run(at_once([[77]], [1]))
    with pytest.raises(ValueError, match="halfway"):
        put(ranks, [1], [1])


def test_orders_come_and_go_with_their_tags():
    tags = TopKOfEach([Deltas(width=2)], 2, 0, ((1, ASCENDING),), Ordering(Dictionary()).kernel, limit=1)
    for turn in range(3):
        rows = [(ZERO + tag + turn, ZERO + n) for tag in range(200) for n in (2, 1)]
        assert tags.run(at_once(rows, [1] * len(rows))).columns[:, 1].tolist() == [ZERO + 1] * 200
        assert tags.stats["orders"] == 200
        assert tags.run(at_once(rows, [-1] * len(rows))).weight.tolist() == [-1] * 200
        assert tags.stats["orders"] == 0


def test_the_slice_of_many_rows_is_that_of_a_sorted_list():
    chance, ranks = random.Random(5), ranking(offset=2, limit=5)
    numbers = chance.sample(range(1_000_000), 40_000)
    held, inside = set(), Counter()
    leaving = sorted(numbers)[:30] + chance.sample(sorted(numbers)[30:], 20_000)
    for part, weight in ((numbers[:25_000], 1), (numbers[25_000:], 1), (leaving, -1), (leaving[:15_000], 1)):
        held = held | set(part) if weight > 0 else held - set(part)
        for number, _, change in put(ranks, part, [weight] * len(part)):
            inside[number] += change
        assert sorted((+inside).elements()) == sorted(held)[2:7]
        assert min(inside.values()) >= 0
