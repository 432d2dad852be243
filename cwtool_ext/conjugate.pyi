# Generated from conjugate.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def omega(a: NDArray[np.float64], sigma: float, t: NDArray[np.float64]) -> float: ...
def conjugate_pass(
    rows: Csr,
    y: NDArray[np.float64],
    order: NDArray[np.int64],
    owner: NDArray[np.int32],
    first: NDArray[np.int64],
    Sigma: NDArray[np.float64],
    n: NDArray[np.float64],
    sigma: float,
    D: NDArray[np.float64],
    U: NDArray[np.float64],
    exact: bool,
    square: NDArray[np.float64],
    work: NDArray[np.float64],
    m: NDArray[np.float64],
    b: NDArray[np.float64],
) -> None: ...
