"""Deltas of which every change is consolidated, its rows in order of columns."""

from __future__ import annotations

from millstream.kernels.flow.consolidation import consolidated
from millstream.kernels.flow.deltas import Deltas

__all__ = ["consolidated", "empty"]


def empty(width: int) -> Deltas:
    """No change."""
    return Deltas(width=width)
