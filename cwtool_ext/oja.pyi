import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

def bursts(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    first: Longs,
    second: Longs,
    sign: Floats,
    size: int,
    active: NDArray[np.uint8],
    step: float,
    gravity: float,
    xi: Floats,
    updated: Floats,
    kept: Floats,
    touched: Ints,
    count: Ints,
    last: Longs,
    vectors: Floats,
    moves: Floats,
) -> int: ...
