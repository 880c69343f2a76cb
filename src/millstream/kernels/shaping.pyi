from collections.abc import Sequence

from millstream.kernels.deltas import Deltas, Operator

class Union(Operator):
    def __init__(
        self, inputs: Sequence[Deltas], width: int, places: Sequence[Sequence[int]], numbered: bool = False
    ) -> None: ...

class Ask(Operator):
    def __init__(self, inputs: Sequence[Deltas], width: int, truths: tuple[int, int]) -> None: ...
