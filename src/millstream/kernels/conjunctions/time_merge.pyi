from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]

NO_CHANGE: int

class MergeStats(TypedDict):
    pending: int
    bytes: int

class TimeMerge:
    def __init__(self, width: int) -> None: ...
    def push(
        self,
        columns: NDArray[np.int64],
        change: Column,
        now: Column,
        start: Column,
        until: Column,
        weight: Column,
    ) -> None: ...
    def drain(self, upto: int) -> tuple[NDArray[np.int64], Column, Column, Column]: ...
    def dump(self) -> tuple[NDArray[np.int64], Column, Column]: ...
    def load(self, columns: NDArray[np.int64], tick: Column, weight: Column) -> None: ...
    @property
    def next_tick(self) -> int | None: ...
    @property
    def stats(self) -> MergeStats: ...
