import numpy as np
from numpy.typing import NDArray

def learn(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    y: NDArray[np.float64],
    order: NDArray[np.int64],
    table: NDArray[np.float64],
    r: float,
    lam: float,
    projection: int,
    smin: float,
    every_round: bool,
    proximal: bool,
    C: float,
    scale: float,
    score: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> float: ...
def scores(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    table: NDArray[np.float64],
    C: float,
    scale: float,
    score: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> None: ...
def means(table: NDArray[np.float64], C: float, out: NDArray[np.float64]) -> None: ...
