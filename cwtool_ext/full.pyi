# Generated from full.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner

class Full(Learner):
    def __init__(
        self,
        table: NDArray[np.float64],
        sigma: NDArray[np.float64],
        n: int,
        rule: Rule,
        shrink: float,
        floor: float,
    ) -> None: ...

class FullSop(Learner):
    def __init__(self, table: NDArray[np.float64], sigma: NDArray[np.float64], n: int) -> None: ...
