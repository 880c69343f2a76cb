from collections.abc import Callable, Sequence
from enum import IntEnum

from millstream.kernels.deltas import Deltas, Operator
from millstream.kernels.keeping import Keeper

class Origin(IntEnum):
    COLUMN = 0
    CONSTANT = 1
    MADE = 2

class Template(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        rows: Sequence[Sequence[tuple[int, int]]],
        keeper: Keeper,
        make: Callable[[Deltas], Deltas] | None = None,
    ) -> None: ...
