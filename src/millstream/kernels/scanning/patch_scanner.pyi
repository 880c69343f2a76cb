import numpy as np
import numpy.typing as npt

from millstream.kernels.scanning.scanner import Scanner

class PatchScanner(Scanner):
    @property
    def signs(self) -> npt.NDArray[np.int64]: ...
