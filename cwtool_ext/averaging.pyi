# Generated from averaging.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.visit import Learner

class Averaging(Learner):
    rounds: int
    def __init__(
        self,
        table: NDArray[np.float64],
        loss: int,
        lam: float,
        gamma: float,
        rho: float,
        rounds: int,
    ) -> None: ...
    def weights(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
