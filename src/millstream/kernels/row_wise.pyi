from collections.abc import Callable, Sequence

from millstream.kernels.deltas import Deltas, Operator
from millstream.kernels.keeping import Keeper
from millstream.kernels.row_program import RowProgram

class RowWise(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        program: RowProgram | None,
        rest: Callable[[Deltas], Deltas],
        keeper: Keeper,
        *,
        drops: bool = False,
        kept: Sequence[int] = (),
        constants: Sequence[int] = (),
    ) -> None: ...
