from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from millstream.kernels.scanning.scanner import Scanned, Scanner

class MessageScanner(Scanner):
    def messages(
        self, values: list[bytes | None], scope_of: Callable[[int], str], whole: bool
    ) -> tuple[Scanned, npt.NDArray[np.int64], npt.NDArray[np.int64], list[tuple[int, int, int, str, str]]]: ...
