from collections.abc import Iterable
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from millstream.kernels.term_order import TermOrder

Column = NDArray[np.int64]

ASCENDING: int
DESCENDING: int
TERM: int
ALL: int

class RankingStats(TypedDict):
    rows: int
    weight: int
    bytes: int

class Ranking:
    def __init__(
        self, width: int, levels: Iterable[tuple[int, int]], order: TermOrder, offset: int = 0, limit: int = ...
    ) -> None: ...
    def apply(
        self, columns: NDArray[np.int64], tick: Column, change: Column, weight: Column
    ) -> tuple[NDArray[np.int64], Column, Column, Column]: ...
    def rows(self, offset: int, limit: int) -> tuple[NDArray[np.int64], Column]: ...
    @property
    def stats(self) -> RankingStats: ...
