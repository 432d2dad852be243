# Generated from descent.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.visit import Learner

class Descent(Learner):
    rounds: int
    owed: float
    def __init__(
        self,
        table: NDArray[np.float64],
        loss: int,
        rate: float,
        power: float,
        rounds: int,
        gravity: float = 0.0,
        every: int = 1,
        theta: float = ...,
        by_rate: bool = True,
        owed: float = 0.0,
    ) -> None: ...
    def weights(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
