# Generated from smooth.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.visit import Learner

class Smooth(Learner):
    shrinking: float
    def __init__(
        self,
        table: NDArray[np.float64],
        r: float,
        lam: float,
        projection: int,
        floor: float,
        every_round: bool,
        proximal: bool,
        shrinking: float,
    ) -> None: ...
    def means(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
