from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from millstream.kernels.rows.row_program import RowProgram

Column = npt.NDArray[np.int64]
Pattern = tuple[int, tuple[int, int, int], list[tuple[int, int]]]
Test = tuple[int, int, RowProgram]

class Patterns:
    tests: list[Test]
    def __init__(self, patterns: Iterable[Pattern], tests: Iterable[Test] = ()) -> None: ...
    @property
    def numbers(self) -> Column: ...
    def match(self, triples: npt.NDArray[np.int64]) -> tuple[Column, Column]: ...
