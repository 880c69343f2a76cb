"""Deltas put together: every change consolidated, rows of a change in order of columns."""

from __future__ import annotations

from millstream.kernels.flow.consolidation import consolidated, merged
from millstream.kernels.flow.deltas import Deltas

__all__ = ["consolidated", "empty", "merged"]


def empty(width: int) -> Deltas:
    """No change."""
    return Deltas(width=width)
