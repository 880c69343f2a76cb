from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

Column = NDArray[np.int64]

FOREVER: int
SAME: int
DIFFERENT: int
BEFORE: int
AT: int
AFTER: int

class JoinStats(TypedDict):
    entries: list[int]
    edges: int
    waiting: int
    rows: int
    nodes: int
    notes: int
    bytes: int
    output_bytes: int

class IntervalJoin:
    def __init__(
        self,
        patterns: ArrayLike,
        lanes: ArrayLike,
        variables: int,
        *,
        lazy: bool = True,
        adaptive: bool = True,
        relations: ArrayLike | None = None,
        filters: ArrayLike | None = None,
        orders: ArrayLike | None = None,
        visible: Sequence[int] | None = None,
        most: int = ...,
    ) -> None: ...
    def feed(
        self,
        view: Column,
        a: Column,
        b: Column,
        now: Column,
        until: Column,
        op: Column,
        change: Column,
    ) -> int: ...
    def take(self) -> tuple[NDArray[np.int64], Column, Column, Column, Column]: ...
    def expire(self, now: int) -> None: ...
    def dump(self, now: int) -> tuple[Column, Column, Column, Column]: ...
    def load(self, view: Column, a: Column, b: Column, until: Column) -> None: ...
    @property
    def stats(self) -> JoinStats: ...
