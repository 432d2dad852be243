# Generated from pair_counts.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

class PairCounts:
    def __init__(self, rows: Csr, n: int) -> None: ...
    def add(self, signs: NDArray[np.int8], G: NDArray[np.float64]) -> None: ...
