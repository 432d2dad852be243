# Generated from sop.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.visit import Learner

class Sop(Learner):
    def __init__(self, table: NDArray[np.float64]) -> None: ...
