"""Deltas put together: every change consolidated, rows of a change in order of columns."""

from __future__ import annotations

from millstream.kernels.consolidation import consolidate, merge
from millstream.operators.rows import Deltas


def empty(width: int) -> Deltas:
    """No change."""
    return Deltas(width=width)


def consolidated(deltas: Deltas) -> Deltas:
    """Equal rows of a change summed, zeros dropped; rows come in order of (tick, change)."""
    written = consolidate(deltas.columns, deltas.tick, deltas.change, deltas.weight)
    return deltas if written is None else Deltas(*written)


def merged(left: Deltas, right: Deltas) -> Deltas:
    """The sum of two, both consolidated: rows with equal tick and change become one change."""
    if not len(right):
        return left
    if not len(left):
        return right
    return Deltas(
        *merge(
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
