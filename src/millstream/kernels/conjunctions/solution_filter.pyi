from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from millstream.kernels.rows.row_program import RowProgram

class SolutionFilter:
    def __init__(
        self,
        width: int,
        program: RowProgram | None,
        test: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.bool_]],
    ) -> None: ...
