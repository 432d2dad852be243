# Generated from gram.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

class Heavy:
    def __init__(self, columns: NDArray[np.int32], n: int) -> None: ...

def add(
    rows: Csr,
    weight: NDArray[np.float64],
    G: NDArray[np.float64],
    counts: NDArray[np.int8] | None = None,
    both: NDArray[np.float64] | None = None,
    heavy: NDArray[np.int32] | None = None,
) -> None: ...
