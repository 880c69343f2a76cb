from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from millstream.kernels.engine.processing import Entrance

Column = npt.NDArray[np.int64]
Item = tuple[str | bytes, str, int | None, int, int]

class ChangeItems:
    size: int
    timed: bool

    def __init__(self, entrance: Entrance, place_of: Callable[[str | None], int]) -> None: ...
    def gather(self, changes: Iterator[tuple[str, object, int | None, str | None]]) -> Item | tuple[()] | None: ...
    def taken(self) -> tuple[npt.NDArray[np.uint8], Column, Column, Column, Column, Column]: ...
