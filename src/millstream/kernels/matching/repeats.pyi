import numpy as np
import numpy.typing as npt

def repeats(element: npt.NDArray[np.int64], triples: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]: ...
def element_places(
    begins: npt.NDArray[np.uint8], times: npt.NDArray[np.int64], lowest: int, highest: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]] | None: ...
