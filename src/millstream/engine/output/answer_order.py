"""The order in which a query wants its answers: visible where an answer set is given as a whole.

Rows may carry keys behind the columns of the answer; nobody outside sees them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.ranking import sort_rows
from millstream.operators.ticks import Column, Deltas

Rows = tuple[npt.NDArray[np.int64], Column]
"""Distinct rows and how often each is there."""


class AnswerOrder:
    """Puts rows in order and takes their keys off."""

    def __init__(self, width: int, conditions: tuple[tuple[int, bool], ...], dictionary: Dictionary) -> None:
        """`width` counts the columns that are seen; conditions are places of columns, each with whether it descends."""
        self.width = width
        self._conditions = conditions
        self._dictionary = dictionary

    def ordered(self, columns: npt.NDArray[np.int64], weight: Column) -> Rows:
        """The rows in order, completed by what is seen in term order."""
        if len(weight) > 1:
            completion = tuple(range(self.width))
            columns, weight = sort_rows(columns, weight, self._conditions, completion, self._dictionary)
        return columns[:, : self.width], weight


def as_change(rows: Rows, at_tick: int) -> Deltas:
    """Rows as one change."""
    columns, weight = rows
    ticks = np.full(len(weight), at_tick, np.int64)
    return Deltas(columns, ticks, ticks * 0, weight)
