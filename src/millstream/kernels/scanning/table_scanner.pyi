from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

from millstream.kernels.scanning.scanner import Scanned, Scanner

class TableScanner(Scanner):
    def cells(
        self, columns: Sequence[tuple[npt.NDArray[np.int32] | npt.NDArray[np.int64], Buffer]], rows: int
    ) -> Scanned | None: ...
