from collections.abc import Sequence

from millstream.kernels.aggregates.groups import Accumulator

class RowCounts(Accumulator): ...

class Counts(Accumulator):
    def __init__(self, *, operand: int = -1, distinct: Sequence[int] | None = None) -> None: ...
