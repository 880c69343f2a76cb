"""The columns that flow between operators. Times are ticks: milliseconds * 4 + phase, so that they order all changes.

Phase 0 is for the expiries of a millisecond, 1 for its elements and dataset changes (told apart by their change number), 2
for what enters and leaves on grids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from millstream.rdf.times import MAX_MS

Column = npt.NDArray[np.int64]

EXPIRY, ELEMENT, GRID = 0, 1, 2
FOREVER = 1 << 62
MOST_MS = MAX_MS
"""Times beyond this cannot be told in ticks."""


def tick(at_ms: int, phase: int) -> int:
    return at_ms * 4 + phase


def time_of(at_tick: int) -> int:
    """The millisecond of a tick."""
    return at_tick >> 2


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Changes of patterns' contents, in order: triple `i` enters (op 1) or leaves (-1) pattern `pattern[i]` at `now[i]`."""

    pattern: Column
    triples: npt.NDArray[np.int64]
    """Three columns: subject, predicate, object."""
    now: Column
    until: Column
    op: Column
    change: Column

    def __len__(self) -> int:
        return len(self.pattern)

    def pick(self, which: npt.NDArray[np.bool_] | Column) -> Arrivals:
        return Arrivals(
            self.pattern[which],
            self.triples[which],
            self.now[which],
            self.until[which],
            self.op[which],
            self.change[which],
        )


# Not to be changed, but not frozen either: several are made for every element, and freezing triples what that costs.


@dataclass(slots=True)
class Intervals:
    """Solutions with the interval in which they hold, in order of change; weight -1 takes one back for that interval."""

    columns: npt.NDArray[np.int64]
    change: Column
    now: Column
    start: Column
    until: Column
    weight: Column

    def __len__(self) -> int:
        return len(self.change)

    def pick(self, which: npt.NDArray[np.bool_] | Column) -> Intervals:
        return Intervals(
            self.columns[which],
            self.change[which],
            self.now[which],
            self.start[which],
            self.until[which],
            self.weight[which],
        )

    @staticmethod
    def concatenated(parts: Sequence[Intervals]) -> Intervals:
        """Several, one after the other."""
        return Intervals(*(np.concatenate([getattr(part, name) for part in parts]) for name in Intervals.__slots__))


@dataclass(slots=True)
class Deltas:
    """Solutions that appear (weight > 0) and disappear, in time order, each change consolidated; change -1: time did it."""

    columns: npt.NDArray[np.int64]
    tick: Column
    change: Column
    weight: Column

    def __len__(self) -> int:
        return len(self.tick)

    def pick(self, which: npt.NDArray[np.bool_] | npt.NDArray[np.intp] | slice) -> Deltas:
        return Deltas(self.columns[which], self.tick[which], self.change[which], self.weight[which])
