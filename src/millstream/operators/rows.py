"""The columns that flow between operators. Times are ticks: milliseconds * 4 + phase, so that they order all changes.

Phase 0 is for the expiries of a millisecond, 1 for its elements and dataset changes (told apart by their change number), 2
for what enters and leaves on grids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from millstream.kernels.deltas import Arrivals as Arrivals
from millstream.kernels.deltas import Deltas as Deltas
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
