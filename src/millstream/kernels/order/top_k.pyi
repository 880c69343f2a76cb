from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from millstream.kernels.flow.deltas import Deltas, Operator
from millstream.kernels.order.term_order import TermOrder

ALL: int

class TopKStats(TypedDict):
    rows: int
    weight: int
    bytes: int

class TopK(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        levels: Sequence[tuple[int, int]],
        order: TermOrder,
        offset: int = 0,
        limit: int = ...,
    ) -> None: ...
    def rows(self, offset: int, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    @property
    def stats(self) -> TopKStats: ...

class TopKOfEach(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        tag: int,
        levels: Sequence[tuple[int, int]],
        order: TermOrder,
        offset: int = 0,
        limit: int = ...,
    ) -> None: ...
    @property
    def stats(self) -> dict[str, int]: ...
