"""Which accumulator does an aggregate."""

from __future__ import annotations

from dataclasses import dataclass

from millstream.kernels.aggregates.counts import Counts, RowCounts
from millstream.kernels.aggregates.groups import Accumulator
from millstream.kernels.aggregates.ranked import Rank, Ranked
from millstream.kernels.aggregates.sums import Sums
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.aggregates.rest import RestOfSums
from millstream.operators.aggregates.terms import Terms
from millstream.operators.expressions import Bounds
from millstream.operators.ordering import Ordering


@dataclass(frozen=True, slots=True)
class AggregateSpec:
    """An aggregate over a column that was computed below it; operand None for COUNT(*)."""

    function: str
    operand: int | None = None
    distinct: bool = False
    separator: str | None = None


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


def accumulator_of(spec: AggregateSpec, dictionary: Dictionary, solution: tuple[int, ...], bounds: Bounds) -> Accumulator:
    """What does an aggregate; `solution` are the columns that `*` stands for."""
    function, operand = spec.function, spec.operand
    if operand is None:
        if function != "COUNT":
            raise ValueError(f"{function} needs an operand")
        return Counts(distinct=solution) if spec.distinct else RowCounts()
    distinct = (operand,) if spec.distinct and function not in _ANY_REPEATS else None
    if function == "COUNT":
        return Counts(operand=operand, distinct=distinct)
    if function in ("SUM", "AVG"):
        rest = RestOfSums(dictionary, bounds)
        return Sums(dictionary, rest, function == "AVG", operand=operand, distinct=distinct)
    if function not in _WHICH:
        raise ValueError(f"there is no aggregate {function}")
    terms = Terms(dictionary, " " if spec.separator is None else spec.separator, bounds)
    by_value, order = function not in _IN_TERM_ORDER, Ordering(dictionary).kernel
    return Ranked(order, terms, _WHICH[function], by_value, operand=operand, distinct=distinct)
