from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from millstream.kernels.conjunctions.leaf import Leaf
from millstream.kernels.flow.deltas import Arrivals, Bound, Deltas, Operator

class Reordered(Operator):
    def __init__(self, inputs: Sequence[Deltas], width: int, places: Sequence[int]) -> None: ...

class Drained(Protocol):
    def drain(self) -> Deltas: ...

class Flow:
    def __init__(
        self,
        leaves: Iterable[Leaf],
        outs: Iterable[Deltas],
        operators: Iterable[Operator],
        ends: Iterable[Deltas],
        bound: Bound,
        renumber: Callable[[Deltas], Deltas] | None = None,
        others: Iterable[tuple[Deltas, Drained]] = (),
    ) -> None: ...
    def arrange(
        self,
        leaves: Iterable[Leaf],
        outs: Iterable[Deltas],
        operators: Iterable[Operator],
        ends: Iterable[Deltas],
        bound: Bound,
        renumber: Callable[[Deltas], Deltas] | None = None,
        others: Iterable[tuple[Deltas, Drained]] = (),
    ) -> None: ...
    measures: bool

    def feed(self, rows: Arrivals) -> None: ...
    def look_ahead(self) -> None: ...
    @property
    def next_tick(self) -> int | None: ...
    def clear(self) -> None: ...
    def give_back(self) -> None: ...
    def drain(self, upto: int) -> tuple[Deltas, ...]: ...
