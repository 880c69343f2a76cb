import numpy as np
import numpy.typing as npt

from millstream.kernels.scanning.message_scanner import MessageScanner

class PatchScanner(MessageScanner):
    @property
    def signs(self) -> npt.NDArray[np.int64]: ...
