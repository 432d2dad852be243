# Generated from stability.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

def tally(
    slots: NDArray[np.int32],
    paths: NDArray[np.uint8],
    kept: NDArray[np.uint8],
    shared: NDArray[np.float64],
) -> None: ...
def judge(
    slots: NDArray[np.int32],
    paths: NDArray[np.uint8],
    values: NDArray[np.float64],
    shared: NDArray[np.float64],
    pi0: float,
    least: float,
    left: NDArray[np.int32],
) -> tuple[int, int]: ...
def clear(slots: NDArray[np.int32], weights: NDArray[np.float64]) -> None: ...
def within(values: NDArray[np.float64], low: float, high: float) -> tuple[int, int]: ...
