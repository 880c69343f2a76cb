"""ORDER BY with LIMIT and OFFSET: the rows between two ranks, kept up to date by every change.

Rows are ordered by conditions in the solution order, then by the completion in term order, then by whatever columns are
left: so which rows are in the slice depends on the rows alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.order.row_order import ASCENDING, DESCENDING, TERM
from millstream.kernels.order.top_k import ALL, TopK
from millstream.operators.ordering import Ordering
from millstream.operators.ticks import Column

Conditions = tuple[tuple[int, bool], ...]
"""The place of a column and whether its order is descending, for each condition of ORDER BY."""


def sort_rows(
    columns: npt.NDArray[np.int64],
    weight: Column,
    conditions: Conditions,
    completion: tuple[int, ...],
    dictionary: Dictionary,
) -> tuple[npt.NDArray[np.int64], Column]:
    """A multiset of rows in order: each different row once, and how often it is there."""
    n, width = columns.shape
    constant = np.zeros(n, np.int64)
    rows = Deltas(columns, constant, constant, weight)
    order = TopK([rows], width, levels(conditions, completion), Ordering(dictionary).kernel, 0, 0)
    order.run()
    return order.rows(0, ALL)


def levels(conditions: Conditions, completion: tuple[int, ...]) -> list[tuple[int, int]]:
    """What a ranking compares, one column after the other."""
    found = [(place, DESCENDING if descending else ASCENDING) for place, descending in conditions]
    return found + [(place, TERM) for place in completion]
