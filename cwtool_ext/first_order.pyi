# Generated from first_order.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner

class FirstOrder(Learner):
    rounds: int
    def __init__(self, table: NDArray[np.float64], rule: Rule, rounds: int) -> None: ...
