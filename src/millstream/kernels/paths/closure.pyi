from collections.abc import Sequence
from typing import TypedDict

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.flow.deltas import Deltas, Operator

class ClosureStats(TypedDict):
    nodes: int
    edges: int
    pairs: int
    bytes: int

class PathClosure(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        *,
        source: int | None = None,
        target: int | None = None,
        zero_length: bool = False,
        demanded: bool = False,
        reversed: bool = False,
        references: TermReferences | None = None,
    ) -> None: ...
    @property
    def stats(self) -> ClosureStats: ...
