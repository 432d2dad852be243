# Generated from monomials.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

def products(
    x: NDArray[np.float64],
    keys: NDArray[np.int32],
    scale: NDArray[np.float64],
    phi: NDArray[np.float64],
) -> None: ...
def transform(
    x: NDArray[np.float64],
    keys: NDArray[np.int32],
    scale: NDArray[np.float64],
    factor: NDArray[np.float64],
    z: NDArray[np.float64],
) -> None: ...
