from collections.abc import Sequence

from millstream.kernels.deltas import Deltas, Operator
from millstream.kernels.keeping import Keeper

class Accumulator:
    operand: int

class GroupTable(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        keys: Sequence[int],
        accumulators: Sequence[Accumulator],
        keeper: Keeper,
    ) -> None: ...
    @property
    def stats(self) -> dict[str, int]: ...
