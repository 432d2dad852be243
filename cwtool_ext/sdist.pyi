# Generated from sdist.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

def base_learner(
    t: NDArray[np.float64],
    same: NDArray[np.int64],
    opposite: NDArray[np.int64],
    g: NDArray[np.float64],
) -> None: ...
def laplacian(
    phi: NDArray[np.float64],
    same: NDArray[np.int64],
    opposite: NDArray[np.int64],
    bag: NDArray[np.int64],
    u: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def power(
    A: NDArray[np.float64],
    x: NDArray[np.float64],
    kappa: int,
    iterations: int,
    tol: float,
    work: NDArray[np.float64],
) -> float: ...
def line_search(
    f: NDArray[np.float64], g: NDArray[np.float64], logistic: bool, most: float
) -> float: ...
