# Generated from packed.pyx by tools/stubs.py.

from typing import Any

import numpy as np
from numpy.typing import NDArray

PADDING: Any
SPARE: Any

def room(n_rows: int, nnz: int) -> int: ...
def encode(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    labels: NDArray[np.float64],
    lines: NDArray[np.int32],
    out: NDArray[np.uint8],
    weights: NDArray[np.float64] | None = None,
) -> int: ...
def decode(
    data: bytes | bytearray | memoryview | NDArray[np.uint8],
    start: int,
    stop: int,
    n_rows: int,
    nnz: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    labels: NDArray[np.float64],
    lines: NDArray[np.int32],
    last: int,
    weights: NDArray[np.float64] | None = None,
) -> int: ...
