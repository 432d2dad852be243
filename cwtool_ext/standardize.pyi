# Generated from standardize.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

def standardize(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    ids: NDArray[np.int32],
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> int: ...
