from collections.abc import Sequence

from millstream.kernels.flow.deltas import Deltas, Operator

class Ask(Operator):
    def __init__(self, inputs: Sequence[Deltas], width: int, truths: tuple[int, int]) -> None: ...
