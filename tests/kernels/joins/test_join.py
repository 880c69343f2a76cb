"""The interval join against brute force.

`test_rows_are_those_of_brute_force` catches wrong answers of any kind: random connected patterns (stars, chains, trees,
cycles, parallel patterns, qualifications), lanes, re-arrivals, ends, equal ticks, bursts. `test_cuts_...` catches state
that leaks between calls, `test_stats_...` memory that outlives its window, `test_crowded_...` what is different where a
node has many pairs. The rest are single facts, drawn in time.
"""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.joins.join import AFTER, AT, BEFORE, DIFFERENT, FOREVER, SAME, IntervalJoin

X, Y, Z = 0, 1, 2


class Fed(NamedTuple):
    """A row as `IntervalJoin.feed` takes it."""

    view: int
    a: int
    b: int
    now: int
    until: int
    op: int
    change: int


class Written(NamedTuple):
    """A row as `IntervalJoin.take` gives it."""

    columns: tuple[int, ...]
    change: int
    start: int
    until: int
    weight: int


INTEGER, DECIMAL = 5, 6


def value_of(id):
    """An id's kind and value, None where it is a number in a dictionary."""
    kind, payload = id >> 59, id & ((1 << 59) - 1)
    if kind == INTEGER:
        return kind, Fraction(payload - (1 << 58))
    if kind == DECIMAL:
        return kind, Fraction((payload & ((1 << 54) - 1)) - (1 << 53), 10 ** (payload >> 54))
    return kind, None


def order_is_among(outcomes, a, b, offset):
    """Whether an order is allowed, or cannot be known from the ids."""
    (kind, x), (other, y) = value_of(a), value_of(b)
    if x is None or y is None or (offset and (kind, other) != (INTEGER, INTEGER)):
        return True
    return bool(outcomes & (BEFORE if x < y + offset else AT if x == y + offset else AFTER))


class Oracle:
    """What the join means: sets of entries with their ends; every match is recomputed before and after every row."""

    def __init__(self, patterns, variables, filters=(), visible=None, orders=()):
        self.patterns = patterns
        self.variables = variables
        self.filters = filters
        self.orders = orders
        self.visible = range(variables) if visible is None else visible
        self.entries = [{} for _ in patterns]

    def live(self, view, now):
        return {pair: until for pair, until in self.entries[view].items() if until > now}

    def matches(self, now) -> dict[tuple[int, ...], int]:
        """Every match at `now` with its end; a match of all variables uses one entry of each view."""
        return dict(self._extend(0, {}, FOREVER, now))

    def _extend(self, view, binding, until, now) -> Iterator[tuple[tuple[int, ...], int]]:
        if view == len(self.patterns):
            if all((binding[x] == binding[y]) == (kind == 0) for kind, x, y in self.filters) and all(
                order_is_among(outcomes, binding[x], binding[y], offset) for outcomes, x, y, offset in self.orders
            ):
                yield tuple(binding[x] for x in range(self.variables)), until
            return
        s, o = self.patterns[view]
        for (a, b), end in self.entries[view].items():
            if end <= now or binding.get(s, a) != a or (o >= 0 and binding.get(o, b) != b):
                continue
            more = {**binding, s: a} if o < 0 else {**binding, s: a, o: b}
            yield from self._extend(view + 1, more, min(until, end), now)

    def feed(self, row: Fed) -> list[Written]:
        pair = (row.a, row.b if self.patterns[row.view][1] >= 0 else -1)
        before = self.matches(row.now)
        entries = self.entries[row.view]
        if row.op < 0:
            entries.pop(pair, None)
        elif row.until > max(row.now, entries.get(pair, row.now)):
            entries[pair] = row.until
        after = self.matches(row.now)
        written = []
        for match in before.keys() | after.keys():
            old, new = before.get(match, row.now), after.get(match, row.now)
            if old != new:
                low, high = (old, new) if new > old else (new, old)
                columns = tuple(match[x] for x in self.visible)
                written.append(Written(columns, row.change, low, high, 1 if new > old else -1))
        return sorted(written)


def columns_of(rows):
    table = np.array(rows, np.int64).reshape(-1, 7)
    return [np.ascontiguousarray(table[:, i]) for i in range(7)]


def written(join):
    """What the join gives, a row as often as its weight says: matches that differ in nothing visible may be one row."""
    columns, change, start, until, weight = join.take()
    assert columns.shape[0] == len(change)
    assert weight.all()
    times = np.abs(weight)
    rows = (np.repeat(column, times, 0).tolist() for column in (columns, change, start, until, np.sign(weight)))
    return [Written(tuple(c), *more) for c, *more in zip(*rows, strict=True)]


def feed(join, *rows):
    join.feed(*columns_of(rows))
    return sorted(written(join))


def by_change(rows):
    return sorted(rows, key=lambda row: (row.change, row))


@st.composite
def shapes(draw):
    """Patterns of a connected component, their lanes and relations, filters and visible variables."""
    variables = draw(st.integers(1, 4))
    patterns = []
    for x in range(1, variables):
        pair = (draw(st.integers(0, x - 1)), x)
        patterns.append(pair if draw(st.booleans()) else pair[::-1])
    if variables > 1:
        for _ in range(draw(st.integers(0, 2))):
            x, y = draw(st.lists(st.integers(0, variables - 1), min_size=2, max_size=2, unique=True))
            patterns.append((x, y))
    unary = draw(st.lists(st.integers(0, variables - 1), min_size=0 if variables > 1 else 1, max_size=3))
    patterns += [(x, -1) for x in unary]
    patterns = draw(st.permutations(patterns))
    relations = [draw(st.integers(0, 2)) for _ in patterns]
    lane_of = [draw(st.integers(-1, 1)) for _ in range(3)]
    shared = draw(st.booleans())
    lanes = [lane_of[r] if shared else draw(st.integers(-1, 1)) for r in relations]
    filters = []
    if variables > 1 and draw(st.integers(0, 3)) == 0:
        x, y = draw(st.lists(st.integers(0, variables - 1), min_size=2, max_size=2, unique=True))
        filters.append((draw(st.sampled_from([SAME, DIFFERENT])), x, y))
    visible = None
    if draw(st.integers(0, 3)) == 0:
        visible = draw(st.lists(st.integers(0, variables - 1), unique=True))
    return patterns, variables, lanes, relations, filters, visible


def random_rows(rng, patterns, lanes, relations, size):
    """Changes: a triple goes to every view of its relation and lane, or now and then to one of them only."""
    rows, now, nodes = [], 0, rng.choice((2, 3, 5))
    ranges = [rng.choice((1, 3, 8, 20)) for _ in range(2)]
    slide = rng.choice((1, 1, 4))
    deletes = rng.choice((0.0, 0.1, 0.4))
    endless = rng.choice((0.0, 0.0, 0.3, 1.0))
    for change in range(size):
        now += rng.choice((0, 0, 1, 1, 2, 9 if rng.random() < 0.2 else 1))
        view = rng.randrange(len(patterns))
        views = [view]
        if rng.random() < 0.8:
            views = [
                v
                for v in range(len(patterns))
                if (relations[v], lanes[v], patterns[v][1] < 0) == (relations[view], lanes[view], patterns[view][1] < 0)
            ]
        a, b = rng.randrange(nodes), rng.randrange(nodes)
        op = -1 if rng.random() < deletes else 1
        if lanes[view] >= 0:
            until = FOREVER if rng.random() < endless else -(-now // slide) * slide + ranges[lanes[view]]
        else:
            until = FOREVER if rng.random() < 0.7 else now + rng.randrange(12)
        rows += [Fed(v, a, b if patterns[v][1] >= 0 else -1, now, until, op, change) for v in views]
    return rows


def joins(shape, **options):
    patterns, variables, lanes, relations, filters, visible = shape
    return IntervalJoin(patterns, lanes, variables, relations=relations, filters=filters, visible=visible, **options)


@settings(max_examples=400, deadline=None)
@given(shapes(), st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_rows_are_those_of_brute_force(shape, rng, lazy, adaptive):
    patterns, variables, lanes, relations, filters, visible = shape
    join, oracle = joins(shape, lazy=lazy, adaptive=adaptive), Oracle(patterns, variables, filters, visible)
    for row in random_rows(rng, patterns, lanes, relations, 60):
        assert feed(join, row) == oracle.feed(row), row


def test_matches_through_leaves_that_nobody_asks_for_are_counted():
    hub, count = 7, 50
    join = IntervalJoin([(X, Y), (X, Z), (X, 3)], [-1] * 3, 4, visible=[X])
    for view in (0, 1):
        join.feed(*columns_of([Fed(view, hub, n, 0, FOREVER, 1, 0) for n in range(count)]))
    join.feed(*columns_of([Fed(2, hub, 1, 1, FOREVER, 1, 1)]))
    columns, _, _, _, weight = join.take()
    assert (columns.tolist(), weight.tolist()) == ([[hub]], [count**2])
    # What ends before the others is told by itself.
    join.feed(*columns_of([Fed(0, hub, count, 2, 9, 1, 2), Fed(2, hub, 2, 3, FOREVER, 1, 3)]))
    _, _, _, until, weight = join.take()
    told = dict.fromkeys([9, FOREVER], 0)
    for end, some in zip(until.tolist()[1:], weight.tolist()[1:], strict=True):
        told[end] += some
    assert (until[0], weight[0], told) == (9, count, {9: count, FOREVER: count**2})


CROWDED = [
    [(X, Y)],
    [(X, Y), (X, Z)],
    [(X, Y), (X, -1)],
    [(X, Y), (Y, X)],
    [(X, Y), (Y, X), (X, -1)],
    [(X, Y), (X, Y), (Y, -1)],
    [(X, Y), (Y, X), (X, -1), (Y, -1)],
]


def crowded_rows(rng, patterns, lanes, size):
    """Few nodes with many pairs each; qualifications come and go seldom enough for many pairs to wait."""
    rows, now = [], 0
    hubs, others, ends = rng.choice((2, 12)), rng.choice((12, 20, 50)), rng.choice((0.0, 0.2))
    pairs = [v for v, (_, o) in enumerate(patterns) if o >= 0]
    unary = [v for v, (_, o) in enumerate(patterns) if o < 0]
    for change in range(size):
        now += rng.random() < 0.3
        op = -1 if rng.random() < ends else 1
        a, b = rng.randrange(hubs), rng.randrange(others)
        if unary and rng.random() < 0.08:
            views = [rng.choice(unary)]
            a = rng.choice((a, b))
        else:
            views = pairs if rng.random() < 0.8 else [rng.choice(pairs)]
        until = FOREVER if lanes[views[0]] < 0 else now + (40 if views[0] in pairs else 15)
        rows += [Fed(v, a, b if v in pairs else -1, now, until, op, change) for v in views]
    return rows


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lane", [0, -1])
@pytest.mark.parametrize("patterns", CROWDED)
def test_crowded_nodes_are_like_others(patterns, lane, seed):
    rng = random.Random(seed)
    lanes = [lane if o >= 0 else 1 for _, o in patterns]
    variables = 1 + max(max(p) for p in patterns)
    relations = [0 if o >= 0 else 1 + x for x, o in patterns]
    join, oracle = IntervalJoin(patterns, lanes, variables, relations=relations), Oracle(patterns, variables)
    rows = crowded_rows(rng, patterns, lanes, 120 if variables > 2 else 300)
    expected = [out for row in rows for out in oracle.feed(row)]
    for first in range(0, len(rows), 50):
        join.feed(*columns_of(rows[first : first + 50]))
    assert by_change(written(join)) == by_change(expected)
    join.expire(rows[-1].now)
    assert join.stats["entries"] == [len(oracle.live(view, rows[-1].now)) for view in range(len(patterns))]
    # Everything that is held for ever is taken out again, and nothing stays behind.
    rest = [
        Fed(view, a, b, rows[-1].now, 0, -1, 0) for view in range(len(patterns)) for a, b in oracle.live(view, rows[-1].now)
    ]
    join.feed(*columns_of(rest))
    join.expire(rows[-1].now + 100)
    stats = join.stats
    assert (stats["edges"], stats["waiting"], stats["rows"], stats["nodes"], stats["notes"]) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("again", [0, 100])
@pytest.mark.parametrize("pairs", [60, 6000])
def test_pairs_at_a_hub_wait_until_they_are_deleted_one_by_one(again, pairs):
    """A pair that was deleted does not wait any longer, however often it had come and however many wait beside it."""
    hub = 7
    join = IntervalJoin([(X, Y), (Y, Z), (X, -1)], [-1] * 3, 3, relations=[0, 0, 1])
    come = [Fed(view, hub, n, 0, FOREVER, 1, 0) for n in range(100, 100 + pairs) for view in (0, 1)]
    assert feed(join, *come, *(come[0] for _ in range(again))) == []
    assert feed(join, *(row._replace(op=-1) for row in come[: pairs // 2])) == []
    assert join.stats["entries"] == [pairs * 3 // 4] * 2 + [0]
    assert feed(join, *come[:2], *(row._replace(op=-1) for row in come[-2:])) == []
    onwards = [Fed(1, 100 + n, 5, 1, FOREVER, 1, 1) for n in range(pairs)]
    assert feed(join, *onwards) == []
    found = feed(join, Fed(2, hub, -1, 2, FOREVER, 1, 2))
    assert [row.columns for row in found] == [(hub, n, 5) for n in (100, *range(100 + pairs // 4, 99 + pairs))]


@pytest.mark.parametrize("seed", range(6))
def test_pairs_of_a_graph_dangle_at_hubs_until_both_ends_qualify(seed):
    """Lists of waiting pairs become long and short again, at either end, while qualifications come and go."""
    rng = random.Random(seed)
    join = IntervalJoin([(X, Y), (Y, X), (X, -1), (Y, -1)], [-1] * 4, 2, relations=[0, 0, 1, 2])
    pairs, kinds = set(), (set(), set())
    hubs, others = range(3), range(rng.choice((40, 100, 300)))

    def matches():
        found = {(x, y) for x, y in pairs if (y, x) in pairs}
        return {(x, y) for x, y in found if x in kinds[0] and y in kinds[1]}

    expected, rows = [], []
    for change in range(4_000):
        before = matches() if change % 97 == 0 else None
        if before is not None:
            # A qualification, one of a hub every other time.
            which, node = rng.randrange(2), rng.choice(hubs if rng.random() < 0.5 else others)
            op = -1 if node in kinds[which] else 1
            (kinds[which].discard if op < 0 else kinds[which].add)(node)
            rows.append(Fed(2 + which, node, -1, change, FOREVER, op, change))
        else:
            pair = rng.choice(hubs), rng.choice(others)
            pair = pair if rng.random() < 0.5 else pair[::-1]
            # Deletes come in spells, so that lists become empty again.
            op = -1 if pair in pairs and rng.random() < (0.9 if change // 800 % 2 else 0.1) else 1
            if op > 0 and pair in pairs:
                continue
            ends = {pair, pair[::-1]} & {(x, y) for x in kinds[0] for y in kinds[1]}
            before = {end for end in ends if end in pairs and end[::-1] in pairs}
            (pairs.discard if op < 0 else pairs.add)(pair)
            rows.append(Fed(4, *pair, change, FOREVER, op, change))
            after = {end for end in ends if end in pairs and end[::-1] in pairs}
            expected += [(change, end, 1) for end in after - before] + [(change, end, -1) for end in before - after]
            continue
        after = matches()
        expected += [(change, match, 1) for match in after - before] + [(change, match, -1) for match in before - after]
    given = []
    while rows:
        size = rng.randint(1, 200)
        join.feed(*columns_of(rows[:size]))
        given += [(row.change, row.columns, row.weight) for row in written(join)]
        rows = rows[size:]
    assert sorted(given) == sorted(expected)
    assert join.stats["entries"] == [len(pairs), len(pairs), len(kinds[0]), len(kinds[1])]
    view, a, b, _ = (column.tolist() for column in join.dump(10_000))
    assert {(x, y) for v, x, y in zip(view, a, b, strict=True) if v == 0} == pairs


def test_a_pair_that_dangles_takes_half_a_cache_line():
    join = IntervalJoin([(X, Y), (Y, Z), (X, -1), (Y, -1)], [-1] * 4, 3, relations=[0, 0, 1, 2])
    nodes, pairs = 100, 50_000
    rows = [Fed(4, n % nodes, n // nodes, 0, FOREVER, 1, 0) for n in range(pairs)]
    join.feed(*columns_of(rows))
    assert 32 <= join.stats["bytes"] / pairs < 32 + 8


@settings(max_examples=200, deadline=None)
@given(shapes(), st.randoms(use_true_random=False))
def test_cuts_do_not_change_the_rows(shape, rng):
    patterns, variables, lanes, relations, filters, visible = shape
    rows = random_rows(rng, patterns, lanes, relations, 80)
    oracle = Oracle(patterns, variables, filters, visible)
    expected = [out for row in rows for out in oracle.feed(row)]
    whole = joins(shape)
    whole.feed(*columns_of(rows))
    assert by_change(written(whole)) == by_change(expected)
    cut, out = joins(shape), []
    while rows:
        size = rng.randint(1, 12)
        cut.feed(*columns_of(rows[:size]))
        out += written(cut)
        rows = rows[size:]
    assert by_change(out) == by_change(expected)


def by_relation(rows, patterns, lanes, relations):
    """The same changes, with one row for all views of a relation where they were all fed."""
    keys = list(zip(relations, lanes, strict=True))
    out = []
    for row in rows:
        last = out[-1] if out else None
        key = keys[row.view]
        group = [v for v in range(len(patterns)) if keys[v] == key and patterns[v][1] >= 0]
        whole = [r for r in rows if r[1:] == row[1:] and r.view in group]
        if patterns[row.view][1] < 0 or [r.view for r in whole] != group:
            out.append(row)
        elif last is None or last != row._replace(view=len(patterns) + group[0]):
            out.append(row._replace(view=len(patterns) + group[0]))
    return out


@settings(max_examples=100, deadline=None)
@given(shapes(), st.randoms(use_true_random=False))
def test_a_row_for_a_relation_is_one_for_each_of_its_views(shape, rng):
    patterns, _, lanes, relations, _, _ = shape
    rows = random_rows(rng, patterns, lanes, relations, 60)
    apart, together = joins(shape), joins(shape)
    apart.feed(*columns_of(rows))
    together.feed(*columns_of(by_relation(rows, patterns, lanes, relations)))
    assert by_change(written(apart)) == by_change(written(together))
    for join in (apart, together):
        join.expire(rows[-1].now)
    assert apart.stats["entries"] == together.stats["entries"]


@settings(max_examples=100, deadline=None)
@given(shapes(), st.randoms(use_true_random=False))
def test_a_loaded_join_goes_on_like_the_dumped_one(shape, rng):
    patterns, _, lanes, relations, _, _ = shape
    rows = random_rows(rng, patterns, lanes, relations, 60)
    half = rng.randrange(1, len(rows))
    first, second = joins(shape), joins(shape)
    first.feed(*columns_of(rows[:half]))
    first.take()
    second.load(*first.dump(rows[half - 1].now))
    assert written(second) == []
    first.feed(*columns_of(rows[half:]))
    second.feed(*columns_of(rows[half:]))
    assert by_change(written(first)) == by_change(written(second))


VALUES = [
    *((INTEGER << 59) + (1 << 58) + v for v in (-1, 0, 1, 2)),
    *((DECIMAL << 59) + (1 << 54) + (1 << 53) + tenths for tenths in (-10, 5, 10, 15)),
    7,
]


@st.composite
def orders_for(draw, variables):
    x, y = draw(st.lists(st.integers(0, variables - 1), min_size=2, max_size=2, unique=True))
    return draw(st.integers(1, 6)), x, y, draw(st.sampled_from([0, 0, 1, -2]))


@settings(max_examples=200, deadline=None)
@given(st.data(), shapes().filter(lambda shape: shape[1] > 1), st.randoms(use_true_random=False))
def test_orders_of_values_in_ids_are_those_of_brute_force(data, shape, rng):
    patterns, variables, lanes, relations, filters, visible = shape
    orders = data.draw(st.lists(orders_for(variables), min_size=1, max_size=3))
    join = joins(shape, orders=orders)
    oracle = Oracle(patterns, variables, filters, visible, orders)
    for row in random_rows(rng, patterns, lanes, relations, 50):
        values = row._replace(a=VALUES[row.a % 9], b=VALUES[(row.b * 2) % 9] if row.b >= 0 else -1)
        assert feed(join, values) == oracle.feed(values)


@pytest.mark.parametrize("order", [(0, X, Y, 0), (7, X, Y, 0), (BEFORE, X, X, 0), (AT, X, 2, 0), (AFTER, X, Y, 1 << 58)])
def test_orders_that_say_nothing_or_too_much_are_refused(order):
    with pytest.raises(ValueError):
        IntervalJoin([(X, Y)], [0], 2, orders=[order])


@settings(max_examples=100, deadline=None)
@given(shapes(), st.randoms(use_true_random=False))
def test_stats_count_what_is_live_and_everything_leaves_at_the_end(shape, rng):
    patterns, variables, lanes, relations, filters, visible = shape
    join, oracle = joins(shape), Oracle(patterns, variables, filters, visible)
    rows = random_rows(rng, patterns, lanes, relations, 80)
    for row in rows:
        feed(join, row)
        oracle.feed(row)
    now = rows[-1].now
    join.expire(now)
    assert join.stats["entries"] == [len(oracle.live(view, now)) for view in range(len(patterns))]
    rest = [
        Fed(view, a, b, now, now, -1, 99)
        for view in range(len(patterns))
        for (a, b), until in oracle.live(view, now).items()
        if until == FOREVER
    ]
    join.feed(*columns_of(rest))
    join.expire(now + 100)
    stats = join.stats
    assert stats["entries"] == [0] * len(patterns)
    assert (stats["edges"], stats["waiting"], stats["rows"], stats["nodes"], stats["notes"]) == (0, 0, 0, 0, 0)


def test_a_long_run_over_few_nodes_stays_right_and_small():
    rng = random.Random(5)
    patterns, lanes = [(X, Y), (Y, Z), (Z, X), (X, -1), (Y, -1)], [0, 0, 0, 1, -1]
    join, oracle = IntervalJoin(patterns, lanes, 3, relations=[0, 0, 0, 1, 2]), Oracle(patterns, 3)
    size = 0
    for round_ in range(30):
        rows = random_rows(rng, patterns, lanes, [0, 0, 0, 1, 2], 100)
        shift = round_ * 1000
        rows = [r._replace(now=r.now + shift, until=min(r.until + shift, FOREVER)) for r in rows]
        expected = [out for row in rows for out in oracle.feed(row)]
        join.feed(*columns_of(rows))
        assert by_change(written(join)) == by_change(expected)
        join.expire(rows[-1].now + 100)
        if round_ == 10:
            size = join.stats["bytes"]
    assert join.stats["bytes"] <= 2 * size


def test_tables_grow_and_shrink_with_the_window():
    join = IntervalJoin([(X, Y), (Y, Z)], [0, 0], 3)
    n, window = 40_000, 10_000
    ids = np.arange(n, dtype=np.int64)
    ones = np.ones(n, np.int64)
    assert join.feed(ids % 2, ids // 2, ids // 2 + ids % 2, ids, ids + window, ones, ids) == n // 2
    assert join.stats["edges"] <= window + 1
    join.expire(n + window)
    assert join.stats["edges"] == 0


def test_long_lists_survive_growing_and_shrinking():
    join = IntervalJoin([(X, Y), (X, Z)], [0, -1], 3)
    n = 30_000
    ids = np.arange(n, dtype=np.int64)
    zeros, ones = np.zeros(n, np.int64), np.ones(n, np.int64)
    join.feed(zeros, zeros, ids, ids, ids + n, ones, ids)
    assert len(feed(join, Fed(1, 0, 7, n, FOREVER, 1, 0))) == n - 1
    assert len(feed(join, Fed(1, 0, 8, 2 * n - 5, FOREVER, 1, 0))) == 4
    join.expire(2 * n)
    assert join.stats["edges"] == 2


# One fact each


def test_an_answer_holds_in_the_intersection():
    #  0    5    10   15
    #  x---------)            (1, 2) in the first view
    #       x---------)       (2, 3) in the second
    join = IntervalJoin([(X, Y), (Y, Z)], [0, 0], 3)
    assert feed(join, Fed(0, 1, 2, 0, 10, 1, 0)) == []
    assert feed(join, Fed(1, 2, 3, 5, 15, 1, 1)) == [Written((1, 2, 3), 1, 5, 10, 1)]


def test_a_re_arrival_extends():
    join = IntervalJoin([(X, Y)], [0], 2)
    assert feed(join, Fed(0, 1, 2, 0, 10, 1, 0)) == [Written((1, 2), 0, 0, 10, 1)]
    assert feed(join, Fed(0, 1, 2, 4, 14, 1, 1)) == [Written((1, 2), 1, 10, 14, 1)]
    assert feed(join, Fed(0, 1, 2, 5, 14, 1, 2)) == []
    assert feed(join, Fed(0, 1, 2, 6, 6, -1, 3)) == [Written((1, 2), 3, 6, 14, -1)]
    assert feed(join, Fed(0, 1, 2, 6, 6, -1, 4)) == []


def test_a_late_qualification_admits_what_waited():
    join = IntervalJoin([(X, Y), (Y, -1)], [0, 0], 2)
    assert feed(join, Fed(0, 1, 2, 0, 10, 1, 0)) == []
    assert join.stats["waiting"] == 1
    assert feed(join, Fed(1, 2, -1, 5, 15, 1, 1)) == [Written((1, 2), 1, 5, 10, 1)]
    assert join.stats["waiting"] == 0


def test_a_qualification_lost_and_regained_answers_again():
    #  0    5    10   15   20
    #  x-------------------)   the edge
    #  x----)         x----)   the qualification
    join = IntervalJoin([(X, Y), (X, -1)], [0, 1], 2)
    feed(join, Fed(0, 1, 2, 0, 20, 1, 0))
    assert feed(join, Fed(1, 1, -1, 0, 5, 1, 1)) == [Written((1, 2), 1, 0, 5, 1)]
    assert feed(join, Fed(1, 1, -1, 15, 25, 1, 2)) == [Written((1, 2), 2, 15, 20, 1)]


def test_unary_patterns_alone_are_a_join():
    join = IntervalJoin([(X, -1), (X, -1)], [0, 1], 1)
    assert feed(join, Fed(0, 7, -1, 0, 10, 1, 0)) == []
    assert feed(join, Fed(1, 7, -1, 2, 5, 1, 1)) == [Written((7,), 1, 2, 5, 1)]


def test_a_triple_fed_to_two_views_joins_with_itself():
    join = IntervalJoin([(X, Y), (Y, Z)], [0, 0], 3, relations=[0, 0])
    rows = [Fed(0, 1, 1, 0, 9, 1, 0), Fed(1, 1, 1, 0, 9, 1, 0)]
    assert feed(join, *rows) == [Written((1, 1, 1), 0, 0, 9, 1)]


def test_large_ids_are_ids_like_others():
    join = IntervalJoin([(X, Y), (Y, Z)], [0, 0], 3)
    big = (1 << 63) - 1
    feed(join, Fed(0, big, big - 1, 0, 9, 1, 0))
    assert feed(join, Fed(1, big - 1, 0, 1, 9, 1, 1)) == [Written((big, big - 1, 0), 1, 1, 9, 1)]


@pytest.mark.parametrize(
    ("patterns", "lanes", "variables"),
    [([], [], 1), ([(0, 0)], [0], 1), ([(0, 2)], [0], 2), ([(0, 1), (2, 3)], [0, 0], 4), ([(0, 1)], [0, 0], 2)],
)
def test_patterns_that_are_no_component_are_refused(patterns, lanes, variables):
    with pytest.raises(ValueError):
        IntervalJoin(patterns, lanes, variables)


def test_rows_out_of_range_are_refused_and_change_nothing():
    join = IntervalJoin([(X, Y)], [0], 2)
    for row in (Fed(2, 1, 1, 0, 9, 1, 0), Fed(0, -1, 1, 0, 9, 1, 0), Fed(0, 1, -1, 0, 9, 1, 0)):
        with pytest.raises(ValueError):
            feed(join, Fed(0, 1, 2, 0, 9, 1, 0), row)
    assert join.stats["edges"] == 0


@pytest.mark.parametrize(("now", "until"), [(FOREVER, FOREVER), (FOREVER + 1, 5), (5, FOREVER + 1), ((1 << 63) - 1, 9)])
def test_ticks_past_the_last_are_refused_and_change_nothing(now, until):
    join = IntervalJoin([(X, Y), (X, -1)], [0, 0], 2)
    for row in (Fed(0, 1, 2, now, until, 1, 0), Fed(1, 1, -1, now, until, 1, 0)):
        with pytest.raises(ValueError, match="out of range"):
            feed(join, Fed(0, 1, 2, 0, 9, 1, 0), row)
    assert join.stats["entries"] == [0, 0]


def test_expiring_past_the_last_tick_is_refused():
    join = IntervalJoin([(X, Y)], [0], 2)
    feed(join, Fed(0, 1, 2, 0, 9, 1, 0))
    with pytest.raises(ValueError, match="out of range"):
        join.expire(FOREVER)
    join.expire(FOREVER - 1)
    assert join.stats["edges"] == 0


def test_the_last_ticks_are_ticks_like_others():
    join = IntervalJoin([(X, Y), (X, -1)], [0, 0], 2)
    last = FOREVER - 1
    feed(join, Fed(0, 1, 2, last - 1, last, 1, 0))
    assert feed(join, Fed(1, 1, -1, last - 1, FOREVER, 1, 1)) == [Written((1, 2), 1, last - 1, last, 1)]
    assert feed(join, Fed(0, 1, 3, last, FOREVER, 1, 2)) == [Written((1, 3), 2, last, FOREVER, 1)]


def test_a_pair_that_waits_several_times_is_admitted_once_with_its_latest_end():
    #  0    3    6    9
    #  a---------)           waits
    #       a----------)     waits again
    #          q----------)
    join = IntervalJoin([(X, Y), (X, -1)], [0, 0], 2)
    feed(join, Fed(0, 1, 2, 0, 9, 1, 0), Fed(0, 1, 2, 3, 12, 1, 1), Fed(0, 1, 2, 4, 5, 1, 2))
    assert join.stats["entries"] == [1, 0]
    assert feed(join, Fed(1, 1, -1, 6, 20, 1, 3)) == [Written((1, 2), 3, 6, 12, 1)]
    assert join.stats["entries"] == [1, 1]


def test_what_waits_for_ever_is_stored_once_and_ends_when_told():
    join = IntervalJoin([(X, Y), (X, -1)], [0, 0], 2)
    for change in range(100):
        feed(join, Fed(0, 1, 2, change, FOREVER, 1, change))
    assert join.stats["waiting"] == 1
    feed(join, Fed(0, 1, 2, 100, 110, 1, 100), Fed(0, 1, 2, 101, 101, -1, 101))
    assert feed(join, Fed(1, 1, -1, 102, 120, 1, 102)) == []


def test_a_pair_whose_s_does_not_qualify_asks_nothing_of_its_o():
    join = IntervalJoin([(X, Y), (X, -1), (Y, -1)], [0, 0, 0], 2)
    feed(join, *(Fed(0, 1, n, 0, 10, 1, 0) for n in range(100, 200)))
    assert (join.stats["waiting"], join.stats["nodes"]) == (100, 1)
    #  Its s qualifies: now the nodes at which it waits are the others.
    assert feed(join, Fed(1, 1, -1, 2, 10, 1, 1)) == []
    assert (join.stats["waiting"], join.stats["nodes"]) == (100, 101)
    assert feed(join, Fed(2, 150, -1, 3, 10, 1, 2)) == [Written((1, 150), 2, 3, 10, 1)]
    assert feed(join, Fed(0, 1, 151, 4, 4, -1, 3), Fed(2, 151, -1, 5, 10, 1, 4)) == []
    join.expire(10)
    assert (join.stats["waiting"], join.stats["nodes"], join.stats["edges"]) == (0, 0, 0)


def test_what_waits_outside_lanes_and_is_said_again_is_stored_once():
    """As pairs of several windows together are, each time with a later end."""
    join = IntervalJoin([(X, Y), (X, -1)], [-1, -1], 2)
    for change in range(100):
        feed(join, Fed(0, 1, 2, change, 50 + change, 1, change), Fed(0, 1, 3, change, 20 + change, 1, change))
    assert join.stats["waiting"] == 2
    assert feed(join, Fed(1, 1, -1, 100, 300, 1, 100)) == [
        Written((1, 2), 100, 100, 149, 1),
        Written((1, 3), 100, 100, 119, 1),
    ]
