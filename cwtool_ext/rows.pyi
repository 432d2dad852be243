# Generated from rows.pyx by tools/stubs.py.

from typing import Any

import numpy as np
from numpy.typing import NDArray

def take(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    numbers: NDArray[np.int64],
    starts: NDArray[np.int64],
    out_indices: NDArray[np.int32],
    out_values: NDArray[np.float64],
) -> None: ...
def normalize(indptr: NDArray[np.int64], values: NDArray[np.float64]) -> Any: ...
def append_column(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    index: int,
    value: float,
) -> Any: ...
def fold(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], values: NDArray[np.float64], bits: int
) -> Any: ...
def row_scale(n_rows: float, total: float) -> float: ...
def warm_up(
    indptr: NDArray[np.int64],
    values: NDArray[np.float64],
    limit: int,
    seen: NDArray[np.float64],
    weight: NDArray[np.float64] | None = None,
) -> int: ...
def hashes(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    labels: NDArray[np.float64],
    out: NDArray[np.uint64],
    weights: NDArray[np.float64] | None = None,
    level: int = 0,
) -> int: ...
