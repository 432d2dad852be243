# Generated from dual.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def squared_norms(rows: Csr, out: NDArray[np.float64]) -> None: ...
def margins(
    rows: Csr, table: NDArray[np.float64], column: int, out: NDArray[np.float64]
) -> None: ...
def add_rows(
    rows: Csr, weight: NDArray[np.float64], table: NDArray[np.float64], column: int
) -> None: ...
def variances(
    rows: Csr, S: NDArray[np.float64], v: NDArray[np.float64], by_feature: bool = False
) -> None: ...
def covariance_pass(
    rows: Csr,
    y: NDArray[np.float64],
    S: NDArray[np.float64],
    v: NDArray[np.float64],
    D: NDArray[np.float64],
    U: NDArray[np.float64],
    mu: NDArray[np.float64],
    a: NDArray[np.float64],
) -> float: ...
def plain_pass(
    rows: Csr,
    y: NDArray[np.float64],
    v: NDArray[np.float64],
    D: NDArray[np.float64],
    U: NDArray[np.float64],
    mu: NDArray[np.float64],
    a: NDArray[np.float64],
) -> None: ...
