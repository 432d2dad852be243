# Generated from csr.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

class Csr:
    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float64],
        scale: float = 1.0,
    ) -> None: ...
    def alike(self) -> bool: ...
    def largest(self) -> float: ...
    def by_length(self, order: NDArray[np.int64]) -> None: ...
    count: int
    longest: int
    scale: float
