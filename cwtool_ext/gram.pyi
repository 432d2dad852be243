# Generated from gram.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

class PairSums:
    def __init__(
        self, rows: Csr, n: int, weight: NDArray[np.float64], heavy: NDArray[np.int32]
    ) -> None: ...
    def add(self, signs: NDArray[np.int8], G: NDArray[np.float64]) -> None: ...
