import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

def descent(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    square: Floats,
    active: Longs,
    logistic: bool,
    C: float,
    slack: float,
    w: Floats,
    m: Floats,
) -> tuple[int, float, float]: ...
