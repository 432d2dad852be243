# Generated from narow.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.visit import Learner

class Narow(Learner):
    def __init__(
        self, table: NDArray[np.float64], b: float, projection: int, floor: float
    ) -> None: ...
