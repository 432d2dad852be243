# Generated from hinge.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def of_rows(
    rows: Csr,
    y: NDArray[np.float64],
    cost: NDArray[np.float64],
    squared: bool,
    mu: NDArray[np.float64],
    pulled: NDArray[np.float64],
    curved: NDArray[np.float64],
) -> float: ...
def bent_along(
    rows: Csr,
    cost: NDArray[np.float64],
    curved: NDArray[np.float64],
    d: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def of_scores(
    f: NDArray[np.float64],
    y: NDArray[np.float64],
    cost: NDArray[np.float64],
    squared: bool,
    pull: NDArray[np.float64],
    curved: NDArray[np.float64],
) -> float: ...
