from typing import Protocol

import numpy as np
import numpy.typing as npt

from millstream.kernels.matching.intake import Intake

Column = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int64]

class _Columns(Protocol):
    triples: Ids
    element: Column
    sizes: Column | None
    def times(self, places: Column | None = None) -> Column: ...

class Elements:
    stream: str
    triples_before: int
    first_element: int
    prolongs: bool
    def __init__(
        self,
        stream: str,
        at_ms: Column,
        triples: Ids,
        element: Column,
        number: Column,
        total_triples: Column,
        triples_before: int = 0,
        first_element: int = 1,
        order: Column | None = None,
        pattern: Column | None = None,
        *,
        prolongs: bool = True,
    ) -> None: ...
    @staticmethod
    def of(
        stream: str,
        times: list[int],
        intakes: list[Intake],
        triples_before: int,
        first_element: int,
        prolongs: bool = True,
    ) -> Elements: ...
    @staticmethod
    def part(
        stream: str,
        columns: _Columns,
        first: int,
        last: int,
        triples_before: int,
        first_element: int,
        sparse: bool = False,
    ) -> Elements: ...
    def __len__(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def times(self) -> Column: ...
    @property
    def first_ms(self) -> int: ...
    @property
    def last_ms(self) -> int: ...
    @property
    def first_tick(self) -> int: ...
    @property
    def last_tick(self) -> int: ...
    @property
    def last_total(self) -> int: ...
    @property
    def total_triples(self) -> Column: ...
    @property
    def places(self) -> Column: ...
    @property
    def triples(self) -> Ids: ...
    def slice(self, first: int, last: int) -> Elements: ...
