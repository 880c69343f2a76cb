from collections.abc import Sequence
from enum import IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from millstream.kernels.aggregates.groups import Accumulator
from millstream.kernels.order.term_order import TermOrder

Column = NDArray[np.int64]

class Rank(IntEnum):
    FIRST = 0
    LAST = 1
    MIDDLE = 2
    ALL = 3

class Terms(Protocol):
    def is_number(self, term_id: int) -> bool: ...
    def halve(self, left: int, right: int) -> int: ...
    def join(self, ids: Column, counts: Column) -> int: ...

class Ranked(Accumulator):
    def __init__(
        self,
        order: TermOrder,
        terms: Terms,
        which: int,
        by_value: bool,
        *,
        operand: int,
        distinct: Sequence[int] | None = None,
    ) -> None: ...
