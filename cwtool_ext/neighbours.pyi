import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

def nearest(
    cross: Floats,
    x_square: Floats,
    z_square: Floats,
    c: float,
    kind: NDArray[np.int8],
    own: Longs,
    x: Floats,
    z: Floats,
    x_indptr: Longs,
    x_indices: Ints,
    x_values: Floats,
    z_indptr: Longs,
    z_indices: Ints,
    z_values: Floats,
    index: Longs,
    distance: Floats,
) -> None: ...
