# Generated from oja.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def bursts(
    phi: Csr,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    sign: NDArray[np.float64],
    size: int,
    active: NDArray[np.uint8],
    step: float,
    gravity: float,
    xi: NDArray[np.float64],
    updated: NDArray[np.float64],
    kept: NDArray[np.float64],
    touched: NDArray[np.int32],
    count: NDArray[np.int32],
    last: NDArray[np.int64],
    vectors: NDArray[np.float64],
    moves: NDArray[np.float64],
) -> int: ...
