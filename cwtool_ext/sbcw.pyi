# Generated from sbcw.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def norms(
    rows: Csr,
    owner: NDArray[np.int32],
    first: NDArray[np.int64],
    Sigma: NDArray[np.float64],
    position: int,
    n: NDArray[np.float64],
) -> None: ...
def metric_pass(
    rows: Csr,
    y: NDArray[np.float64],
    order: NDArray[np.int64],
    owner: NDArray[np.int32],
    first: NDArray[np.int64],
    Sigma: NDArray[np.float64],
    n: NDArray[np.float64],
    metric: NDArray[np.float64],
    D: NDArray[np.float64],
    U: NDArray[np.float64],
    m: NDArray[np.float64],
    b: NDArray[np.float64],
) -> None: ...
def variances(
    rows: Csr,
    table: NDArray[np.float64],
    column: int,
    owner: NDArray[np.int32],
    first: NDArray[np.int64],
    Sigma: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
