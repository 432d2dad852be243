# Generated from rows_and_columns.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def sums(x: Csr, v: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
def cross(rows: Csr, x: Csr, out: NDArray[np.float64]) -> None: ...
def pairs(
    x: Csr,
    some: NDArray[np.int64],
    rows: Csr,
    h: NDArray[np.float64],
    across: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None: ...
def widen(
    rows: Csr,
    also: NDArray[np.float64],
    x: Csr,
    some: NDArray[np.int64],
    position: int,
    start: NDArray[np.int64],
    place: NDArray[np.int32],
    value: NDArray[np.float64],
    also_out: NDArray[np.float64],
) -> None: ...
