from collections.abc import Sequence
from typing import TypedDict

from millstream.kernels.flow.deltas import Deltas, Operator

class JoinStats(TypedDict):
    left: int
    right: int
    bytes: int

class JoinTable(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        pairs: Sequence[tuple[int, int]],
        certain: Sequence[bool],
        copies: Sequence[int] = (),
        overlap: bool = False,
        distinct: tuple[bool, bool] = (False, False),
    ) -> None: ...
    @property
    def stats(self) -> JoinStats: ...
