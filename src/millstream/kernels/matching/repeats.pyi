import numpy as np
import numpy.typing as npt

def repeats(element: npt.NDArray[np.int64], triples: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]: ...
