from collections.abc import Sequence

from millstream.kernels.flow.deltas import Deltas, Operator

class Union(Operator):
    def __init__(
        self, inputs: Sequence[Deltas], width: int, places: Sequence[Sequence[int]], numbered: bool = False
    ) -> None: ...
