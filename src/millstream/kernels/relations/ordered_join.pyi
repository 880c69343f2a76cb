from collections.abc import Sequence
from typing import Protocol, TypedDict

from millstream.kernels.flow.deltas import Deltas, Operator
from millstream.kernels.order.term_order import TermOrder

class ByValue(Protocol):
    def matches(self, left: int, right: int) -> bool: ...
    def ranges(self, term_id: int, greater: bool) -> list[tuple[int, int, int, int]]: ...

class OrderedJoinStats(TypedDict):
    left: int
    right: int
    bytes: int

class OrderedJoin(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        places: tuple[int, int],
        rising: bool,
        or_equal: bool,
        order: TermOrder,
        by_value: ByValue,
    ) -> None: ...
    @property
    def stats(self) -> OrderedJoinStats: ...
