from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]

TUPLE: int

class TupleStats(TypedDict):
    tuples: int
    bytes: int

class TupleTable:
    def __init__(self, width: int) -> None: ...
    def intern(self, columns: NDArray[np.int64], now: Column, until: Column, op: Column) -> Column: ...
    @property
    def stats(self) -> TupleStats: ...
