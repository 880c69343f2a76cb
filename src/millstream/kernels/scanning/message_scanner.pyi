from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from millstream.kernels.scanning.scanner import Scanned, Scanner

class MessageTexts(Sequence[bytes | None]):
    def __init__(self, data: Any, offsets: npt.NDArray[np.int64], valid: npt.NDArray[np.uint8]) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, place: int) -> bytes | None: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[bytes | None]: ...

class MessageScanner(Scanner):
    def messages(
        self, values: Sequence[bytes | None], scope_of: Callable[[int], str], whole: bool
    ) -> tuple[Scanned, npt.NDArray[np.int64], list[tuple[int, int, int, str, str]]]: ...
