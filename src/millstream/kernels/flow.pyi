from collections.abc import Iterable
from typing import Protocol

from millstream.kernels.deltas import Deltas, Operator

class Bound(Protocol):
    most: int

    def check(self, rows: int) -> None: ...

class Flow:
    def __init__(self, outs: Iterable[Deltas], operators: Iterable[Operator], bound: Bound) -> None: ...
    def clear(self) -> None: ...
    def run(self) -> None: ...
