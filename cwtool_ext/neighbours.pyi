# Generated from neighbours.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def nearest_dense(
    x: NDArray[np.float64],
    z: NDArray[np.float64],
    cross: NDArray[np.float32],
    unit: NDArray[np.float64],
    x_square: NDArray[np.float64],
    z_square: NDArray[np.float64],
    c: float,
    tiny: float,
    kind: NDArray[np.int32],
    own: NDArray[np.int64],
    bound: NDArray[np.float64],
    index: NDArray[np.int64],
    distance: NDArray[np.float64],
) -> None: ...
def nearest_sparse(
    x: Csr,
    z: Csr,
    cross: NDArray[np.float32],
    unit: NDArray[np.float64],
    x_square: NDArray[np.float64],
    z_square: NDArray[np.float64],
    c: float,
    tiny: float,
    kind: NDArray[np.int32],
    own: NDArray[np.int64],
    bound: NDArray[np.float64],
    index: NDArray[np.int64],
    distance: NDArray[np.float64],
) -> None: ...
