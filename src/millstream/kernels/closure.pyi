from collections.abc import Sequence
from typing import TypedDict

from millstream.kernels.deltas import Deltas, Operator
from millstream.kernels.keeping import Keeper

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
        keeper: Keeper | None = None,
    ) -> None: ...
    @property
    def stats(self) -> ClosureStats: ...
