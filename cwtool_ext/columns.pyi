# Generated from columns.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

def spreads(
    n: float,
    shared: NDArray[np.float64],
    slots: NDArray[np.int32],
    known: NDArray[np.uint8],
    balanced: bool,
    met: NDArray[np.int32],
    var: NDArray[np.float64],
    nnz: NDArray[np.float64],
) -> int: ...
def median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float: ...
def damp(
    shared: NDArray[np.float64],
    slots: NDArray[np.int32],
    unit: float,
    floor: bool,
    var: NDArray[np.float64],
) -> tuple[float, float, float]: ...
def follow(
    weights: NDArray[np.float64], slots: NDArray[np.int32], factors: NDArray[np.float64]
) -> None: ...
def squares_left(shared: NDArray[np.float64], slots: NDArray[np.int32]) -> float: ...
