from collections.abc import Sequence

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.flow.deltas import Deltas, Operator
from millstream.kernels.rows.row_program import RowProgram

class RowWise(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        program: RowProgram,
        references: TermReferences,
        *,
        drops: bool = False,
        kept: Sequence[int] = (),
        constants: Sequence[int] = (),
    ) -> None: ...
