"""The relational operators against recomputing their definitions after every change.

Each runs over random histories with unbound values, multiplicities, deletes, changes that time brings, and random cuts.
"""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.flow.consolidation import consolidated
from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.forms.union import Union
from millstream.kernels.relations.relation import Distinct, KeyMatcher, MatchCounter
from millstream.kernels.relations.relation_join import JoinTable
from tests.operators import solutions_model as model
from tests.operators.deltas_model import UNBOUND, applied, begun, buffers, deltas, listed, recomputed
from tests.operators.histories import histories, instants

FALSE, TRUE = 70, 71


def joined(left, right, certain, copies="", overlap=False):
    """A join over sides with these variables."""
    width, shared = len(set(left) | set(right)) + len(copies), [v for v in left if v in right]
    pairs, sure = [(left.index(v), right.index(v)) for v in shared], [v in certain for v in shared]
    # What both always bind, both bind in common.
    overlap = overlap and not any(sure)
    return JoinTable(buffers(len(left), len(right)), width, pairs, sure, [left.index(v) for v in copies], overlap)


def unmatched(width, key=None, marks=None):
    given = buffers(width, width if key is None else len(key))
    width += marks is not None
    return MatchCounter(given, width, marks=marks) if key is None else KeyMatcher(given, width, key, marks=marks)


def marked_by(width, key=None):
    return unmatched(width, key, (FALSE, TRUE))


SCHEMES = ["a|a", "ab|b", "abc|bcd", "ab|cd", "abc|cab", "|a", "a|", "|", "abcd|dcbae"]


@st.composite
def two_sides(draw):
    """Variables of both sides, those certain, a history of each, and places to cut them at."""
    left, right = draw(st.sampled_from(SCHEMES)).split("|")
    shared = sorted(set(left) & set(right))
    certain = set(draw(st.lists(st.sampled_from(shared)))) if shared else set()
    times = draw(instants())
    inputs = [
        draw(histories(len(side), times, [i for i, v in enumerate(side) if v not in certain], 2)) for side in (left, right)
    ]
    return left, right, certain, inputs, draw(st.lists(st.integers(0, len(times)), max_size=4))


@settings(deadline=None)
@given(st.data(), st.integers(0, 3))
def test_distinct_has_every_row_once(data, width):
    times = data.draw(instants())
    history = data.draw(histories(width, times, range(width), 2))
    cuts = data.draw(st.lists(st.integers(0, len(times)), max_size=4))
    out = applied(Distinct(buffers(width), width), [width], [history], cuts)
    expected = recomputed([history], lambda rows: Counter(dict.fromkeys(rows, 1)))
    assert sorted(out, key=lambda row: (row[1:3], row[0])) == expected


@settings(deadline=None, max_examples=300)
@given(two_sides(), st.booleans(), st.booleans())
def test_a_join_has_the_compatible_pairs(sides, overlap, copied):
    left, right, certain, inputs, cuts = sides
    copies = left[::2] if copied else ""
    operator = joined(left, right, certain, copies, overlap)
    out = applied(operator, [len(left), len(right)], inputs, cuts)
    assert out == recomputed(inputs, lambda a, b: model.join(left, right, a, b, copies, overlap))


class Minus:
    """MINUS of a join with overlap and what it leaves unmatched."""

    def __init__(self, left, right, certain):
        self.join = joined(left, right, certain, left, overlap=True)
        self.unmatched = unmatched(len(left))
        self.width = len(left)

    def run(self, left, right):
        pairs = self.join.run(left, right)
        first = pairs.columns.shape[1] - self.width
        matched = consolidated(Deltas(pairs.columns[:, first:], pairs.tick, pairs.change, pairs.weight))
        return self.unmatched.run(left, matched)


class LeftJoin:
    """OPTIONAL of a join, its filter, and what it leaves unmatched."""

    def __init__(self, left, right, certain, accept):
        self.join = joined(left, right, certain, left)
        self.unmatched = unmatched(len(left))
        self.width = len(left)
        self.accept = accept

    def run(self, left, right):
        pairs = self.join.run(left, right)
        first = pairs.columns.shape[1] - self.width
        kept = [i for i, row in enumerate(pairs.columns[:, :first].tolist()) if self.accept(tuple(row))]
        columns, *more = (values[kept] for values in (pairs.columns, pairs.tick, pairs.change, pairs.weight))
        alone = self.unmatched.run(left, consolidated(Deltas(columns[:, first:], *more)))
        padding = np.full((len(alone), first - self.width), UNBOUND, np.int64)
        padded = Deltas(np.hstack([alone.columns, padding]), alone.tick, alone.change, alone.weight)
        joined_rows = consolidated(Deltas(columns[:, :first], *more))
        return Union([joined_rows, padded], first, [range(first)] * 2).run()


@settings(deadline=None, max_examples=200)
@given(two_sides())
def test_a_join_with_overlap_and_the_unmatched_make_minus(sides):
    left, right, certain, inputs, cuts = sides
    out = applied(Minus(left, right, certain), [len(left), len(right)], inputs, cuts)
    expected = recomputed(inputs, lambda a, b: model.minus(left, right, a, b))
    assert sorted(out, key=lambda row: (row[1:3], row[0])) == expected


@settings(deadline=None, max_examples=200)
@given(two_sides(), st.sampled_from([lambda row: True, lambda row: sum(row) % 3 != 1]))
def test_a_filtered_join_and_the_unmatched_make_optional(sides, accept):
    left, right, certain, inputs, cuts = sides
    out = applied(LeftJoin(left, right, certain, accept), [len(left), len(right)], inputs, cuts)
    expected = recomputed(inputs, lambda a, b: model.left_join(left, right, a, b, accept))
    assert sorted(out, key=lambda row: (row[1:3], row[0])) == expected


@settings(deadline=None)
@given(st.data(), st.integers(0, 2))
def test_marked_rows_say_whether_they_are_matched(data, width):
    times = data.draw(instants())
    inputs = [data.draw(histories(width, times, (), 2)), data.draw(histories(width, times, (), 2))]
    cuts = data.draw(st.lists(st.integers(0, len(times)), max_size=4))
    out = applied(marked_by(width), [width, width], inputs, cuts)
    assert out == recomputed(
        inputs, lambda left, right: Counter({(*row, TRUE if right[row] else FALSE): n for row, n in left.items()})
    )


@settings(deadline=None, max_examples=200)
@given(st.data(), st.booleans())
def test_a_row_is_matched_by_its_key(data, marked):
    width = data.draw(st.integers(0, 3))
    key = data.draw(st.lists(st.integers(0, width - 1), max_size=3) if width else st.just([]))
    times = data.draw(instants())
    inputs = [data.draw(histories(width, times, (), 2)), data.draw(histories(len(key), times, (), 2))]
    cuts = data.draw(st.lists(st.integers(0, len(times)), max_size=4))
    operator = marked_by(width, key) if marked else unmatched(width, key)

    def expected(left, right):
        found = Counter()
        for row, n in left.items():
            is_matched = right[tuple(row[place] for place in key)] != 0
            if marked:
                found[*row, TRUE if is_matched else FALSE] = n
            elif not is_matched:
                found[row] = n
        return found

    assert applied(operator, [width, len(key)], inputs, cuts) == recomputed(inputs, expected)


def current(history, upto):
    """The rows of a history up to an instant, as one change."""
    held = Counter()
    for at, members in history:
        if at <= upto:
            held.update(members)
    return [(upto, {row: n for row, n in held.items() if n})]


@settings(deadline=None)
@given(two_sides(), st.sampled_from([joined, Minus]), st.data())
def test_an_operator_rebuilt_from_current_rows_goes_on_like_the_first(sides, kind, data):
    left, right, certain, inputs, _ = sides
    times = sorted({at for history in inputs for at, _ in history})
    cut = data.draw(st.integers(0, len(times)))
    upto = times[cut - 1] if cut else (0, 0)
    first, second = kind(left, right, certain), kind(left, right, certain)
    widths = [len(left), len(right)]
    applied(first, widths, [[c for c in history if c[0] <= upto] for history in inputs], [])
    applied(second, widths, [current(history, upto) for history in inputs], [])
    later = [[c for c in history if c[0] > upto] for history in inputs]
    assert applied(second, widths, later, []) == applied(first, widths, later, [])


@pytest.mark.parametrize(
    ("operator", "inputs"),
    [
        (Distinct(buffers(2), 2), 1),
        (joined("ab", "bc", "b"), 2),
        (unmatched(2), 2),
        (unmatched(2, (0, 1)), 2),
        (marked_by(2), 2),
    ],
)
def test_no_input_gives_no_output(operator, inputs):
    assert len(begun(operator, 0, 0)) == 0
    assert len(operator.run(*buffers(*[2] * inputs))) == 0


def test_rows_without_columns_join():
    yes = deltas(0, [((4, 0), {(): 2})])
    assert listed(joined("", "", "").run(yes, yes)) == [((), 4, 0, 4)]
