# Generated from budget.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.visit import Learner

class Budget(Learner):
    def __init__(
        self,
        table: NDArray[np.float64],
        ranking: int,
        r: float,
        floor: float,
        kept: NDArray[np.int32],
        count: int,
        direct: int,
        keys: NDArray[np.int32],
        place: NDArray[np.int32],
    ) -> None: ...
    @property
    def count(self) -> int: ...
