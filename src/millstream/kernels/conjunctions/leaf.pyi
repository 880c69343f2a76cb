from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from millstream.kernels.conjunctions.parts import Column, Found, Part
from millstream.kernels.conjunctions.solution_filter import SolutionFilter
from millstream.kernels.conjunctions.time_merge import TimeMerge
from millstream.kernels.flow.deltas import Bound, Deltas

class Leaf:
    first: int
    patterns: int
    merge: TimeMerge
    out: Deltas
    def __init__(
        self,
        first: int,
        parts: Sequence[Part],
        members: Sequence[Sequence[int]],
        projection: Sequence[int],
        bound: Bound,
        solution_filters: Sequence[SolutionFilter | None] = (),
        last: SolutionFilter | None = None,
    ) -> None: ...
    def push(self, found: Found) -> None: ...
    def arrivals(self, pattern: int, alike: int) -> int: ...
    def forget_solutions(self) -> None: ...
    def drain(self, upto: int) -> Deltas: ...
    def solutions(self, found: Sequence[Found], *, keep: bool = False) -> tuple[npt.NDArray[np.int64], Column, Column]: ...
