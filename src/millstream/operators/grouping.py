"""GROUP BY with its aggregates, one output row a group, kept up to date change by change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from millstream.kernels.deltas import PythonOperator
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.groups import GroupTable
from millstream.operators.aggregates.accumulators import AggregateSpec, step_of
from millstream.operators.expressions import Bounds
from millstream.operators.rows import Column, Deltas


class Holder(Protocol):
    """Who keeps computed terms: a dictionary, or what stands before it."""

    def hold(self, ids: Column, /) -> None: ...

    def release(self, ids: Column, at: int, /) -> None: ...


class Group(PythonOperator):
    """Groups rows by the columns at `keys`; gives the keys, then a column an aggregate, -1 without a value.

    After every change each group whose row is another than before takes that back and gives the new one. Without keys
    there is one group, whatever the rows: `begin`, called once before all else, gives its row over nothing.
    """

    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        keys: tuple[int, ...],
        aggregates: tuple[AggregateSpec, ...],
        dictionary: Dictionary,
        keeper: Holder,
        solution: tuple[int, ...] = (),
        bounds: Bounds | None = None,
    ) -> None:
        super().__init__(inputs, width)
        given = inputs[0].width
        for place in (*keys, *solution, *(s.operand for s in aggregates if s.operand is not None)):
            if not 0 <= place < given:
                raise ValueError(f"there is no column {place} among {given}")
        self._has_keys = bool(keys)
        self._keeper = keeper
        self._table = GroupTable(given, keys, len(aggregates))
        self._steps = [
            (place, *step_of(spec, dictionary, solution, bounds or Bounds())) for place, spec in enumerate(aggregates)
        ]

    def begin(self, at_tick: int, change: int) -> None:
        """The row of the one group there is without keys."""
        if not self._has_keys:
            self._table.enter_nothing(at_tick, change)
            self.give(self._emit(at_tick))

    def changed(self, rows: Deltas) -> Deltas:
        """What changes of the groups' rows by changes of the rows grouped."""
        self._table.enter(rows.columns, rows.tick, rows.change, rows.weight)
        return self._emit(int(rows.tick[-1]))

    def close(self, at_tick: int) -> None:
        """Lets go of the terms in the rows shown."""
        self._keeper.release(self._table.shown(), at_tick)

    def _emit(self, at_tick: int) -> Deltas:
        table = self._table
        for place, accumulate, operand, distinct in self._steps:
            accumulate(table, place, operand, distinct)
        columns, tick, change, weight, appeared, went = table.emit()
        if appeared is not None:
            self._keeper.hold(appeared)
        if went is not None:
            self._keeper.release(went, at_tick)
        return Deltas(columns, tick, change, weight)

    @property
    def stats(self) -> dict[str, int]:
        return dict(self._table.stats)
