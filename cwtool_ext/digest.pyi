# Generated from digest.pyx by tools/stubs.py.

from typing import Any

import numpy as np
from numpy.typing import NDArray

CELL: int

def cells(
    data: bytes | bytearray | memoryview | NDArray[np.uint8],
    start: int,
    stop: int,
    out: NDArray[np.uint64],
) -> Any: ...
