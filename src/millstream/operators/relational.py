"""Operators on multisets of solutions: DISTINCT, joins, and left solutions by whether they have a match.

OPTIONAL, MINUS and EXISTS are made of these. Where both sides bind all that they share, a right solution matches by these
columns. Otherwise, and where a filter decides, a `Join` pairs left solutions with right ones, copying the columns that tell
which left solution a pair came from, and what is left after filters says which left solutions are matched. `Unmatched` gives
the others, `Marked` gives all of them and says which.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Generic, TypeVar

from millstream.kernels.deltas import PythonOperator
from millstream.kernels.relation import KeyMatcher, MatchCounter, RowCounter
from millstream.kernels.relation_join import JoinTable
from millstream.operators.rows import Deltas

V = TypeVar("V", bound=Hashable)


class Distinct(PythonOperator):
    """Every different solution once."""

    def __init__(self, inputs: Sequence[Deltas], width: int) -> None:
        super().__init__(inputs, width)
        self._counter = RowCounter(width)

    def changed(self, solutions: Deltas) -> Deltas:
        places, sign = self._counter.apply(solutions.columns, solutions.weight)
        return Deltas(solutions.columns[places], solutions.tick[places], solutions.change[places], sign)


class Join(PythonOperator, Generic[V]):
    """Pairs of compatible solutions: where both bind a variable, they bind it to the same term.

    `certain` are the shared variables that every solution of both sides binds. The result has the left
    variables, completed by the right solution; the right ones that are not shared; last those of `copies`, as the left
    solution has them. With `overlap` a pair counts only if both bind a variable in common
    other than those `given` to both sides, as MINUS wants it.
    """

    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        left_variables: Sequence[V],
        right_variables: Sequence[V],
        certain: Collection[V],
        copies: Sequence[V] = (),
        overlap: bool = False,
        given: Collection[V] = (),
    ) -> None:
        left, right = list(left_variables), list(right_variables)
        shared = [v for v in left if v in right]
        super().__init__(inputs, width)
        self._table = JoinTable(
            len(left),
            len(right),
            [(left.index(v), right.index(v)) for v in shared],
            [v in certain for v in shared],
            [left.index(v) for v in copies],
            overlap and all(v in given for v in shared if v in certain),
        )

    def changed(self, left: Deltas, right: Deltas) -> Deltas:
        return Deltas(
            *self._table.feed(
                left.columns,
                left.tick,
                left.change,
                left.weight,
                right.columns,
                right.tick,
                right.change,
                right.weight,
            )
        )


class _Matched(PythonOperator):
    """Left solutions and rows that match them: a solution is matched while the weights of these do not sum to zero.

    A row that matches is equal to the solution, or to its columns at the places of a key.
    """

    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        key: Sequence[int] | None = None,
        marks: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(inputs, width)
        given = inputs[0].width
        self._counter = MatchCounter(given, marks) if key is None else KeyMatcher(given, key, marks)

    def changed(self, left: Deltas, matched: Deltas) -> Deltas:
        return Deltas(
            *self._counter.feed(
                left.columns,
                left.tick,
                left.change,
                left.weight,
                matched.columns,
                matched.tick,
                matched.change,
                matched.weight,
            )
        )


class Unmatched(_Matched):
    """The left solutions that are not matched."""

    def __init__(self, inputs: Sequence[Deltas], width: int, key: Sequence[int] | None = None) -> None:
        super().__init__(inputs, width, key)


class Marked(_Matched):
    """All left solutions, with one more column: the id of false, or of true where they are matched."""
