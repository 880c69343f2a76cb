import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]
Written = tuple[NDArray[np.int64], Column, Column, Column]

def consolidate(columns: NDArray[np.int64], tick: Column, change: Column, weight: Column) -> Written | None: ...
def merge(
    left: NDArray[np.int64],
    left_tick: Column,
    left_change: Column,
    left_weight: Column,
    right: NDArray[np.int64],
    right_tick: Column,
    right_change: Column,
    right_weight: Column,
) -> Written: ...
