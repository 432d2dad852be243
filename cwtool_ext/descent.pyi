import numpy as np
from numpy.typing import NDArray

class Descent:
    """The loss, the learning rate and the gravity."""

    def __init__(
        self,
        loss: int,
        eta0: float,
        power: float = 0.0,
        gravity: float = 0.0,
        every: int = 1,
        theta: float = ...,
        by_rate: bool = True,
    ) -> None: ...

def learn(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    y: NDArray[np.float64],
    order: NDArray[np.int64],
    table: NDArray[np.float64],
    how: Descent,
    rounds: int,
    owed: float,
    scale: float,
    score: NDArray[np.float64],
) -> float: ...
def scores(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    table: NDArray[np.float64],
    how: Descent,
    owed: float,
    scale: float,
    score: NDArray[np.float64],
) -> None: ...
def weights(
    table: NDArray[np.float64], how: Descent, owed: float, out: NDArray[np.float64]
) -> None: ...
