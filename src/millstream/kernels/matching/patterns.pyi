from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from millstream.kernels.rows.row_program import RowProgram

Column = npt.NDArray[np.int64]
Pattern = tuple[int, tuple[int, int, int], list[tuple[int, int]]]
Test = tuple[int, int, Callable[[Column], npt.NDArray[np.bool_]], RowProgram | None]

class Patterns:
    tests: list[Test]
    def __init__(self, patterns: Iterable[Pattern], tests: Iterable[Test] = ()) -> None: ...
    @property
    def numbers(self) -> Column: ...
    def match(self, triples: npt.NDArray[np.int64]) -> tuple[Column, Column]: ...
