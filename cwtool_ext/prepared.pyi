# Generated from prepared.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def meet(
    rows: Csr,
    order: NDArray[np.int64],
    weight: NDArray[np.float64],
    longest: float,
    shared: NDArray[np.float64],
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    z: NDArray[np.float64],
    sums: NDArray[np.float64],
    known: NDArray[np.uint8],
) -> tuple[int, int]: ...
def find(
    slots: NDArray[np.int32],
    shared: NDArray[np.float64],
    places: NDArray[np.int32],
    own: NDArray[np.int32],
) -> int: ...
def compact(
    rows: Csr,
    places: NDArray[np.int32],
    divisors: NDArray[np.float64],
    starts: NDArray[np.int64],
    numbers: NDArray[np.int32],
    z: NDArray[np.float64],
) -> tuple[int, int]: ...
