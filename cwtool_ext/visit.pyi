# Generated from visit.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

class Learner:
    features: int
    classes: int

def learn(
    rows: Csr,
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    order: NDArray[np.int64],
    learner: Learner,
    score: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> int: ...
def scores(
    rows: Csr, learner: Learner, score: NDArray[np.float64], variance: NDArray[np.float64]
) -> None: ...
