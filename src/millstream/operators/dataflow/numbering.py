"""How changes of one tick are told apart: the same numbers in all leaves, so that what is one change stays one."""

from __future__ import annotations

import numpy as np

from millstream.operators.deltas import consolidated
from millstream.operators.ticks import EXPIRY, GRID, Deltas

_BY_TIME = (EXPIRY, GRID)


def one_number_a_change(deltas: Deltas) -> Deltas:
    """What a leaf gave with one number for what is one change, in all leaves alike; see `number_of`."""
    by_time = np.isin(deltas.tick & 3, _BY_TIME)
    if not by_time.any():
        return deltas
    return consolidated(Deltas(deltas.columns, deltas.tick, np.where(by_time, -1, deltas.change), deltas.weight))


def number_of(at_tick: int, change: int) -> int:
    """The number of a change among those of its tick.

    Only elements and changes of graphs are told apart there: all expiries of a millisecond are one change, and all that
    enters or leaves on a grid is, though some of it may have been fed.
    """
    return -1 if at_tick & 3 in _BY_TIME else change
