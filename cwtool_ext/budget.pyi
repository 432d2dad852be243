import numpy as np
from numpy.typing import NDArray

def learn(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    y: NDArray[np.float64],
    order: NDArray[np.int64],
    table: NDArray[np.float64],
    ranking: int,
    r: float,
    kept: NDArray[np.int32],
    count: int,
    direct: int,
    keys: NDArray[np.int32],
    ceiling: float,
    scale: float,
    score: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> int: ...
