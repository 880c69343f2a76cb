from collections.abc import Callable, Sequence
from enum import IntEnum

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.flow.deltas import Deltas, Operator

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
        references: TermReferences,
        make: Callable[[Deltas], Deltas] | None = None,
    ) -> None: ...
