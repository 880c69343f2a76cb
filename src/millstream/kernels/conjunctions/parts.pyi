from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from millstream.kernels.containers.tuples import TupleTable
from millstream.kernels.flow.deltas import Arrivals
from millstream.kernels.joins.join import IntervalJoin

Column = npt.NDArray[np.int64]
Found = tuple[npt.NDArray[np.int64], Column, Column, Column, Column, Column]
Way = tuple[int, Sequence[int], TupleTable | None]

class Part:
    def feed(self, rows: Arrivals) -> int: ...
    def taken(self) -> Found: ...

class GivenPart(Part):
    def __init__(self, given: Found) -> None: ...

class JoinPart(Part):
    join: IntervalJoin
    def lay_out(
        self, join: IntervalJoin, ways: Mapping[int, Way | None], apart: Callable[[Arrivals], Found] | None = None
    ) -> None: ...
    def changes(self, rows: Arrivals) -> tuple[Column, Column, Column, Column, Column, Column, Column]: ...

class GroundPart(Part):
    until: int
