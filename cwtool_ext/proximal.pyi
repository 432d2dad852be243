import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

def ascent(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    order: Longs,
    free: Floats,
    e: float,
    D: float,
    U: float,
    v: Floats,
    b: Floats,
) -> None: ...
