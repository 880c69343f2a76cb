import numpy as np
from numpy.typing import ArrayLike, NDArray

Column = NDArray[np.int64]

class PatternIndex:
    def __init__(self, patterns: ArrayLike, same: ArrayLike | None = None) -> None: ...
    def match(self, s: Column, p: Column, o: Column) -> tuple[Column, Column, Column, Column]: ...
