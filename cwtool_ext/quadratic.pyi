# Generated from quadratic.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def add_gram(
    rows: Csr, some: NDArray[np.int64], weight: NDArray[np.float64], G: NDArray[np.float64]
) -> None: ...
def descent(
    H: NDArray[np.float64],
    price: float,
    goal: float,
    sweeps: int,
    g: NDArray[np.float64],
    w: NDArray[np.float64],
) -> int: ...
def solve(H: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> int: ...
