import numpy as np
from numpy.typing import NDArray

def normalize(indptr: NDArray[np.int64], values: NDArray[np.float64]) -> None: ...
def append_column(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    index: int,
    value: float,
) -> None: ...
def fold(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    bits: int,
) -> int: ...
def row_scale(n_rows: float, total: float) -> float: ...
def warm_up(
    indptr: NDArray[np.int64],
    values: NDArray[np.float64],
    limit: int,
    seen: NDArray[np.float64],
) -> int: ...
