# Generated from all_paths.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr
from cwtool_ext.paths import Walk

def walk(
    rows: Csr,
    rates: NDArray[np.float64],
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    learned: NDArray[np.uint8],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    how: Walk,
    into: int,
    intercept: NDArray[np.float64],
    places: NDArray[np.int32],
    touched_slot: NDArray[np.int32],
    touched_began: NDArray[np.float64],
    touched_counts: NDArray[np.float64],
    n_touched: int,
    pool_slot: NDArray[np.int32],
    pool_paths: NDArray[np.uint8],
    pool_value: NDArray[np.float64],
    pool_kept: NDArray[np.uint8],
    score: NDArray[np.float64],
) -> tuple[int, int, int]: ...
