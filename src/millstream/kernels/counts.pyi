from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from millstream.kernels.groups import GroupTable

Column = NDArray[np.int64]

class RowCounts:
    def accumulate(self, table: GroupTable, place: int, columns: Column, operand: int, weight: Column, /) -> None: ...

class Counts:
    def accumulate(self, table: GroupTable, place: int, columns: Column, operand: int, weight: Column, /) -> None: ...

class Distinct:
    def __init__(self, places: Sequence[int]) -> None: ...
    def weights(self, table: GroupTable, columns: Column, weight: Column) -> Column: ...
