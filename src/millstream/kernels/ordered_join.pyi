from collections.abc import Sequence
from typing import Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from millstream.kernels.term_order import TermOrder

Column = NDArray[np.int64]
Rows = tuple[NDArray[np.int64], Column, Column, Column]

class ByValue(Protocol):
    def ranges(self, term_id: int, greater: bool, /) -> Sequence[tuple[int, int, int, int]]: ...
    def matches(self, left: int, right: int, /) -> bool: ...

class OrderedJoinStats(TypedDict):
    left: int
    right: int
    bytes: int

class OrderedJoin:
    def __init__(
        self,
        widths: tuple[int, int],
        places: tuple[int, int],
        rising: bool,
        or_equal: bool,
        order: TermOrder,
        by_value: ByValue,
    ) -> None: ...
    def apply(self, left: Rows, right: Rows) -> Rows: ...
    @property
    def stats(self) -> OrderedJoinStats: ...
