# Generated from libsvm.pyx by tools/stubs.py.

from typing import Any

import numpy as np
from numpy.typing import NDArray

PADDING: int

def capacity(nbytes: int) -> tuple[int, int]: ...
def count_lines(
    text: bytes | bytearray | memoryview | NDArray[np.uint8], start: int, stop: int
) -> int: ...
def whole_lines(
    text: bytes | bytearray | memoryview | NDArray[np.uint8], start: int, stop: int, most: int
) -> int: ...
def parse(
    text: bytes | bytearray | memoryview | NDArray[np.uint8],
    start: int,
    stop: int,
    base: int,
    labels: NDArray[np.float64],
    weights: NDArray[np.float64],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    lines: NDArray[np.int32],
    faults: NDArray[np.int64],
    report: NDArray[np.int64],
) -> Any: ...

BAD_LABEL: int
INFINITE_LABEL: int
MISSING_COLON: int
BAD_INDEX: int
ZERO_INDEX: int
NEGATIVE_INDEX: int
LARGE_INDEX: int
DESCENDING: int
DUPLICATE: int
BAD_VALUE: int
INFINITE_VALUE: int
OVERFLOW: int
BINARY: int
BAD_WEIGHT: int
INFINITE_WEIGHT: int
NEGATIVE_WEIGHT: int
