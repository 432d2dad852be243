import numpy as np
from numpy.typing import NDArray

def learn(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    y: NDArray[np.float64],
    order: NDArray[np.int64],
    table: NDArray[np.float64],
    b: float,
    projection: int,
    smin: float,
    scale: float,
    score: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> int: ...
def scores(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    table: NDArray[np.float64],
    b: float,
    scale: float,
    score: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> None: ...
