"""Which accumulator does an aggregate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from millstream.kernels.counts import Counts, RowCounts
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.distinct import Distinct
from millstream.kernels.groups import GroupTable
from millstream.kernels.ranked import Rank, Ranked
from millstream.kernels.sums import Sums
from millstream.operators.aggregates.rest import RestOfSums
from millstream.operators.aggregates.terms import Terms, value_key
from millstream.operators.expressions import Bounds
from millstream.operators.ordering import term_key


@dataclass(frozen=True, slots=True)
class AggregateSpec:
    """An aggregate over a column that was computed below it; operand None for COUNT(*)."""

    function: str
    operand: int | None = None
    distinct: bool = False
    separator: str | None = None


class Accumulator(Protocol):
    """Takes the rows that a table of groups has entered, and writes the result at each of its events."""

    def accumulate(self, table: GroupTable, place: int, operand: int, distinct: Distinct | None, /) -> None: ...


Step: TypeAlias = tuple[Callable[[GroupTable, int, int, Distinct | None], None], int, Distinct | None]
"""An accumulator, its operand, and what makes that distinct."""

_WHICH = {
    "MIN": Rank.FIRST,
    "MAX": Rank.LAST,
    "SAMPLE": Rank.FIRST,
    "MEDIAN": Rank.MIDDLE,
    "GROUP_CONCAT": Rank.ALL,
}
_IN_TERM_ORDER = frozenset({"SAMPLE", "GROUP_CONCAT"})
_ANY_REPEATS = frozenset({"MIN", "MAX", "SAMPLE"})
"""Aggregates for which DISTINCT makes no difference."""


def step_of(spec: AggregateSpec, dictionary: Dictionary, solution: tuple[int, ...], bounds: Bounds) -> Step:
    """What does an aggregate for a batch; `solution` are the columns that `*` stands for."""
    accumulate = _accumulator(spec, dictionary, bounds).accumulate
    if spec.operand is None:
        return accumulate, -1, Distinct(solution) if spec.distinct else None
    distinct = spec.distinct and spec.function not in _ANY_REPEATS
    return accumulate, spec.operand, Distinct((spec.operand,)) if distinct else None


def _accumulator(spec: AggregateSpec, dictionary: Dictionary, bounds: Bounds) -> Accumulator:
    function = spec.function
    if function == "COUNT":
        return RowCounts() if spec.operand is None and not spec.distinct else Counts()
    if spec.operand is None:
        raise ValueError(f"{function} needs an operand")
    if function in ("SUM", "AVG"):
        return Sums(dictionary, RestOfSums(dictionary, bounds), function == "AVG")
    if function not in _WHICH:
        raise ValueError(f"there is no aggregate {function}")
    by_value = function not in _IN_TERM_ORDER
    separator = " " if spec.separator is None else spec.separator
    terms = Terms(dictionary, value_key if by_value else term_key, separator, bounds)
    return Ranked(dictionary, terms, _WHICH[function], by_value)
