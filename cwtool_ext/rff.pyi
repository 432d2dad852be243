# Generated from rff.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

def sample(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    length: NDArray[np.int32],
    z: NDArray[np.int32],
    omega: NDArray[np.float64],
    phase: NDArray[np.float64],
    beta: NDArray[np.float64],
    d: int,
    log_s: float,
    phi: NDArray[np.float64],
    to: NDArray[np.int32],
    uniforms: NDArray[np.float64],
    normals: NDArray[np.float64],
    heat: NDArray[np.float64],
    first: int,
    gamma: float,
    conc: float,
    alpha0: float,
    telling: NDArray[np.int32],
) -> tuple[int, float, float]: ...
