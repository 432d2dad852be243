# Generated from dual_dense.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def densify(rows: Csr, some: NDArray[np.int64], X: NDArray[np.float64]) -> None: ...
def add_gram(X: NDArray[np.float64], G: NDArray[np.float64]) -> None: ...
def whiten(L: NDArray[np.float64], X: NDArray[np.float64], v: NDArray[np.float64]) -> None: ...
def whitened_pass(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    v: NDArray[np.float64],
    D: NDArray[np.float64],
    U: NDArray[np.float64],
    start: int,
    w: NDArray[np.float64],
    a: NDArray[np.float64],
    most: NDArray[np.float64],
) -> None: ...
def kernel_pass(
    K: NDArray[np.float64],
    y: NDArray[np.float64],
    D: NDArray[np.float64],
    U: NDArray[np.float64],
    f: NDArray[np.float64],
    a: NDArray[np.float64],
) -> float: ...
