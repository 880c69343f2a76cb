from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

Column: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = tuple[NDArray[np.int64], Column, Column, Column]

class ClosureStats(TypedDict):
    nodes: int
    edges: int
    pairs: int
    bytes: int

class PathClosure:
    def __init__(
        self,
        tags: int,
        *,
        source: int | None = None,
        target: int | None = None,
        zero_length: bool = False,
        demanded: bool = False,
        reversed: bool = False,
    ) -> None: ...
    def begin(self, tick: int, change: int) -> Rows: ...
    def feed(self, edges: Rows, nodes: Rows | None = None, asked: Rows | None = None) -> Rows: ...
    @property
    def stats(self) -> ClosureStats: ...
