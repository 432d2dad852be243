# Generated from proximal.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def ascent(
    rows: Csr,
    order: NDArray[np.int64],
    free: NDArray[np.float64],
    e: float,
    D: NDArray[np.float64],
    U: NDArray[np.float64],
    v: NDArray[np.float64],
    b: NDArray[np.float64],
) -> None: ...
