"""Ticks: times as milliseconds * 4 + phase, so that they order all changes; and the columns that flow between operators.

Phase 0 is for the expiries of a millisecond, 1 for its elements and dataset changes (told apart by their change number), 2
for what enters and leaves on grids.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millstream.kernels.flow.deltas import Arrivals as Arrivals
from millstream.kernels.flow.deltas import Deltas as Deltas
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
