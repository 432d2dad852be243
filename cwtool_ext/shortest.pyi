# Generated from shortest.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

def lines(
    whole: NDArray[np.int64],
    values: NDArray[np.float64],
    start: bytes,
    then: bytes,
    between: bytes,
    end: bytes,
) -> str: ...
