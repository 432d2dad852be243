# Generated from path_weights.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def add_scores(
    rows: Csr,
    shared: NDArray[np.float64],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    g0: float,
    by_norm: bool,
    score: NDArray[np.float64],
) -> None: ...
def add_weights(
    slots: NDArray[np.int32],
    shared: NDArray[np.float64],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    g0: float,
    by_norm: bool,
    out: NDArray[np.float64],
) -> None: ...
