# Generated from rff_scores.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

def scores(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    samples: NDArray[np.int32],
    chains: NDArray[np.int32],
    z: NDArray[np.int32],
    omega: NDArray[np.float64],
    phase: NDArray[np.float64],
    beta: NDArray[np.float64],
    intercept: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def waves(
    x: NDArray[np.float64],
    chains: NDArray[np.int32],
    z: NDArray[np.int32],
    omega: NDArray[np.float64],
    phase: NDArray[np.float64],
    weight: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
