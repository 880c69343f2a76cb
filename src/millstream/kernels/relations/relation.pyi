from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from millstream.kernels.flow.deltas import Deltas, Operator

Column = NDArray[np.int64]

class RelationStats(TypedDict):
    rows: int
    bytes: int

class MatcherStats(RelationStats):
    keys: int

def row_hashes(rows: NDArray[np.int64]) -> NDArray[np.uint32]: ...

class RowCounter:
    def __init__(self, width: int) -> None: ...
    def apply(self, columns: NDArray[np.int64], weight: Column) -> tuple[Column, Column]: ...
    def counted(self) -> tuple[NDArray[np.int64], Column]: ...
    @property
    def stats(self) -> RelationStats: ...

class Distinct(Operator):
    @property
    def stats(self) -> RelationStats: ...

class MatchCounter(Operator):
    def __init__(self, inputs: Sequence[Deltas], width: int, *, marks: tuple[int, int] | None = None) -> None: ...
    @property
    def stats(self) -> RelationStats: ...

class KeyMatcher(Operator):
    def __init__(
        self, inputs: Sequence[Deltas], width: int, key: Sequence[int], *, marks: tuple[int, int] | None = None
    ) -> None: ...
    @property
    def stats(self) -> MatcherStats: ...
