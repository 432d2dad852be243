# Generated from hinge.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

FLAT: int
CURVED: int
STEEP: int

def of_rows(
    rows: Csr,
    alike: bool,
    y: NDArray[np.float64],
    cost: NDArray[np.float64],
    squared: bool,
    some: NDArray[np.int64],
    mu: NDArray[np.float64],
    before: NDArray[np.int8],
    pulled: NDArray[np.float64],
    scores: NDArray[np.float64],
    parts: NDArray[np.int8],
) -> float: ...
def shorter(
    f: NDArray[np.float64],
    g: NDArray[np.float64],
    y: NDArray[np.float64],
    cost: NDArray[np.float64],
    squared: bool,
    some: NDArray[np.int64],
    slope: float,
    bend: float,
    enough: float,
) -> float: ...
def of_scores(
    f: NDArray[np.float64],
    y: NDArray[np.float64],
    cost: NDArray[np.float64],
    squared: bool,
    pull: NDArray[np.float64],
    curved: NDArray[np.float64],
) -> float: ...
