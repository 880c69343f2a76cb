"""Operators on multisets of solutions: DISTINCT, joins, and left solutions by whether they have a match.

OPTIONAL, MINUS and EXISTS are made of these. Where both sides bind all that they share, a right solution matches by these
columns. Otherwise, and where a filter decides, a `Join` pairs left solutions with right ones, copying the columns that tell
which left solution a pair came from, and what is left after filters says which left solutions are matched. `Unmatched` gives
the others, `Marked` gives all of them and says which.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Generic, TypeVar

from millstream.kernels.relation import KeyMatcher, MatchCounter, RowCounter
from millstream.kernels.relation_join import JoinTable
from millstream.operators.deltas import empty
from millstream.operators.rows import Deltas

V = TypeVar("V", bound=Hashable)


class _Quiet:
    """What gives nothing without input, and holds no terms."""

    def __init__(self, width: int) -> None:
        self._nothing = empty(width)

    def begin(self, at_tick: int, change: int) -> Deltas:
        return self._nothing

    def close(self, at_tick: int) -> None:
        pass


class Distinct(_Quiet):
    """Every different solution once."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self._counter = RowCounter(width)

    def apply(self, solutions: Deltas) -> Deltas:
        if not len(solutions):
            return self._nothing
        places, sign = self._counter.apply(solutions.columns, solutions.weight)
        if len(places) == len(solutions):
            return Deltas(solutions.columns, solutions.tick, solutions.change, sign)
        if not len(places):
            return self._nothing
        return Deltas(solutions.columns[places], solutions.tick[places], solutions.change[places], sign)


class Join(_Quiet, Generic[V]):
    """Pairs of compatible solutions: where both bind a variable, they bind it to the same term.

    `certain` are the shared variables that every solution of both sides binds. `variables` are those of the result: the left
    ones, completed by the right solution; the right ones that are not shared; last the variables of `copies`, as the left
    solution has them. With `overlap` a pair counts only if both bind a variable in common
    other than those `given` to both sides, as MINUS wants it.
    """

    def __init__(
        self,
        left_variables: Sequence[V],
        right_variables: Sequence[V],
        certain: Collection[V],
        copies: Sequence[V] = (),
        overlap: bool = False,
        given: Collection[V] = (),
    ) -> None:
        left, right = list(left_variables), list(right_variables)
        shared = [v for v in left if v in right]
        self.variables: tuple[V, ...] = (*left, *(v for v in right if v not in shared), *copies)
        super().__init__(len(self.variables))
        self._table = JoinTable(
            len(left),
            len(right),
            [(left.index(v), right.index(v)) for v in shared],
            [v in certain for v in shared],
            [left.index(v) for v in copies],
            overlap and all(v in given for v in shared if v in certain),
        )

    def apply(self, left: Deltas, right: Deltas) -> Deltas:
        if not len(left.tick) and not len(right.tick):
            return self._nothing
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


class _Matched(_Quiet):
    """Left solutions and rows that match them: a solution is matched while the weights of these do not sum to zero.

    A row that matches is equal to the solution, or to its columns at the places of a key.
    """

    def __init__(self, width: int, key: Sequence[int] | None, marks: tuple[int, int] | None = None) -> None:
        super().__init__(width if marks is None else width + 1)
        self._counter = MatchCounter(width, marks) if key is None else KeyMatcher(width, key, marks)

    def apply(self, left: Deltas, matched: Deltas) -> Deltas:
        if not len(left.tick) and not len(matched.tick):
            return self._nothing
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

    def __init__(self, width: int, key: Sequence[int] | None = None) -> None:
        super().__init__(width, key)


class Marked(_Matched):
    """All left solutions, with one more column: the id of false, or of true where they are matched."""

    def __init__(self, width: int, false_id: int, true_id: int, key: Sequence[int] | None = None) -> None:
        super().__init__(width, key, (false_id, true_id))
