from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from millstream.kernels.deltas import Arrivals, Deltas
from millstream.kernels.elements import Elements
from millstream.kernels.patterns import Patterns
from millstream.kernels.window import WindowOperator

Column = npt.NDArray[np.int64]
Triples = npt.NDArray[np.int64]

class Flow(Protocol):
    feed: Callable[[Arrivals], None]
    drain: Callable[[int], Sequence[Deltas]]

class ContentChanges:
    change: int
    unions: dict[int, tuple[Any, int]]
    windows: dict[str, list[Any]]
    acting: list[Any]
    def arrive(self, operators: Sequence[WindowOperator], batch: Elements, last: int) -> None: ...
    def advance(self, flow: Flow, batch: Elements, last: int) -> Sequence[Deltas]: ...
    def due(self, operators: Sequence[WindowOperator], before: int) -> None: ...
    def graph_changed(self, patterns: Patterns, source: int, triples: Triples, at_tick: int, op: int) -> None: ...
    def graph_changes(
        self, patterns: Patterns, source: int, triples: Triples, ticks: Column, op: Column, order: Column
    ) -> None: ...
    def graph_rows(
        self,
        patterns: Patterns,
        source: int,
        pattern: Column,
        triples: Triples,
        ticks: Column,
        op: Column,
        order: Column,
    ) -> None: ...
    def number(self, leaving: bool = False) -> Arrivals | None: ...
    def orders_of_changes(self) -> tuple[int, Column]: ...
