import numpy as np
from numpy.typing import NDArray

def learn(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    y: NDArray[np.float64],
    order: NDArray[np.int64],
    table: NDArray[np.float64],
    loss: int,
    lam: float,
    gamma: float,
    rho: float,
    rounds: int,
    scale: float,
    score: NDArray[np.float64],
) -> None: ...
def scores(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    table: NDArray[np.float64],
    lam: float,
    gamma: float,
    rho: float,
    rounds: int,
    scale: float,
    score: NDArray[np.float64],
) -> None: ...
def weights(
    table: NDArray[np.float64],
    lam: float,
    gamma: float,
    rho: float,
    rounds: int,
    out: NDArray[np.float64],
) -> None: ...
