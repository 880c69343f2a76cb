from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]

class RelationStats(TypedDict):
    rows: int
    bytes: int

class MatcherStats(RelationStats):
    keys: int

class RowCounter:
    def __init__(self, width: int) -> None: ...
    def apply(self, columns: NDArray[np.int64], weight: Column) -> tuple[Column, Column]: ...
    def counted(self) -> tuple[NDArray[np.int64], Column]: ...
    @property
    def stats(self) -> RelationStats: ...

class MatchCounter:
    def __init__(self, width: int, marks: tuple[int, int] | None = None) -> None: ...
    def feed(
        self,
        left: NDArray[np.int64],
        left_tick: Column,
        left_change: Column,
        left_weight: Column,
        matched: NDArray[np.int64],
        matched_tick: Column,
        matched_change: Column,
        matched_weight: Column,
    ) -> tuple[NDArray[np.int64], Column, Column, Column]: ...
    @property
    def stats(self) -> RelationStats: ...

class KeyMatcher:
    def __init__(self, width: int, key: Sequence[int], marks: tuple[int, int] | None = None) -> None: ...
    def feed(
        self,
        left: NDArray[np.int64],
        left_tick: Column,
        left_change: Column,
        left_weight: Column,
        matched: NDArray[np.int64],
        matched_tick: Column,
        matched_change: Column,
        matched_weight: Column,
    ) -> tuple[NDArray[np.int64], Column, Column, Column]: ...
    @property
    def stats(self) -> MatcherStats: ...
