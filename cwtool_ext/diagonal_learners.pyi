# Generated from diagonal_learners.pyx by tools/stubs.py.

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

PLACES: Any

def learn(
    rows: Csr,
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    order: NDArray[np.int64],
    table: NDArray[np.float64],
    rules: list[Any],
    projection: int,
    floor: NDArray[np.float64],
    score: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> None: ...
