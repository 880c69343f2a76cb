from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]

class JoinStats(TypedDict):
    left: int
    right: int
    bytes: int

class JoinTable:
    def __init__(
        self,
        left_width: int,
        right_width: int,
        pairs: Sequence[tuple[int, int]],
        certain: Sequence[bool],
        copies: Sequence[int] = (),
        overlap: bool = False,
    ) -> None: ...
    def feed(
        self,
        left: NDArray[np.int64],
        left_tick: Column,
        left_change: Column,
        left_weight: Column,
        right: NDArray[np.int64],
        right_tick: Column,
        right_change: Column,
        right_weight: Column,
    ) -> tuple[NDArray[np.int64], Column, Column, Column]: ...
    @property
    def stats(self) -> JoinStats: ...
