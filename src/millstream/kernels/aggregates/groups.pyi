from collections.abc import Sequence

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.flow.deltas import Deltas, Operator

class Accumulator:
    operand: int

class GroupTable(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        keys: Sequence[int],
        accumulators: Sequence[Accumulator],
        references: TermReferences,
    ) -> None: ...
    @property
    def stats(self) -> dict[str, int]: ...
