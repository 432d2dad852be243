# Generated from l1.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def violations(
    C: float,
    g: NDArray[np.float64],
    w: NDArray[np.float64],
    some: NDArray[np.int64],
    out: NDArray[np.float64],
) -> float: ...
def descent(
    columns: Csr,
    square: NDArray[np.float64],
    active: NDArray[np.int64],
    logistic: bool,
    C: float,
    slack: float,
    w: NDArray[np.float64],
    m: NDArray[np.float64],
    weight: NDArray[np.float64] | None = None,
) -> tuple[int, float, float]: ...
