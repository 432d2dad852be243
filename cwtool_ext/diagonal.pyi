# Generated from diagonal.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner

class Diagonal(Learner):
    def __init__(
        self, table: NDArray[np.float64], rule: Rule, projection: int, floor: float
    ) -> None: ...
