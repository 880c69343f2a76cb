from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.rows.definition import Definition, TextTest

class RowProgram:
    def __init__(
        self,
        dictionary: Dictionary,
        width: int,
        steps: Sequence[tuple[int, int]],
        outputs: Sequence[int],
        definitions: Sequence[Definition] = (),
        choices: Sequence[Sequence[int]] = (),
        tests: Sequence[TextTest] = (),
        most_bytes: int = 0,
    ) -> None: ...
    def run(self, columns: npt.NDArray[np.int64], /) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
