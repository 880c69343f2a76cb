from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.kernels.flow.deltas import Arrivals
from millstream.kernels.matching.elements import Elements
from millstream.kernels.matching.intake import Intake
from millstream.kernels.matching.patterns import Patterns
from millstream.kernels.windows.merged_content import MergedContent

Column = npt.NDArray[np.int64]
Triples = npt.NDArray[np.int64]

class ContentChanges:
    change: int
    unions: dict[int, tuple[MergedContent, int]]
    windows: dict[str, list[Any]]
    graphs: dict[str | None, list[tuple[Patterns, int]]]
    acting: list[Any]
    def take(self, batch: Elements, last: int) -> None: ...
    def pass_time(self, before: int) -> None: ...
    def take_graph(self, graph: str | None, triples: Intake, at_tick: int, op: int) -> None: ...
    def graph_changed(self, patterns: Patterns, source: int, triples: Intake, at_tick: int, op: int) -> None: ...
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
