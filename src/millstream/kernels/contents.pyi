from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.kernels.deltas import Arrivals
from millstream.kernels.elements import Elements
from millstream.kernels.patterns import Patterns
from millstream.kernels.window import WindowOperator

Column = npt.NDArray[np.int64]
Triples = npt.NDArray[np.int64]

class ContentChanges:
    change: int
    unions: dict[int, tuple[Any, int]]
    def arrive(self, operators: Sequence[WindowOperator], batch: Elements, last: int) -> None: ...
    def due(self, operators: Sequence[WindowOperator], before: int) -> None: ...
    def graph_changed(self, patterns: Patterns, source: int, triples: Triples, at_tick: int, op: int) -> None: ...
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
    def number(self, *, leaving: bool = False) -> Arrivals | None: ...
    def orders_of_changes(self) -> tuple[int, Column]: ...
