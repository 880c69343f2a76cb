"""Conjunctions at work, from arrivals to merged solutions, against recomputing them after every change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.errors import ChangeLimitError
from millstream.kernels.conjunctions.leaf import Leaf
from millstream.kernels.conjunctions.parts import GroundPart, JoinPart
from millstream.kernels.conjunctions.solution_filter import SolutionFilter
from millstream.kernels.containers.tuples import TupleTable
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Arrivals, Deltas, PythonOperator
from millstream.kernels.flow.flow import Flow, Reordered
from millstream.kernels.joins.join import FOREVER, IntervalJoin
from millstream.kernels.rows.definition import Definition
from millstream.kernels.rows.row_operations import Operation
from millstream.kernels.rows.row_program import RowProgram
from millstream.operators.bounds import RowBound
from millstream.operators.dataflow.numbering import one_number_a_change
from tests.kernels.programs import program_of, truth_id

Row = tuple[int, ...]
Change = tuple[int, int, int, int, tuple[int, int, int]]
"""Pattern, tick, end, op, triple; its number is its place."""

PLACES = [(0, 2), (2,), (), (2, 0, 1)]
"""Where the variables of each pattern stand in its triple: pairs, single ids, a triple without any, tuples."""


def join_part(number: int, most: int = FOREVER, hidden: Collection[int] = ()) -> JoinPart:
    """A pattern by itself, some of its variables hidden."""
    places, part = PLACES[number], JoinPart()
    visible = [x for x in range(len(places)) if x not in hidden]
    if len(places) == 3:
        join = IntervalJoin([(3, 0), (3, 1), (3, 2)], [0] * 3, 4, visible=visible, most=most)
        part.lay_out(join, {number: (0, places, TupleTable(3))})
    else:
        join = IntervalJoin([(0, 1 if len(places) == 2 else -1)], [0], len(places), visible=visible, most=most)
        part.lay_out(join, {number: (0, places, None)})
    return part


def flow_of(projection: list[int], bound: RowBound | None = None, hidden: Collection[int] = (), **filters: Any) -> Flow:
    """The four patterns, none of which shares a variable with another."""
    bound = bound or RowBound()
    parts: list[GroundPart | JoinPart] = []
    at = 0
    for number, places in enumerate(PLACES):
        parts.append(GroundPart() if not places else join_part(number, hidden=[x - at for x in hidden]))
        at += len(places)
    leaf = Leaf(5, parts, [(n,) for n in range(len(PLACES))], projection, bound, **filters)
    return Flow([leaf], [leaf.out], [], [leaf.out], bound)


def arrivals(changes: list[Change], first: int) -> Arrivals:
    columns = list(zip(*changes, strict=True))
    pattern, now, until, op = (np.array(column, np.int64) for column in columns[:4])
    return Arrivals(
        pattern + 5, np.array(columns[4], np.int64), now, until, op, np.arange(first, first + len(changes), dtype=np.int64)
    )


def listed(deltas: Deltas) -> list[tuple[int, int, Row, int]]:
    rows = zip(deltas.tick.tolist(), deltas.change.tolist(), deltas.columns.tolist(), deltas.weight.tolist(), strict=True)
    return [(tick, change, tuple(row), weight) for tick, change, row, weight in rows]


def recomputed(changes: list[Change], upto: int, passes: Any, projection: list[int]) -> list[tuple[int, int, Row, int]]:
    """Deltas of the product of what each pattern holds, after every change and every end."""
    held: list[dict[Row, int]] = [{} for _ in PLACES]
    before: Counter[Row] = Counter()
    out = []

    def look(tick: int, number: int) -> None:
        nonlocal before
        live = [[row for row, until in rows.items() if until > tick] for rows in held]
        whole = (tuple(v for row in rows for v in row) for rows in product(*live))
        after = Counter(tuple(row[i] if i >= 0 else -1 for i in projection) for row in whole if passes(row))
        differing = {row: after[row] - before[row] for row in before | after}
        out.extend((tick, number, row, n) for row, n in sorted(differing.items()) if n)
        before = after

    def pass_time(tick: int, since: int) -> None:
        for end in sorted({until for rows in held for until in rows.values() if since < until <= tick}):
            look(end, -1)

    last = -1
    for number, (pattern, now, until, op, triple) in enumerate(changes):
        pass_time(now, last)
        last = now
        row = tuple(triple[i] for i in PLACES[pattern])
        if op > 0 and until > now:
            held[pattern][row] = max(until, held[pattern].get(row, until))
        elif op < 0 and held[pattern].get(row, now) > now:
            held[pattern][row] = now
        look(now, number)
    pass_time(upto, last)
    return out


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Change], list[int]]:
    changes, now = [], 1
    for _ in range(draw(st.integers(1, 25))):
        now += draw(st.integers(0, 3))
        pattern, op = draw(st.integers(0, 3)), draw(st.sampled_from([1, 1, 1, -1]))
        until = draw(st.sampled_from([now + 2, now + 7, now + 30, FOREVER])) if op > 0 else FOREVER
        triple = (draw(st.integers(0, 2)), draw(st.integers(0, 1)), draw(st.integers(0, 2)))
        changes.append((pattern, now, until, op, (9, 9, 9) if pattern == 2 else triple))
    return changes, sorted(draw(st.lists(st.integers(1, len(changes)), max_size=4)))


@settings(deadline=None, max_examples=150)
@given(histories(), st.sampled_from([[0, 1, 2, 3, 4, 5], [5, -1, 0], [2]]), st.booleans())
def test_solutions_are_those_of_everything_recomputed(
    history: tuple[list[Change], list[int]], projection: list[int], filtered: bool
) -> None:
    changes, cuts = history
    solution_filters: dict[str, Any] = {}
    if filtered:
        first = SolutionFilter(2, program_of(2, lambda ids: ids[0] <= ids[1]))
        last = SolutionFilter(6, program_of(6, lambda ids: ids[1] != ids[2]))
        solution_filters = {"solution_filters": [first, None, None, None], "last": last}
    flow = flow_of(projection, **solution_filters)
    found, begin = [], 0
    for end in [*cuts, len(changes)]:
        if begin < end:
            flow.feed(arrivals(changes[begin:end], begin))
            # Not only at ticks at which something happens.
            found += listed(flow.drain(changes[end - 1][1])[0])
            begin = end
    upto = changes[-1][1] + 40
    ahead = flow.next_tick
    expected = recomputed(changes, upto, lambda row: not filtered or (row[0] <= row[1] and row[1] != row[2]), projection)
    assert found == [row for row in expected if row[0] <= changes[-1][1]]
    later = [row for row in expected if row[0] > changes[-1][1]]
    if later:
        assert ahead is not None
        assert ahead <= later[0][0]
    assert listed(flow.drain(upto)[0]) == later
    assert flow.next_tick is None


@settings(deadline=None, max_examples=150)
@given(histories(), st.sets(st.integers(0, 5)))
def test_solutions_that_differ_in_what_is_hidden_are_multiplied(
    history: tuple[list[Change], list[int]], hidden: set[int]
) -> None:
    changes, cuts = history
    shown = [x for x in range(6) if x not in hidden]
    flow = flow_of(list(range(len(shown))), hidden=hidden)
    found, begin = [], 0
    for end in [*cuts, len(changes)]:
        if begin < end:
            flow.feed(arrivals(changes[begin:end], begin))
            found += listed(flow.drain(changes[end - 1][1])[0])
            begin = end
    upto = changes[-1][1] + 40
    found += listed(flow.drain(upto)[0])
    assert found == recomputed(changes, upto, lambda row: True, shown)


def test_products_of_what_is_hidden_cost_what_their_parts_hold() -> None:
    flow = flow_of([], RowBound(3000), hidden=range(6))
    rows = [(n, 1, FOREVER, 1, (i, 0, i)) for n in (2, 3, 0, 1) for i in range(1000) if n != 2 or i == 0]
    flow.feed(arrivals(rows, 0))
    assert sum(weight for *_, weight in listed(flow.drain(1)[0])) == 1000**3


def test_weights_that_sums_might_not_hold_are_several_rows_or_refused() -> None:
    leaf = Leaf(5, [GroundPart(), GroundPart()], [(0,), (1,)], [], RowBound())

    def multiplied(weight: int) -> list[int]:
        part = (np.empty((1, 0), np.int64), *(np.array([x], np.int64) for x in (0, 1, 1, FOREVER, weight)))
        return leaf.solutions([part] * 2)[2].tolist()  # type: ignore[list-item]

    assert multiplied(1 << 16) == [1 << 32]
    assert multiplied(100_000) == [1 << 32, 1 << 32, 100_000**2 - (1 << 33)]
    with pytest.raises(ChangeLimitError, match="rows of what comes at once"):
        multiplied(1 << 32)


def test_what_kernels_cannot_tell_is_asked_of_the_definition() -> None:
    dictionary = Dictionary()
    typed, other = (
        dictionary.encode_one(f'"{text}"^^<http://www.w3.org/2001/XMLSchema#duration>') for text in ("P1D", "PT24H")
    )
    asked = []

    def test(ids: tuple[int, ...]) -> int:
        asked.append(ids)
        return truth_id(dictionary, ids[1] == typed)

    equal = [(Operation.COLUMN, 0), (Operation.COLUMN, 1), (Operation.EQUAL, 0), (Operation.TEST, 0)]
    solution_filter = SolutionFilter(2, RowProgram(dictionary, 2, equal, [], [Definition(dictionary, test, [0, 1])]))
    part = join_part(0)
    leaf = Leaf(5, [part], [(0,)], [0, 1], RowBound(), [solution_filter])
    flow = Flow([leaf], [leaf.out], [], [leaf.out], RowBound())
    pairs = [(1, 1), (1, 2), (other, typed), (typed, other), (5, 5)]
    flow.feed(arrivals([(0, 1, FOREVER, 1, (s, 0, o)) for s, o in pairs], 0))
    assert {row for _, _, row, _ in listed(flow.drain(1)[0])} == {(1, 1), (5, 5), (other, typed)}
    assert asked == [(other, typed), (typed, other)]


def test_patterns_that_nobody_has_are_left_out() -> None:
    flow = flow_of([0])
    rows = arrivals([(-3, 1, 9, 1, (0, 0, 0)), (4, 1, 9, 1, (0, 0, 0)), (90, 1, 9, 1, (0, 0, 0))], 0)
    flow.feed(rows)
    assert len(flow.drain(1)[0]) == 0


@pytest.mark.parametrize(("pattern", "triple"), [(0, (-1, 0, 0)), (3, (0, -1, 0))])
def test_ids_that_cannot_be_are_refused_and_nothing_of_their_batch_stays(pattern: int, triple: tuple[int, int, int]) -> None:
    flow = flow_of([0, 1])
    with pytest.raises(ValueError, match="ids"):
        flow.feed(arrivals([(0, 1, 9, 1, (1, 0, 1)), (pattern, 1, 9, 1, triple)], 0))
    flow.feed(arrivals([(n, 2, 9, 1, (2, 0, 2)) for n in range(4)], 0))
    assert [row for _, _, row, _ in listed(flow.drain(2)[0])] == [(2, 2)]


def test_more_combinations_than_may_be_are_not_made() -> None:
    bound = RowBound(2000)
    flow = flow_of([0, 2], bound)
    rows = [(n, 1, FOREVER, 1, (i, 0, i)) for n in (2, 3, 0, 1) for i in range(1000) if n in (0, 1) or i == 0]
    with pytest.raises(Exception, match="more than 2,000 rows"):
        flow.feed(arrivals(rows, 0))


def test_a_flow_gives_columns_in_another_order_and_runs_what_has_rows() -> None:
    class Never(PythonOperator):
        def changed(self, *inputs: Deltas) -> Deltas:
            raise AssertionError

    part = join_part(0)
    leaf = Leaf(5, [part], [(0,)], [0, 1], RowBound())
    nothing = Deltas(width=1)
    turned, never = Reordered([leaf.out], 2, [1, 0]), Never([nothing], 1)
    flow = Flow([leaf], [leaf.out, nothing], [never, turned], [turned.out, never.out], RowBound())
    flow.feed(arrivals([(0, 1, 9, 1, (3, 0, 4))], 0))
    first = flow.drain(1)
    assert listed(first[0]) == [(1, 0, (4, 3), 1)]
    assert listed(flow.drain(2)[0]) == []
    assert flow.next_tick == 9
    assert [listed(end) for end in flow.drain(9)] == [[(9, -1, (4, 3), -1)], []]
    with pytest.raises(ValueError, match="places"):
        Reordered([leaf.out], 2, [0, 2])


def test_what_time_brings_is_one_change_where_others_read_it() -> None:
    for renumber, changes in ((None, [3, 4]), (one_number_a_change, [-1, -1])):
        leaf = Leaf(5, [join_part(0)], [(0,)], [0, 1], RowBound())
        flow = Flow([leaf], [leaf.out], [], [leaf.out], RowBound(), renumber)
        flow.feed(arrivals([(0, 4, FOREVER, 1, (i, 0, i)) for i in range(2)], 3))
        assert [change for _, change, _, _ in listed(flow.drain(4)[0])] == changes
