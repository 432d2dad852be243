# Generated from dual_descent.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

class DualDescent:
    visits: float
    dual: float
    gap: float
    def __init__(
        self,
        rows: Csr,
        y: NDArray[np.float64],
        squares: NDArray[np.float64],
        D: NDArray[np.float64],
        U: NDArray[np.float64],
        weights: NDArray[np.float64],
        seeds: NDArray[np.uint64],
    ) -> None: ...
    def run(self, share: float, visits: float) -> bool: ...
